/**
 * Gives deltas to Mercurial's own patcher, inside of `hg`, and compares their sizes with those of the deltas that Mercurial
 * makes of the same texts.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';

import { before, describe, it } from 'mocha';

import { createDiffer } from '../../src/delta/diff.js';
import { foldChain } from '../../src/delta/fold-chain.js';
import { runHgOk } from '../support/hg-session.js';
import { type Mercurial, requireMercurials } from '../support/mercurial.js';
import { createRandom } from '../support/random.js';
import { useTempFolder } from '../support/temp-folder.js';

/** Reads bases, texts and deltas, each behind its length; answers with a line for each three. */
const EXTENSION = `
import struct
from mercurial import mdiff, registrar
cmdtable = {}
command = registrar.command(cmdtable)
textdiff = getattr(mdiff, 'textdiff', None) or mdiff.storage_diff
@command(b'answer-deltas', [], b'', norepo=True)
def answer(ui):
    data = ui.fin.read()
    parts = []
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from('>i', data, at)
        parts.append(data[at + 4:at + 4 + length])
        at += 4 + length
    for base, text, delta in zip(parts[0::3], parts[1::3], parts[2::3]):
        sound = mdiff.patches(base, [delta]) == text
        ui.fout.write(b'%s %d\\n' % (b'same' if sound else b'other', len(textdiff(base, text))))
`;

interface Sample {
  readonly base: Buffer;
  readonly text: Buffer;
  readonly delta: Uint8Array;
}

const REVISIONS = 300;

/** Texts like source code: lines that stand in many places, and edits near each other and apart. */
function createSources(): Buffer[] {
  const random = createRandom(0xf00d);
  const line = (): string =>
    ['', '}', '    return 0;', `    call_${random(40)}(first, second);`, `    value_${random(1000)} = ${random(100)} + other;`, `// remark ${random(1e9)} about it`][random(6)] ?? '';
  let lines = Array.from({ length: 400 }, line);
  return Array.from({ length: REVISIONS }, (_, rev) => {
    for (let edits = 1 + random(6); edits > 0; edits--) {
      lines.splice(random(lines.length), random(4), ...Array.from({ length: random(5) }, line));
    }
    if (rev % 20 === 7) lines = [...lines.slice(150), ...lines.slice(0, 150)];
    const end = rev % 9 === 3 ? '' : '\n';
    return Buffer.from(lines.join('\n') + end);
  });
}

/** Manifests of some hundred files, of which a few change, come and go. */
function createManifests(): Buffer[] {
  const random = createRandom(0xbeef);
  const node = (): string => Array.from({ length: 5 }, () => random(2 ** 32).toString(16).padStart(8, '0')).join('');
  const files = new Map(Array.from({ length: 500 }, (_, i) => [`folder${i % 11}/file${i}`, node()]));
  return Array.from({ length: REVISIONS }, (_, rev) => {
    const names = [...files.keys()];
    for (let edits = 1 + random(4); edits > 0; edits--) files.set(names[random(names.length)] ?? '', node());
    if (rev % 5 === 0) files.delete(names[random(names.length)] ?? '');
    if (rev % 3 === 0) files.set(`folder${random(11)}/new${rev}`, node());
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
    return Buffer.from(sorted.map(([name, id]) => `${name}\0${id}\n`).join(''));
  });
}

const differ = createDiffer();

const inRow = (texts: readonly Buffer[], lines: boolean): Sample[] =>
  texts.slice(1).map((text, i) => {
    const base = texts[i] ?? Buffer.alloc(0);
    return { base, text, delta: differ.diff(base, text, { lines }) };
  });

/** What twenty deltas in a row make together. */
function folded(samples: readonly Sample[]): Sample[] {
  return samples.flatMap(({ base }, i) => {
    const row = samples.slice(i, i + 20);
    const text = row.at(-1)?.text ?? base;
    return i % 20 === 0 ? [{ base, text, delta: foldChain(row.map(({ delta }) => delta)) }] : [];
  });
}

const withLength = (bytes: Uint8Array): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

describe('deltas against Mercurial', () => {
  const useFolder = useTempFolder();
  let mercurials: Mercurial[] = [];

  before(function () {
    mercurials = requireMercurials(this);
  });

  const [sources, manifests] = [createSources(), createManifests()];
  const edges = ['', 'a', 'a\n', 'a\nb', 'a\nb\n', 'b\na\n', '\n', '\n\n'].map((text) => Buffer.from(text));
  const odd = edges.flatMap((base) => edges.flatMap((text) => [true, false].map((lines) => ({ base, text, delta: differ.diff(base, text, { lines }) }))));

  const suites: readonly (readonly [title: string, samples: readonly Sample[], mostOfTheirs: number])[] = [
    ['sources by bytes', inRow(sources, false), 0.95],
    ['sources by lines', inRow(sources, true), 1.005],
    ['manifests by bytes', inRow(manifests, false), 0.9],
    ['manifests by lines', inRow(manifests, true), 1],
    ['short texts', odd, 1],
    ['sources, twenty deltas folded', folded(inRow(sources, false)), Infinity],
    ['manifests, twenty deltas folded', folded(inRow(manifests, true)), Infinity],
  ];
  for (const [title, samples, mostOfTheirs] of suites) {
    it(`${title}: Mercurial makes the same texts${mostOfTheirs < Infinity ? `, and its deltas are no smaller (${mostOfTheirs})` : ''}`, () => {
      const extension = useFolder('answer_deltas.py');
      writeFileSync(extension, EXTENSION);
      const input = Buffer.concat(samples.flatMap(({ base, text, delta }) => [base, text, delta].map(withLength)));
      for (const { hg, version } of mercurials) {
        const answers = runHgOk(hg, ['answer-deltas'], { config: [`extensions.answer=${extension}`], input }).trimEnd().split('\n');
        assert.equal(answers.length, samples.length);
        answers.forEach((answer, i) => assert.ok(answer.startsWith('same '), `Mercurial ${version}: another text, delta ${i}`));
        const ours = samples.reduce((sum, { delta }) => sum + delta.length, 0);
        const theirs = answers.reduce((sum, answer) => sum + Number(answer.split(' ')[1]), 0);
        assert.ok(ours <= theirs * mostOfTheirs, `Mercurial ${version}: ${ours} bytes, its own ${theirs}`);
      }
    });
  }
});
