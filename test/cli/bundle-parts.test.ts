/** What `revconvert bundle` makes: kinds, levels, filters in their order, parts that pass, go, or are refused. The bundles are made and read by hand. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

import { describe, it } from 'mocha';

import type { RevconvertError } from '../../src/index.js';
import { readBundleItems } from '../../src/index.js';
import { Scratch } from '../repository/support.js';
import { i32, NULL, partHeader, payload, slices, tinyChangegroup01 } from '../support/bundle-builder.js';
import type { BundleKind } from '../support/bundle-kinds.js';
import { assertTiny, body2, BUNDLE_KINDS, changegroupOf, changegroupPart, otherPart, tinyOf, unwrap, wrap } from '../support/bundle-kinds.js';
import { branch, phaseHead } from '../support/payload-builder.js';
import { assertDone, assertRefused, runBundle } from '../support/run-bundle.js';
import { requireZstd } from '../support/zstd-program.js';

const IN = tinyOf('none-v2');

describe('kinds of bundles', () => {
  for (const kind of BUNDLE_KINDS) {
    it(`--to ${kind}`, () => {
      assertTiny(assertDone(runBundle(['--to', kind], { input: IN })), 'none-v2', kind);
    });

    it(`${kind} without --to stays what it is`, () => {
      assertTiny(assertDone(runBundle([], { input: tinyOf(kind) })), kind, kind);
    });
  }

  const specs: readonly (readonly [spec: string, kind: BundleKind, version?: '02' | '03'])[] = [
    ['gzip', 'gzip-v2'],
    ['v1', 'bzip2-v1'],
    ['v2', 'bzip2-v2'],
    ['none-bundle2', 'none-v2'],
    ['none-v2;cg.version=03', 'none-v2', '03'],
    ['none-v2;changegroup.version=02', 'none-v2'],
    ['none-v3', 'none-v2', '03'],
    ['gzip-v2;level=9;cg.version=03;phases=yes;obsolescence=yes', 'gzip-v2', '03'],
    ['none-v2;cg%2eversion=03', 'none-v2', '03'],
  ];
  for (const [spec, kind, version] of specs) {
    it(`--to '${spec}'`, () => {
      const { status, stdout } = runBundle(['--to', spec], { input: IN });
      assert.equal(status, 0);
      assertTiny(stdout, 'none-v2', kind, version);
    });
  }

  it('a zlib stream says its level (RFC 1950): --level, that of the specification, the usual one', () => {
    for (const [args, flags] of [
      [['--to', 'gzip-v2'], '789c'],
      [['--to', 'gzip-v2;level=9'], '78da'],
      [['--to', 'gzip-v2', '--level', '1'], '7801'],
      [['--to', 'gzip-v2;level=9', '--level', '1'], '7801'],
      [['--to', 'gzip-v1', '--level', '9', '--level', '1'], '7801'],
    ] as const) {
      const made = assertDone(runBundle(args, { input: IN }));
      const at = args[1].includes('v1') ? 6 : 8 + 'Compression=GZ'.length;
      assert.equal(made.toString('hex', at, at + 2), flags, args.join(' '));
    }
  });

  it('a bzip2 stream says its level, also where the source is one', () => {
    for (const [args, source] of [[['--to', 'bzip2-v1'], IN], [[], tinyOf('bzip2-v1')]] as const) {
      assert.equal(assertDone(runBundle([...args, '--level', '3'], { input: source })).toString('latin1', 0, 8), 'HG10BZh3');
      assert.equal(assertDone(runBundle(args, { input: source })).toString('latin1', 0, 8), 'HG10BZh9');
    }
  });

  it('zstd: levels, and threads, of which one and many make the same', () => {
    const text = Array.from({ length: 40_000 }, (_, i) => `${(i * 7919) % 1013} ${(i * 31) % 977}\n`).join('');
    const source = wrap('none-v2', body2(changegroupPart('02', 'whole'), otherPart('unknown', 1, text)));
    const make = (...args: readonly string[]): Buffer => {
      const made = assertDone(runBundle(['--to', 'zstd-v2', ...args], { input: source }));
      assert.equal(unwrap('zstd-v2', made).toString('latin1'), source.toString('latin1', 8));
      return made;
    };
    const one = make('--threads', '1');
    assert.deepEqual(make('--threads', '2'), one);
    assert.deepEqual(make(), one);
    make('--threads', '0');
    assert.ok(make('--level', '15').length < make('--level', '1').length);
  });
});

const HEADS = Buffer.concat([phaseHead(0, Buffer.alloc(20, 1)), phaseHead(1, Buffer.alloc(20, 2))]);
const phaseHeads = Buffer.concat([partHeader('PHASE-HEADS', 3), payload(HEADS)]);
const markers = Buffer.concat([partHeader('OBSMARKERS', 2), payload(Buffer.from([1]))]);
const cache = otherPart('cache:rev-branch-cache', 1, branch('default', [NULL], []));
const fnodes = otherPart('hgtagsfnodes', 4, Buffer.alloc(40));
const unknown = Buffer.concat([partHeader('x-new', 9, [['a', 'b']], [['c', '']]), payload(Buffer.from('content'))]);
const mandatory = Buffer.concat([partHeader('X-NEW', 9), payload(Buffer.from('content'))]);
const output = otherPart('output', 7, 'hello');
const changegroup = changegroupPart('02', 'whole', [['nbchanges', '2']]);

const bundleOf = (...parts: readonly Buffer[]): Buffer => wrap('none-v2', body2(...parts));

/** What is left of the parts of a bundle, byte for byte. */
const assertParts = (made: Buffer, ...parts: readonly Buffer[]): void => assert.equal(unwrap('none-v2', made).toString('latin1'), body2(...parts).toString('latin1'));

