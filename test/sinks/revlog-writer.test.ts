import assert from 'node:assert/strict';
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, it } from 'mocha';

import { createEntryEncoder } from '../../src/formats/encode-entries.js';
import type { Revision, RevisionBatch } from '../../src/formats/record.js';
import type { RevlogWriterOptions } from '../../src/sinks/revlog-writer.js';
import { RevlogWriter } from '../../src/sinks/revlog-writer.js';
import { memorySource } from '../../src/streams/byte-source.js';
import { readIndex } from '../../src/streams/read-index.js';
import { openRevlog } from '../../src/streams/read-revlog.js';
import { revisionsOf, runModule, writeAt } from '../streams/support.js';
import { assertNoDescriptors } from '../support/descriptors.js';
import { PROJECT_ROOT } from '../support/paths.js';
import { entryV1, makeRevision } from '../support/revlog-builder.js';
import { useTempFolder } from '../support/temp-folder.js';

const LIMIT = 131_072;
const GIB4 = 2 ** 32;

const batch = (...revisions: readonly Revision[]): RevisionBatch => ({ path: 'data/f.i', kind: 'filelog', revisions: [...revisions] });

/** Full texts whose chunks have the lengths given. */
const revisions = (...lengths: readonly number[]): Revision[] =>
  lengths.map((length, rev) => makeRevision({ rev, rawSize: length, chunk: Buffer.alloc(length, rev) }));

const NODE = Buffer.alloc(20, 0xab);

/** Two revisions with the bytes of their entries. */
const tiny = [
  makeRevision({ rev: 0, node: NODE, linkRev: 5, rawSize: 3, chunk: Buffer.from('uabc') }),
  makeRevision({ rev: 1, node: NODE, linkRev: 6, rawSize: 4, deltaBase: 0, flags: 0x1234, chunk: Buffer.from('\0delta') }),
];
const tinyEntries = [
  entryV1({ offset: 0, flags: 0, chunkLength: 4, rawSize: 3, baseField: 0, linkRev: 5, p1: -1, p2: -1, node: NODE }),
  entryV1({ offset: 4, flags: 0x1234, chunkLength: 6, rawSize: 4, baseField: 0, linkRev: 6, p1: 0, p2: -1, node: NODE }),
];
const withHeader = (word: number, ...parts: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(parts);
  bytes.writeUInt32BE(word);
  return bytes;
};

