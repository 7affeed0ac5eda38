/** One way to look at a bad input: by the library with one thread and two, by the command, and by the command as JSON. */
import assert from 'node:assert/strict';
import { readdirSync, truncateSync } from 'node:fs';

import { it } from 'mocha';

import { EXIT } from '../../src/cli/exit-status.js';
import type { ErrorData } from '../../src/errors.js';
import { ERROR_RULES } from '../../src/errors.js';
import type { ExpectedError, Outcome } from '../repository/support.js';
import { assertError, convert, failureOf, patch, picture, runCommand, type Scratch } from '../repository/support.js';
import type { BuiltRepository, LayoutName, RepositoryOptions, StoredRevision } from '../support/repository-builder.js';
import { buildRepository, buildRevlog, writeRevlogFiles } from '../support/repository-builder.js';

export interface BadCase extends Omit<ExpectedError, 'offset'> {
  readonly title: string;
  /** Where the damage is, which depends on what was built. */
  readonly offset?: (repository: BuiltRepository) => number;
  readonly layout?: LayoutName;
  readonly build?: RepositoryOptions;
  readonly damage: (repository: BuiltRepository) => void;
}

/** One clear line, the hint, and nothing else: no stack trace, nothing on standard output. */
export function assertOneLine({ status, signal, stdout, stderr }: Outcome, expected: ExpectedError): void {
  assert.equal(signal, null, stderr);
  assert.equal(status, EXIT[ERROR_RULES[expected.code].kind], stderr);
  assert.equal(stdout, '');
  const [line = '', hint = '', ...rest] = stderr.split('\n');
  assert.ok(line.startsWith(`revconvert: ${expected.code}: `), stderr);
  assert.equal(hint, `hint: ${ERROR_RULES[expected.code].hint}`);
  assert.deepEqual(rest, [''], 'two lines and no more');
  if (expected.path !== undefined) assert.ok(line.includes(expected.path), line);
  if (expected.rev !== undefined) assert.ok(line.includes(`rev ${expected.rev}, `) || line.includes(`rev ${expected.rev}: `), line);
  if (expected.offset !== undefined) assert.ok(line.includes(`offset ${expected.offset}: `), line);
}

/** The error as JSON on standard output, and nothing else. */
export function assertJsonError({ status, stdout, stderr }: Outcome, expected: ExpectedError): void {
  assert.equal(status, EXIT[ERROR_RULES[expected.code].kind], stderr);
  assert.equal(stderr, '');
  const { error } = JSON.parse(stdout) as { readonly error: ErrorData };
  assertError(error, expected);
  assert.equal(error.hint, ERROR_RULES[expected.code].hint);
}

/** Makes the tests of a table: each case fails as it says, leaves nothing behind, and the source as it was. */
export function testBadCases(scratch: Scratch, cases: readonly BadCase[]): void {
  for (const bad of cases) {
    it(`${bad.title}: ${bad.code}`, async () => {
      const { layout = 'share-safe' } = bad;
      const repository = buildRepository(scratch.at('src'), { layout, ...bad.build });
      bad.damage(repository);
      const { offset, ...expected } = bad;
      await assertRefused(scratch, offset === undefined ? expected : { ...expected, offset: offset(repository) });
    });
  }
}

/** Tries in all ways to convert the `src` of a scratch folder to its `dst`. */
export async function assertRefused(scratch: Scratch, expected: ExpectedError): Promise<void> {
  const [from, to] = [scratch.at('src'), scratch.at('dst')];
  const before = picture(scratch.root);
  for (const jobs of [1, 2]) {
    assertError(await failureOf(convert(from, to, { jobs })), expected);
    assert.deepEqual(picture(scratch.root), before, `${jobs} jobs left something behind`);
  }
  assertOneLine(await runCommand(['--to', 'zstd', '--jobs', '1', from, to]), expected);
  assertJsonError(await runCommand(['--to', 'zstd', '--jobs', '2', '--json', from, to]), expected);
  assert.deepEqual(picture(scratch.root), before, 'the command left something behind');
}

/** Damage: cuts a file of the store. */
export const truncate =
  (name: string, size: (repository: BuiltRepository) => number) =>
  (repository: BuiltRepository): void =>
    truncateSync(repository.inStore(name), size(repository));

/** Fields of a version 1 entry, by where they stand in it. */
export const FIELDS = { offset: 0, flags: 6, chunkLength: 8, rawSize: 12, base: 16, linkRev: 20, p1: 24, p2: 28, node: 32 } as const;

/** Damage: writes over a field of an index entry. */
export const setField =
  (name: string, rev: number, field: keyof typeof FIELDS, value: Uint8Array) =>
  (repository: BuiltRepository): void =>
    patch(repository.inStore(name), repository.revlog(name).entryAt(rev) + FIELDS[field], value);

/** Damage: writes over bytes of a chunk, counted from its first. */
export const setChunk =
  (name: string, rev: number, at: number, value: Uint8Array) =>
  (repository: BuiltRepository): void => {
    const revlog = repository.revlog(name);
    const file = revlog.data === undefined ? name : `${name.slice(0, -1)}d`;
    patch(repository.inStore(file), revlog.chunkAt(rev) + at, value);
  };

/** Damage: writes a revlog anew with one revision changed. */
export const setRevision =
  (name: string, rev: number, change: (revision: StoredRevision) => Partial<StoredRevision>) =>
  (repository: BuiltRepository): void => {
    const old = repository.revlog(name);
    const revisions = old.revisions.map((revision, i) => (i === rev ? { ...revision, ...change(revision) } : revision));
    writeRevlogFiles(repository.store, name, buildRevlog(revisions, old.form));
  };

/** Names in a folder, for what was left behind. */
export const namesIn = (folder: string): string[] => readdirSync(folder).sort();