describe('filters', () => {
  const scratch = Scratch.use();
  const all = bundleOf(changegroup, cache, markers, phaseHeads, unknown);

  const cases: readonly (readonly [args: readonly string[], parts: readonly Buffer[], missing?: string])[] = [
    [[], [changegroup, cache, markers, phaseHeads, unknown]],
    [['--drop-part', 'obsmarkers'], [changegroup, cache, phaseHeads, unknown]],
    [['--drop-part', 'OBSMARKERS'], [changegroup, cache, phaseHeads, unknown]],
    [['--drop-part=obsmarkers', '--drop-part', 'x-new', '--drop-part', 'cache:rev-branch-cache'], [changegroup, phaseHeads]],
    [['--drop-part', 'nothing-like-it'], [changegroup, cache, markers, phaseHeads, unknown], 'nothing-like-it'],
    [['--only-part', 'changegroup'], [changegroup]],
    [['--only-part', 'phase-heads', '--only-part', 'obsmarkers'], [markers, phaseHeads]],
    [['--only-part', 'phase-heads', '--drop-part', 'phase-heads'], []],
    [['--drop-part', 'phase-heads', '--only-part', 'phase-heads'], [], 'phase-heads'],
    [['--drop-part', 'changegroup'], [cache, markers, phaseHeads, unknown]],
    [['--to', 'none-v2;phases=no'], [changegroup, cache, markers, unknown]],
    [['--to', 'none-v2;obsolescence=no;revbranchcache=no'], [changegroup, phaseHeads, unknown]],
    [['--to', 'none-v2;phases=yes;obsolescence=yes'], [changegroup, cache, markers, phaseHeads, unknown]],
    [['--to', 'none-v2;obsolescence-mandatory=no'], [changegroup, cache, otherPart('obsmarkers', 2, Buffer.from([1])), phaseHeads, unknown]],
  ];
  for (const [args, parts, missing] of cases) {
    it(`[${args.join(' ')}] leaves ${parts.length} parts, as they were`, () => {
      const { status, stdout, stderr } = runBundle(args, { input: all });
      assert.equal(stderr, missing === undefined ? '' : `revconvert: note: there is no part of type ${missing} in the bundle\n`);
      assert.equal(status, 0);
      assertParts(stdout, ...parts);
    });
  }

  it('tagsfnodescache=no', () => {
    assertParts(assertDone(runBundle(['--to', 'none-v2;tagsfnodescache=no'], { input: bundleOf(changegroup, fnodes) })), changegroup);
  });

  it('phases=yes, where the source does not say them: a note', () => {
    const { status, stderr } = runBundle(['--to', 'none-v2;phases=yes'], { input: IN });
    assert.equal(status, 0);
    assert.match(stderr, /^revconvert: note: phases=yes: the source does not say the phases of its changesets; .*--from-repo\) can\n$/);
  });

  /** Says, under a name, the bytes of the deltas that it sees. */
  const counter = (name: string): string => {
    const path = scratch.at(`${name}.mjs`);
    writeFileSync(path, `let bytes = 0; export default { onRevision({ deltaBytes }) { bytes += deltaBytes; }, onEnd: () => '${name} ' + bytes };`);
    return path;
  };

  it('act in the order in which they are given, however they are mixed and written', () => {
    const bytesOf = (...args: readonly string[]): [string, number][] => {
      const { status, stderr } = runBundle(args, { input: IN });
      assert.equal(status, 0, stderr);
      return stderr.trimEnd().split('\n').map((line) => {
        const [, name = '', bytes] = /^revconvert: note: (\w+) (\d+)$/.exec(line) ?? [];
        return [name, Number(bytes)];
      });
    };
    const [one, two, three] = ['one', 'two', 'three'].map(counter) as [string, string, string];
    const found = bytesOf('--filter', one, '--redelta=previous', `--filter=${two}`, '--redelta', 'none', '--filter', three);
    assert.deepEqual(found.map(([name]) => name), ['one', 'two', 'three']);
    const [first = 0, second = 0, third = 0] = found.map(([, bytes]) => bytes);
    assert.ok(second < first, 'the second changeset is a delta then');
    assert.equal(third, first, 'and whole again');
    assert.deepEqual(bytesOf('--redelta', 'previous', '--filter', one, '--filter', two), [['one', second], ['two', second]]);
    const without = bytesOf('--filter', one, '--drop-part', 'changegroup', '--filter', two);
    assert.deepEqual(without, [['one', first], ['two', 0]]);
  });

  it('--redelta none after previous gives back what came', () => {
    assertTiny(assertDone(runBundle(['--redelta', 'previous', '--redelta', 'none'], { input: IN })), 'none-v2', 'none-v2');
  });

  it('what a filter prints does not get into the bundle', () => {
    writeFileSync(scratch.at('says.mjs'), "export default { onPart() { console.log('out loud'); } };");
    const { status, stdout, stderr } = runBundle(['--filter', scratch.at('says.mjs')], { input: IN });
    assert.deepEqual([status, stderr], [0, 'out loud\n']);
    assertTiny(stdout, 'none-v2', 'none-v2');
  });

  it('one that throws: FILTER_MODULE, status 2, and no end', () => {
    writeFileSync(scratch.at('throws.mjs'), "export default { onGroup({ kind }) { if (kind === 'filelog') throw new Error('no more'); } };");
    const run = runBundle(['--filter', scratch.at('throws.mjs')], { input: IN });
    assertRefused(run, { status: 2, code: 'FILTER_MODULE', message: /throws\.mjs, group a\.txt: onGroup threw: no more/ });
    assert.equal(run.stdout.length, 0);
  });
});