describe('revlog writer', () => {
  const inFolder = useTempFolder();
  const options = (more: Partial<RevlogWriterOptions> = {}): RevlogWriterOptions => ({
    indexFile: inFolder('f.i'),
    dataFile: inFolder('f.d'),
    generaldelta: true,
    ...more,
  });
  const files = (): string[] => readdirSync(inFolder()).sort();

  it('writes a small revlog inline, byte for byte', () => {
    const writer = new RevlogWriter(options());
    writer.write(batch(...tiny));
    assert.deepEqual(writer.finish(), { revisions: 2, inline: true, indexBytes: 138, dataBytes: 0 });
    const [first, second] = tinyEntries;
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(readFileSync(inFolder('f.i')), withHeader(0x00030001, first, Buffer.from('uabc'), second, Buffer.from('\0delta')));
    assert.deepEqual(files(), ['f.i']);
    assertNoDescriptors(inFolder());
  });

  it('writes a large revlog split, byte for byte', () => {
    const chunk = Buffer.alloc(LIMIT, 'x');
    const writer = new RevlogWriter(options());
    writer.write(batch(...tiny));
    writer.write(batch(makeRevision({ rev: 2, node: NODE, p1: 1, rawSize: 7, chunk })));
    assert.deepEqual(writer.finish(), { revisions: 3, inline: false, indexBytes: 192, dataBytes: LIMIT + 10 });
    const third = entryV1({ offset: 10, flags: 0, chunkLength: LIMIT, rawSize: 7, baseField: 2, linkRev: 2, p1: 1, p2: -1, node: NODE });
    assert.deepEqual(readFileSync(inFolder('f.i')), withHeader(0x00020001, ...tinyEntries, third));
    assert.deepEqual(readFileSync(inFolder('f.d')), Buffer.concat([Buffer.from('uabc'), Buffer.from('\0delta'), chunk]));
    assert.deepEqual(files(), ['f.d', 'f.i']);
    assertNoDescriptors(inFolder());
  });

  const headers: readonly (readonly [number, Partial<RevlogWriterOptions>])[] = [
    [0x00010001, { generaldelta: false }],
    [0x00030001, { generaldelta: true }],
    [0x00070001, { generaldelta: true, filelogMeta: true }],
    [0x000b0001, { generaldelta: true, deltaInfo: true }],
    [0x000f0001, { generaldelta: true, filelogMeta: true, deltaInfo: true }],
  ];
  for (const [word, more] of headers) {
    it(`puts 0x${word.toString(16)} in front of an inline revlog, and the same less bit 16 in front of a split one`, () => {
      for (const [length, expected] of [[1, word], [LIMIT, word - 0x10000]] as const) {
        const name = `f${length}`;
        const writer = new RevlogWriter(options({ ...more, indexFile: inFolder(`${name}.i`), dataFile: inFolder(`${name}.d`) }));
        writer.write(batch(...revisions(length)));
        writer.finish();
        assert.equal(readFileSync(inFolder(`${name}.i`)).readUInt32BE(), expected);
      }
    });
  }

  it('writes an empty file for a revlog without revisions', () => {
    for (const empty of [[], [batch()]]) {
      const writer = new RevlogWriter(options({ indexFile: inFolder(`f${empty.length}.i`) }));
      for (const one of empty) writer.write(one);
      assert.deepEqual(writer.finish(), { revisions: 0, inline: true, indexBytes: 0, dataBytes: 0 });
      assert.equal(statSync(inFolder(`f${empty.length}.i`)).size, 0);
    }
  });

  describe('split or inline', () => {
    const rows: readonly (readonly [title: string, lengths: readonly number[], inline: boolean])[] = [
      ['131071 bytes in one chunk', [LIMIT - 1], true],
      ['131072 bytes in one chunk', [LIMIT], false],
      ['131071 bytes in many', [100_000, 31_070, 1, 0], true],
      ['131072 bytes in many', [100_000, 31_071, 1, 0], false],
      ['131071 bytes and many entries, which do not count', [LIMIT - 1, ...Array<number>(3000).fill(0)], true],
    ];
    for (const [title, lengths, inline] of rows) {
      for (const [how, cut] of [['at once', lengths.length], ['one by one', 1]] as const) {
        it(`${title}, written ${how}: ${inline ? 'inline' : 'split'}`, () => {
          const writer = new RevlogWriter(options());
          const all = revisions(...lengths);
          for (let at = 0; at < all.length; at += cut) writer.write(batch(...all.slice(at, at + cut)));
          assert.equal(writer.finish().inline, inline);
          assert.equal(existsSync(inFolder('f.d')), !inline);
          const reader = openRevlog(options());
          assert.deepEqual(revisionsOf(reader.batches()).map(({ chunk }) => Buffer.from(chunk)), all.map(({ chunk }) => chunk));
          assert.equal(reader.trailingBytes, 0);
          reader.close();
        });
      }
    }
  });

  describe('revisions encoded elsewhere', () => {
    const all = revisions(10, 20, 0, 70_000, 5, 70_000, 1);

    /** Writes two ranges, the second from `cut` on. */
    const writeRanges = (name: string, cut: number, first: 'write' | 'writeEncoded'): void => {
      const writer = new RevlogWriter(options({ indexFile: inFolder(`${name}.i`), dataFile: inFolder(`${name}.d`) }));
      for (const [i, range] of [all.slice(0, cut), all.slice(cut)].entries()) {
        if (i === 0 && first === 'write') writer.write(batch(...range));
        else writer.writeEncoded(createEntryEncoder({ generaldelta: true }).encode(range), Buffer.concat(range.map(({ chunk }) => chunk)));
      }
      writer.finish();
    };

    for (let cut = 0; cut <= all.length; cut++) {
      it(`are the same as those that it encodes, cut at ${cut}`, () => {
        const writer = new RevlogWriter(options());
        writer.write(batch(...all));
        writer.finish();
        for (const first of ['write', 'writeEncoded'] as const) {
          const name = `cut-${first}`;
          writeRanges(name, cut, first);
          assert.deepEqual(readFileSync(inFolder(`${name}.i`)), readFileSync(inFolder('f.i')));
          assert.deepEqual(readFileSync(inFolder(`${name}.d`)), readFileSync(inFolder('f.d')));
        }
      });
    }

    it('stay inline where they are small', () => {
      const writer = new RevlogWriter(options());
      const [first, second] = tiny;
      assert.ok(first !== undefined && second !== undefined);
      writer.writeEncoded(createEntryEncoder({ generaldelta: true }).encode([first]), first.chunk);
      writer.writeEncoded(createEntryEncoder({ generaldelta: true }).encode([second]), second.chunk);
      assert.equal(writer.finish().inline, true);
      const other = new RevlogWriter(options({ indexFile: inFolder('g.i') }));
      other.write(batch(...tiny));
      other.finish();
      assert.deepEqual(readFileSync(inFolder('f.i')), readFileSync(inFolder('g.i')));
    });

    it('may lie beyond 4 GiB, and are read back from there', () => {
      const head = Buffer.alloc(LIMIT, 'h');
      const tail = Buffer.from('ua text that lies far away');
      const table = entryV1({ offset: GIB4 + 50, flags: 3, chunkLength: tail.length, rawSize: tail.length - 1, baseField: 1, linkRev: 1, p1: 0, p2: -1, node: NODE });
      const writer = new RevlogWriter(options());
      writer.write(batch(makeRevision({ rev: 0, rawSize: LIMIT, chunk: head })));
      writer.writeEncoded(table, new Uint8Array(0));
      writer.finish();
      const offset = GIB4 + 50 + LIMIT;
      const index = readIndex(memorySource(readFileSync(inFolder('f.i')), 'f.i'));
      assert.deepEqual([index.offset(1), index.flags(1), index.chunkLength(1)], [offset, 3, tail.length]);
      writeAt(inFolder('f.d'), offset, tail);
      assert.ok(statSync(inFolder('f.d')).blocks < 2000, 'the file is not sparse');
      const reader = openRevlog(options());
      const read = revisionsOf(reader.batches());
      reader.close();
      assert.deepEqual([read[1]?.position, Buffer.from(read[1]?.chunk ?? '')], [offset, tail]);
    });
  });

  describe('files that are there already', () => {
    const rows: readonly (readonly [string, 'f.i' | 'f.d', number])[] = [
      ['an index', 'f.i', 10],
      ['an index of a revlog that is split', 'f.i', LIMIT],
      ['a data file', 'f.d', LIMIT],
    ];
    for (const [title, name, length] of rows) {
      it(`${title}: is refused and stays as it is, also by its other name`, () => {
        writeFileSync(inFolder(name), 'precious');
        linkSync(inFolder(name), inFolder('clone'));
        const writer = new RevlogWriter(options({ path: 'data/f.i' }));
        assert.throws(
          () => {
            writer.write(batch(...revisions(length)));
            writer.finish();
          },
          { code: 'SYSTEM', message: /^EEXIST/, at: { path: inFolder(name) } },
        );
        writer.abort();
        assert.deepEqual(files(), ['clone', name].sort());
        assert.equal(readFileSync(inFolder('clone'), 'latin1'), 'precious');
        assert.equal(readFileSync(inFolder(name), 'latin1'), 'precious');
        assertNoDescriptors(inFolder());
      });
    }

    it('a data file is left alone where the revlog is inline', () => {
      writeFileSync(inFolder('f.d'), 'precious');
      const writer = new RevlogWriter(options());
      writer.write(batch(...revisions(10)));
      writer.finish();
      writer.abort();
      assert.deepEqual(files(), ['f.d']);
      assert.equal(readFileSync(inFolder('f.d'), 'latin1'), 'precious');
    });

    it('a link is not followed', () => {
      writeFileSync(inFolder('target'), 'precious');
      symlinkSync(inFolder('target'), inFolder('f.i'));
      const writer = new RevlogWriter(options());
      writer.write(batch(...revisions(10)));
      assert.throws(() => writer.finish(), { code: 'SYSTEM', at: { path: inFolder('f.i') } });
      writer.abort();
      assert.deepEqual(files(), ['f.i', 'target']);
      assert.equal(readFileSync(inFolder('target'), 'latin1'), 'precious');
    });
  });

  describe('abort', () => {
    const moments: readonly (readonly [string, (writer: RevlogWriter) => void])[] = [
      ['before anything is written', () => undefined],
      ['while all is in memory', (writer) => writer.write(batch(...revisions(10)))],
      ['when the data file is open', (writer) => writer.write(batch(...revisions(LIMIT)))],
      ['after it has finished', (writer) => {
        writer.write(batch(...revisions(LIMIT)));
        writer.finish();
      }],
    ];
    for (const [title, action] of moments) {
      it(`removes what was made and nothing else, ${title}`, () => {
        writeFileSync(inFolder('other'), '');
        const writer = new RevlogWriter(options());
        action(writer);
        writer.abort();
        writer.abort();
        assert.deepEqual(files(), ['other']);
        assertNoDescriptors(inFolder());
      });
    }
  });

  it('gives its files the mode asked for, whatever the umask', function () {
    if (process.platform === 'win32') {
      this.skip(); // no modes
    }
    const before = process.umask(0o077);
    try {
      const writer = new RevlogWriter(options({ mode: 0o664 }));
      writer.write(batch(...revisions(LIMIT)));
      writer.finish();
    } finally {
      process.umask(before);
    }
    assert.deepEqual(['f.i', 'f.d'].map((name) => statSync(inFolder(name)).mode & 0o777), [0o664, 0o664]);
  });

  it('takes names that are bytes', () => {
    const name = (end: string): Buffer => Buffer.concat([Buffer.from(`${inFolder()}/`), Buffer.from([0x66, 0xff]), Buffer.from(end)]);
    const writer = new RevlogWriter(options({ indexFile: name('.i'), dataFile: name('.d') }));
    writer.write(batch(...revisions(LIMIT)));
    writer.finish();
    assert.equal(statSync(name('.i')).size, 64);
    assert.equal(statSync(name('.d')).size, LIMIT);
  });

  it('refuses a base that cannot be said, with the revision', () => {
    const writer = new RevlogWriter(options({ generaldelta: false }));
    writer.write(batch(...revisions(1, 1)));
    assert.throws(() => writer.write(batch(makeRevision({ rev: 2, deltaBase: 0 }))), { code: 'INTERNAL', at: { rev: 2 } });
    writer.abort();
    assert.deepEqual(files(), []);
  });

  describe('what the system refuses', () => {
    it('a folder that is not there', () => {
      for (const length of [10, LIMIT]) {
        const writer = new RevlogWriter(options({ indexFile: inFolder('none/f.i'), dataFile: inFolder('none/f.d') }));
        const path = inFolder(length === 10 ? 'none/f.i' : 'none/f.d');
        assert.throws(
          () => {
            writer.write(batch(...revisions(length)));
            writer.finish();
          },
          { code: 'SYSTEM', message: /^ENOENT/, at: { path } },
        );
        writer.abort();
      }
    });

    it('a folder that may not be written to', function () {
      if (process.getuid === undefined || process.seteuid === undefined) {
        this.skip(); // no owners
      }
      mkdirSync(inFolder('closed'));
      chmodSync(inFolder(), 0o755);
      chmodSync(inFolder('closed'), 0o555);
      const writer = new RevlogWriter(options({ indexFile: inFolder('closed/f.i') }));
      writer.write(batch(...revisions(10)));
      const owner = process.getuid();
      if (owner === 0) process.seteuid(65_534); // nothing is forbidden to root
      try {
        assert.throws(() => writer.finish(), { code: 'PERMISSION', at: { path: inFolder('closed/f.i') } });
      } finally {
        if (owner === 0) process.seteuid(0);
      }
    });

    for (const [title, length, limitKib] of [
      ['data', 3 * LIMIT, 200],
      ['an index', LIMIT - 1, 50],
    ] as const) {
      it(`${title} for which there is no room: the limit is hit in the middle of a write`, function () {
        if (process.platform === 'win32') {
          this.skip(); // no limits
        }
        const program = `
          const writer = new RevlogWriter(${JSON.stringify(options({ path: 'data/f.i' }))});
          const node = new Uint8Array(20);
          const revision = { rev: 0, node, p1: -1, p2: -1, linkRev: 0, flags: 0, rawSize: 0, deltaBase: -1, chunk: new Uint8Array(${length}) };
          try {
            writer.write({ revisions: [revision] });
            writer.finish();
          } catch (error) {
            const sizes = readdirSync(${JSON.stringify(inFolder())}, { withFileTypes: true }).map((entry) => statSync(entry.parentPath + '/' + entry.name).size);
            writer.abort();
            console.log(JSON.stringify([error.code, error.at, sizes]));
          }`;
        const printed = runModule(
          { '{ RevlogWriter }': join(PROJECT_ROOT, 'dist/src/sinks/revlog-writer.js') },
          `import { readdirSync, statSync } from 'node:fs';${program}`,
          limitKib,
        );
        assert.deepEqual(JSON.parse(printed), ['NO_SPACE', { path: 'data/f.i' }, [limitKib * 1024]]);
        assert.deepEqual(files(), []);
      });
    }
  });
});
