import type { Command, RawOptions } from './command.js';
import { flagOption, numberOption, repositoryArgument } from './command.js';
import { EXIT } from './exit-status.js';
import { say, sayResult } from './output.js';
import { createProgressDisplay } from './progress-bar.js';
import { renderFaults, renderReport } from './render-verify.js';

/** `revconvert verify`: every revision of every revlog, and what they say of each other. */
export const verifyCommand: Command = {
  usage: '$0 verify [options] <repository>\n\nRebuilds and hashes every revision, compares changesets, manifests and files, and prints each fault with its place.',
  options: {
    jobs: { type: 'string', requiresArg: true, describe: 'Threads [default: the cores]; what is found does not depend on it' },
    'no-lock': { type: 'boolean', describe: 'Do not lock the repository: only where nobody writes to it' },
    'lock-timeout': { type: 'string', requiresArg: true, describe: 'Seconds to wait for a lock [default: 600]' },
    json: { type: 'boolean', describe: 'Print the report, or the error, as JSON on standard output' },
    quiet: { type: 'boolean', describe: 'Print nothing but faults and errors' },
  },
  positionals: { most: 1, message: 'only a repository is expected' },
  examples: [
    ['$0 verify src', 'verify a repository'],
    ['$0 verify --json src', 'the report as JSON, for scripts'],
  ],
  exitStatus: '0 sound; 1 warnings alone; 2 wrong command line; 3 damaged, or not supported; 4 the system failed; 70 a bug; 130 interrupted.',
  run: (positionals, options, signal) => runVerify(positionals[0], options, signal),
};

async function runVerify(given: string | undefined, options: RawOptions, signal: AbortSignal): Promise<number> {
  const repository = repositoryArgument(given);
  const json = flagOption(options, 'json') ?? false;
  const quiet = flagOption(options, 'quiet') ?? false;
  const jobs = numberOption(options, 'jobs');
  const lockTimeout = numberOption(options, 'lock-timeout');
  const lock = flagOption(options, 'no-lock') === true ? false : undefined;
  const { verifyRepository } = await import('../repository/verify/verify.js');
  const display = await createProgressDisplay(!json && !quiet);
  try {
    const onNotice = (notice: string): void => say(`revconvert: ${notice}`);
    const report = await verifyRepository(repository, { jobs, lock, lockTimeout, signal, onNotice, onProgress: (progress) => display.update(progress) });
    display.stop();
    if (json) sayResult(JSON.stringify(report));
    else {
      for (const fault of renderFaults(report)) sayResult(fault);
      if (!quiet) sayResult(renderReport(report));
      for (const notice of report.notices) say(`revconvert: note: ${notice}`);
    }
    if (report.damage.length > 0) return EXIT.input;
    return report.warnings.length > 0 ? EXIT.warnings : EXIT.done;
  } finally {
    display.stop();
  }
}