describe('parts', () => {
  it('one that is mandatory and not known is refused by its name, and may be dropped', () => {
    const input = bundleOf(changegroup, mandatory);
    const run = runBundle([], { input });
    assert.match(assertRefused(run, { status: 3, code: 'PART_UNKNOWN' }), /part x-new \(9\): unknown mandatory part 'x-new'/);
    assert.match(run.stderr, /--drop-part/);
    assertParts(assertDone(runBundle(['--drop-part', 'x-new'], { input })), changegroup);
    assertParts(assertDone(runBundle(['--only-part', 'changegroup'], { input })), changegroup);
  });

  it('a stream clone of version 3 is refused by its name', () => {
    const run = runBundle([], { input: bundleOf(Buffer.concat([partHeader('STREAM3-EXP', 0, [['requirements', 'store']]), payload(Buffer.from([0]))])) });
    assertRefused(run, { status: 3, code: 'PART_UNKNOWN', message: /stream3-exp/ });
    assert.equal(run.stdout.length, 0);
  });

  it('one that is advisory passes with its parameters, into every kind that has parts', () => {
    for (const to of BUNDLE_KINDS.filter((kind) => kind.endsWith('v2'))) {
      const made = assertDone(runBundle(['--to', to], { input: bundleOf(changegroup, unknown) }));
      assert.equal(unwrap(to, made).toString('latin1'), body2(changegroup, unknown).toString('latin1'));
    }
  });

  for (const [type, part] of [['phase-heads', phaseHeads], ['obsmarkers', markers], ['x-new', mandatory]] as const) {
    it(`${type} has no room in a bundle of version 1: refused, with the way out, which works`, () => {
      const input = bundleOf(changegroup, part);
      const run = runBundle(['--to', 'none-v1'], { input });
      assertRefused(run, type === 'x-new' ? { status: 3, code: 'PART_UNKNOWN' } : { status: 3, code: 'BUNDLE_HOLDS', message: new RegExp(`a part of type ${type} has no room .*: --drop-part ${type} leaves it out`) });
      assertTiny(assertDone(runBundle(['--to', 'none-v1', '--drop-part', type], { input })), 'none-v2', 'none-v1');
    });
  }

  it('caches, and what an older program does not know, are left out of version 1 with a note', () => {
    const { status, stdout, stderr } = runBundle(['--to', 'none-v1'], { input: bundleOf(changegroup, cache, fnodes, unknown) });
    assert.equal(status, 0, stderr);
    assertTiny(stdout, 'none-v2', 'none-v1');
    const said = (type: string): string => `revconvert: note: the part ${type} is left out: the target has no room for it`;
    const anew = ', and whoever needs it makes it anew';
    assert.equal(stderr, `${said('cache:rev-branch-cache')}${anew}\n${said('hgtagsfnodes')}${anew}\n${said('x-new')}\n`);
  });

  for (const [title, input, message] of [
    ['two changegroups', bundleOf(changegroup, changegroup), /two parts of type changegroup/],
    ['none', bundleOf(), /no part of type changegroup/],
  ] as const) {
    it(`${title}: that is no bundle of version 1`, () => {
      assertRefused(runBundle(['--to', 'none-v1'], { input }), { status: 3, code: 'BUNDLE_HOLDS', message });
    });
  }

  for (const kind of BUNDLE_KINDS.filter((one) => one.endsWith('v1'))) {
    it(`${kind} is nothing without its changegroup`, () => {
      const run = runBundle(['--drop-part', 'changegroup'], { input: tinyOf(kind) });
      assertRefused(run, { status: 3, code: 'BUNDLE_HOLDS', message: /no part of type changegroup/ });
      assert.equal(run.stdout.length, 0);
      assertParts(assertDone(runBundle(['--drop-part', 'changegroup', '--to', 'none-v2'], { input: tinyOf(kind) })));
    });
  }

  it('one that interrupts another', () => {
    const bytes = changegroupOf('02', 'whole');
    const header = partHeader('CHANGEGROUP', 0, [['version', '02']], [['nbchanges', '2']]);
    const frame = (some: Buffer): Buffer => Buffer.concat([i32(some.length), some]);
    // In the middle of the chunk of the second changeset.
    const interrupted = Buffer.concat([header, frame(bytes.subarray(0, 400)), i32(-1), output, frame(bytes.subarray(400)), i32(0)]);
    const input = bundleOf(interrupted, phaseHeads);

    const { status, stdout, stderr } = runBundle(['--to', 'none-v1', '--drop-part', 'phase-heads'], { input });
    assert.equal(status, 0, stderr);
    assertTiny(stdout, 'none-v2', 'none-v1');
    assert.match(stderr, /^revconvert: note: the part output is left out/);

    assertParts(assertDone(runBundle(['--drop-part', 'output'], { input })), changegroup, phaseHeads);
    assertParts(assertDone(runBundle(['--only-part', 'output'], { input })), output);
    assertParts(assertDone(runBundle(['--drop-part', 'changegroup'], { input })), output, phaseHeads);

    const kept = unwrap('none-v2', assertDone(runBundle([], { input })));
    const at = kept.indexOf(output);
    assert.equal(kept.readInt32BE(at - 4), -1, 'it interrupts still');
    const rest = Buffer.concat([kept.subarray(header.length, at - 4), kept.subarray(at + output.length, -phaseHeads.length - 4)]);
    assert.equal(withoutFrames(rest).toString('latin1'), bytes.toString('latin1'));
  });

  it('a bundle of version 1 without a header is one of none-v1', () => {
    assertTiny(assertDone(runBundle([], { input: tinyChangegroup01() })), 'none-v1', 'none-v1');
  });

  it('an empty bundle stays one', () => {
    assertParts(assertDone(runBundle([], { input: bundleOf() })));
  });
});

