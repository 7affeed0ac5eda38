/** Bundles of every kind made by hand, and taken apart again: Node's zlib and the programs `bzip2` and `zstd` compress, nothing of src is used. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { deflateSync, inflateSync } from 'node:zlib';

import type { BuiltRevision } from './bundle-builder.js';
import { EMPTY_CHUNK, group, i32, namedGroup, partHeader, payload, revision, tinyChangegroup01, tinyHistory } from './bundle-builder.js';
import { patch } from './changegroup-items.js';

export type BundleKind = 'none-v1' | 'gzip-v1' | 'bzip2-v1' | 'none-v2' | 'gzip-v2' | 'bzip2-v2' | 'zstd-v2';

const isThere = (program: string): boolean => spawnSync(program, ['--version'], { input: '' }).status === 0;

const ALL: readonly BundleKind[] = ['none-v1', 'gzip-v1', 'bzip2-v1', 'none-v2', 'gzip-v2', 'bzip2-v2', 'zstd-v2'];

const missing = ['bzip2', 'zstd'].filter((program) => !isThere(program));
if (missing.length > 0) process.stderr.write(`      bundles of ${missing.join(' and ')} are left out: no such program\n`);

/** The kinds that can be made, and taken apart, here. */
export const BUNDLE_KINDS = ALL.filter((kind) => !missing.some((program) => kind.startsWith(program)));

const run = (program: string, args: readonly string[], input: Buffer): Buffer => execFileSync(program, args, { input, maxBuffer: 1 << 30, stdio: ['pipe', 'pipe', 'ignore'] });

const COMPRESS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  none: (bytes) => bytes,
  gzip: (bytes) => deflateSync(bytes),
  bzip2: (bytes) => run('bzip2', ['-z', '-c'], bytes),
  zstd: (bytes) => run('zstd', ['-q', '-c', '--no-check'], bytes),
};

const DECOMPRESS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  none: (bytes) => bytes,
  gzip: (bytes) => inflateSync(bytes),
  bzip2: (bytes) => run('bzip2', ['-d', '-c'], bytes),
  zstd: (bytes) => run('zstd', ['-q', '-d', '-c'], bytes),
};

const partsOf = (kind: BundleKind): readonly [engine: string, type: string] => kind.split('-') as [string, string];

const PARAMETERS: Readonly<Record<string, string>> = { none: '', gzip: 'Compression=GZ', bzip2: 'Compression=BZ', zstd: 'Compression=ZS' };
/** The letters BZ are the first of what bzip2 writes. */
const MAGIC: Readonly<Record<string, string>> = { none: 'HG10UN', gzip: 'HG10GZ', bzip2: 'HG10' };

function headOf(kind: BundleKind): Buffer {
  const [engine, type] = partsOf(kind);
  if (type === 'v1') return Buffer.from(MAGIC[engine] ?? '');
  const parameters = Buffer.from(PARAMETERS[engine] ?? '');
  return Buffer.concat([Buffer.from('HG20'), i32(parameters.length), parameters]);
}

/** A bundle of this kind whose uncompressed bytes behind its header are these. */
export const wrap = (kind: BundleKind, body: Buffer): Buffer => Buffer.concat([headOf(kind), COMPRESS[partsOf(kind)[0]]?.(body) ?? body]);

/** The uncompressed bytes behind the header; fails where that is of another kind. */
export function unwrap(kind: BundleKind, bytes: Buffer): Buffer {
  const head = headOf(kind);
  assert.equal(bytes.toString('latin1', 0, head.length), head.toString('latin1'));
  const rest = bytes.subarray(head.length);
  return DECOMPRESS[partsOf(kind)[0]]?.(rest) ?? rest;
}

/** The parts of a bundle of version 2, and the mark of its end. */
export const body2 = (...parts: readonly Buffer[]): Buffer => Buffer.concat([...parts, i32(0)]);

/** How the second changeset of the tiny history comes: whole against nothing, or against the first, as version 01 has it. */
export type SecondChangeset = 'whole' | 'against first';

/** The changegroup of the tiny history (`tinyHistory`), of version 02 or 03. */
export function changegroupOf(version: '02' | '03', second: SecondChangeset): Buffer {
  const { changesets, manifests, file, name } = tinyHistory();
  const [c0, c1] = changesets as [BuiltRevision, BuiltRevision];
  const against = { ...c1, base: c0.node, delta: Buffer.concat([i32(0), i32(c0.delta.length - 12), c1.delta.subarray(8)]) };
  const write = (one: BuiltRevision): Buffer => revision(version, one);
  return Buffer.concat([
    group(write(c0), write(second === 'whole' ? c1 : against)),
    group(...manifests.map(write)),
    ...(version === '03' ? [EMPTY_CHUNK] : []),
    namedGroup(name, ...file.map(write)),
    EMPTY_CHUNK,
  ]);
}

/** It in a part. */
export const changegroupPart = (version: '02' | '03', second: SecondChangeset, advisory: readonly (readonly [string, string])[] = []): Buffer =>
  Buffer.concat([partHeader('CHANGEGROUP', 0, [['version', version]], advisory), payload(changegroupOf(version, second))]);

/** The tiny history as a bundle of this kind. */
export const tinyOf = (kind: BundleKind): Buffer => wrap(kind, partsOf(kind)[1] === 'v1' ? tinyChangegroup01() : body2(changegroupPart('02', 'whole')));

/**
 * Says whether a bundle is what becomes of the tiny history, as a bundle of one kind has it, in a bundle of another. It is known to the
 * byte, but for one delta that has to be made anew for version 01.
 */
export function assertTiny(made: Buffer, from: BundleKind, to: BundleKind, version: '02' | '03' = '02'): void {
  const body = unwrap(to, made);
  const isOld = partsOf(from)[1] === 'v1';
  if (partsOf(to)[1] === 'v2') { assertBytes(body, body2(changegroupPart(version, isOld ? 'against first' : 'whole'))); return; }
  if (isOld) { assertBytes(body, tinyChangegroup01()); return; }
  assert.deepEqual(readTexts01(body), readTexts01(tinyChangegroup01()));
}

/** Bytes in a form in which a difference can be seen. */
const assertBytes = (found: Buffer, expected: Buffer): void => assert.equal(found.toString('latin1'), expected.toString('latin1'));

/** The nodes, the changesets and the texts of a changegroup of version 01, and the names between them, as the format says. */
function readTexts01(body: Buffer): string[] {
  const found: string[] = [];
  let text: Buffer = Buffer.alloc(0);
  for (let at = 0; at < body.length; ) {
    const length = body.readInt32BE(at);
    const data = body.subarray(at + 4, at + length);
    at += Math.max(length, 4);
    if (data.length < 80) {
      // The end of a group, or the name of the next.
      found.push(data.toString('latin1'));
      text = Buffer.alloc(0);
      continue;
    }
    text = patch(text, data.subarray(80));
    found.push(`${data.toString('hex', 0, 80)} ${text.toString('latin1')}`);
  }
  return found;
}

/** A part of another type. */
export const otherPart = (type: string, id: number, content: Buffer | string): Buffer => Buffer.concat([partHeader(type, id), payload(Buffer.from(content))]);
