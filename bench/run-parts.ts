import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { MakePart } from './dictionaries/part.js';
import { renderPart } from './dictionaries/part.js';
import { describeMachine, loadNow } from './machine.js';
import { beginOf, replaceSection } from './published/section.js';

/** Options of a bench that is made of parts, for `parseArgs`. */
export const PART_OPTIONS = {
  rounds: { type: 'string', default: '5' },
  only: { type: 'string' },
  print: { type: 'boolean', default: false },
  provisional: { type: 'boolean', default: false },
} as const;

/** As `parseArgs` gives them. */
export interface PartValues {
  readonly rounds: string;
  /** Names of parts, with commas between them. */
  readonly only?: string | undefined;
  /** Nothing is written. */
  readonly print: boolean;
  /** Times are marked as measured beside other work. */
  readonly provisional: boolean;
}

export interface PartsBench<Shared> {
  /** With which the marks in documents begin. */
  readonly name: string;
  readonly parts: Readonly<Record<string, MakePart<Shared>>>;
  /** Documents that have marks for some of the parts, below the folder of the package. */
  readonly documents: readonly string[];
  /** Files that are needed below the folder with the data. */
  readonly needed: readonly string[];
  readonly createWorkspace: (data: string, rounds: number) => Shared;
  /** Which Mercurial it was. */
  readonly describe: (workspace: Shared) => string;
}

/**
 * Makes the parts of a bench, prints them, and writes them into its documents.
 * @param folder with the data. @default REVCONVERT_DATA, or ../shared/data
 */
export async function runParts<Shared>(bench: PartsBench<Shared>, values: PartValues, folder = process.env['REVCONVERT_DATA'] ?? '../shared/data'): Promise<void> {
  const { parts } = bench;
  const rounds = Math.max(1, Math.floor(Number(values.rounds)) || 0);
  const wanted = values.only?.split(',') ?? Object.keys(parts);
  for (const name of bench.needed) if (!existsSync(join(folder, name))) fail(`there is no ${join(folder, name)}: name the folder with the data`);
  for (const name of wanted) if (!(name in parts)) fail(`there is no table '${name}': ${Object.keys(parts).join(', ')}`);

  const documents = values.print ? [] : bench.documents;
  const workspace = bench.createWorkspace(folder, rounds);
  const load = loadNow();
  for (const name of wanted) {
    const started = performance.now();
    const part = await parts[name]?.(workspace);
    if (part === undefined) continue;
    const text = renderPart(part, values.provisional);
    console.log(`### ${part.title}\n\n${text}\n`);
    console.error(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
    write(documents, `${bench.name}, ${name}`, text);
  }
  const machine = [...(await describeMachine()), bench.describe(workspace), rounds === 1 ? 'one round' : `${rounds} rounds in turns`, `load of the machine ${load} at the beginning, ${loadNow()} at the end`];
  console.log(`${machine.join('; ')}.`);
  write(documents, `${bench.name}, machine`, `${machine.join('; ')}.`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

/** Into each document that has these marks. */
function write(documents: readonly string[], marks: string, text: string): void {
  for (const name of documents) {
    const path = fileURLToPath(new URL(`../../${name}`, import.meta.url));
    const document = readFileSync(path, 'utf8');
    if (document.includes(beginOf(marks))) writeFileSync(path, replaceSection(document, marks, text));
  }
}
