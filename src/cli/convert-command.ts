import { describeError } from '../errors.js';
import { displayName } from '../repository/byte-path.js';
import type { ConversionPlan, RepositoryFacts } from '../repository/plan.js';
import type { Command } from './command.js';
import type { ConvertArguments } from './convert-options.js';
import { CONVERT_OPTIONS, readConvertArguments } from './convert-options.js';
import { EXIT } from './exit-status.js';
import { say, sayResult } from './output.js';
import { REPEATABLE_POLICY_OPTIONS } from './policy-options.js';
import { createProgressDisplay } from './progress-bar.js';
import { renderPlan, renderSummary } from './render.js';

/** The command without a name: converts, or prints the plan. */
export const convertCommand: Command = {
  usage: '$0 [options] <src> <dst>\n\nWrites the Mercurial repository <src> anew as <dst>, with the same history, stored differently.',
  options: CONVERT_OPTIONS,
  repeatable: REPEATABLE_POLICY_OPTIONS,
  positionals: { most: 2, message: 'only a source and a destination are expected' },
  examples: [
    ['$0 --to zstd src dst', 'convert to zstd at its default level'],
    ['$0 --to zstd --level 19 src dst', 'small'],
    ['$0 --to zlib src dst', 'back to zlib'],
    ['$0 --to zstd --redelta all src dst', 'all deltas chosen anew: smaller'],
    ['$0 --to zstd --dict auto src dst', 'with dictionaries trained on the repository: smaller, and faster to read'],
    ['$0 --to zstd --dry-run src', 'say what would be done'],
    ['$0 --to zstd --json src dst', 'the result as JSON, for scripts'],
  ],
  run: (positionals, options, signal) => runConvert(readConvertArguments(positionals, options), signal),
};

async function runConvert(args: ConvertArguments, signal: AbortSignal): Promise<number> {
  const { convertRepository, planRepository } = await import('../repository/convert.js');
  const { source, destination, json, quiet } = args;
  const onNotice = (notice: string): void => say(`revconvert: ${notice}`);
  if (args.dryRun || destination === undefined) {
    const { facts, ...plan } = await planRepository(source, { ...args.options, signal, onNotice }, destination);
    if (json) sayResult(JSON.stringify(planData(plan, facts)));
    else sayResult(renderPlan(plan, facts));
    return EXIT.done;
  }
  const display = await createProgressDisplay(!json && !quiet);
  try {
    const summary = await convertRepository(source, destination, { ...args.options, signal, onNotice, onProgress: (progress) => display.update(progress) });
    display.stop();
    if (json) sayResult(JSON.stringify(summary));
    else if (!quiet) sayResult(renderSummary(summary));
    for (const notice of json ? [] : summary.notices) say(`revconvert: note: ${notice}`);
    for (const warning of json ? [] : summary.warnings) say(`revconvert: warning: ${warning.code}: ${describeError(warning)}`);
    return summary.warnings.length > 0 ? EXIT.warnings : EXIT.done;
  } finally {
    display.stop();
  }
}

/** A plan as plain data, for JSON: sets as lists, names as text. */
function planData(plan: ConversionPlan, { files }: RepositoryFacts): unknown {
  return {
    plan: { ...plan, requirements: { ...plan.requirements, all: [...plan.requirements.all] } },
    files: files.map((file) => ({ ...file, name: displayName(file.name), targetName: displayName(file.targetName) })),
  };
}