/** A payload, put together from its frames. */
function withoutFrames(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readInt32BE(at);
    pieces.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return Buffer.concat(pieces);
}

describe('--max-window', function () {
  this.timeout(60_000);
  const MIB = 1 << 20;

  const long = (): Buffer => Buffer.concat([Buffer.from('HG20'), i32(14), Buffer.from('Compression=ZS'), execFileSync('zstd', ['-q', '-c', '--long=28'], { input: unwrap('none-v2', IN) })]);

  it('a stream with a window of 256 MiB is refused, and read where that is allowed', function () {
    requireZstd(this);
    const input = long();
    assertRefused(runBundle(['--to', 'none-v2'], { input }), { status: 3, code: 'WINDOW_SIZE', message: /window of 268435456 bytes, at most 134217728 are allowed/ });
    assertRefused(runBundle(['--to', 'none-v2', '--max-window', '255'], { input }), { status: 3, code: 'WINDOW_SIZE' });
    for (const args of [['--to', 'none-v2'], ['--inspect'], ['--verify']]) assert.equal(runBundle([...args, '--max-window', '256'], { input }).status, 0);
    assertTiny(assertDone(runBundle(['--to', 'none-v2', '--max-window', '256'], { input })), 'zstd-v2', 'none-v2');
  });

  it('nothing is allocated for one that is refused', async function () {
    requireZstd(this);
    const input = long();
    const before = process.memoryUsage.rss();
    await assert.rejects(
      async () => {
        for await (const items of readBundleItems(slices(input, 1000))) assert.ok(items.length > 0);
      },
      ({ code }: RevconvertError) => code === 'WINDOW_SIZE',
    );
    assert.ok(process.memoryUsage.rss() - before < 64 * MIB);
  });
});
