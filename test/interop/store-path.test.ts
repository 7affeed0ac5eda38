/**
 * Compares the encoding of store paths with the functions of Mercurial itself, run inside of `hg` by a one-file
 * extension that answers one line per name.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, before, describe, it } from 'mocha';

import { decodeDirectories, encodeDirectories, encodeStorePath } from '../../src/formats/store-path.js';
import { runHgOk } from '../support/hg-session.js';
import { type Mercurial, requireMercurials } from '../support/mercurial.js';
import { createRandom } from '../support/random.js';

const EXTENSION = `
from mercurial import registrar, store
cmdtable = {}
command = registrar.command(cmdtable)
answers = {
    b'encodedir': store.encodedir,
    b'decodedir': store.decodedir,
    b'encodefilename': store.encodefilename,
    b'fncache': lambda name: store._hybridencode(name, False),
    b'dotencode': lambda name: store._hybridencode(name, True),
    b'pathencode': store._pathencode,
}
@command(b'answer-store-names', [], b'FUNCTION', norepo=True)
def answer(ui, function):
    names = ui.fin.read().split(b'\\n')
    ui.fout.write(b'\\n'.join(answers[function](name) for name in names))
`;

const FUNCTIONS = {
  encodedir: encodeDirectories,
  decodedir: decodeDirectories,
  encodefilename: (name: string) => encodeStorePath(name, 'store'),
  fncache: (name: string) => encodeStorePath(name, 'fncache'),
  dotencode: (name: string) => encodeStorePath(name, 'dotencode'),
  /** The same as `dotencode`, but Mercurial's C code, which is what it runs. */
  pathencode: (name: string) => encodeStorePath(name, 'dotencode'),
} as const satisfies Record<string, (name: string) => string>;

const RESERVED = ['aux', 'con', 'prn', 'nul', 'com1', 'com9', 'com0', 'lpt1', 'lpt9', 'lpt', 'auxx', 'AUX', 'Con'];
const TAILS = ['.i', '.d', '.hg', '.i.hg', '.', ' ', '. ', '..', '.txt', '.I', '', '_', '~'];
const PLAIN = 'abcdefghijklmnopqrstuvwxyz0123456789-';
const SPECIAL = '. _~ABCZ.:*?"<>|\\$';

function createNames(count: number): string[] {
  const random = createRandom(0x5eed);
  const pick = <T>(items: ArrayLike<T>): T => items[random(items.length)] as T;
  const anyByte = (): string => {
    const byte = 1 + random(255);
    return byte === 10 || byte === 47 ? 'x' : String.fromCharCode(byte);
  };
  const char = (): string => {
    const kind = random(20);
    if (kind < 14) return pick<string>(PLAIN);
    return kind < 19 ? pick<string>(SPECIAL) : anyByte();
  };
  const text = (length: number, unit = char): string => Array.from({ length }, unit).join('');
  const component = (): string => {
    const kind = random(8);
    if (kind === 0) return pick(RESERVED) + pick(TAILS);
    if (kind === 1) return pick(['.', ' ', '..', '.aux', ' con', '.hg', '.i', '.d']) + text(random(4));
    if (kind === 2) return text(6 + random(4), () => pick<string>(`${PLAIN}. `)) + pick(TAILS);
    if (kind === 3) return text(1 + random(70), anyByte);
    return text(1 + random(kind === 4 ? 60 : 14)) + pick(TAILS);
  };
  const longExtension = (): string => `.${text(1 + random(90), () => pick<string>(PLAIN))}`;
  const suffix = (): string => (random(10) === 0 ? longExtension() : pick(['.i', '.d', '.i', '.d', '']));
  const nasty = Array.from({ length: count }, () => {
    const components = Array.from({ length: 1 + random(random(4) === 0 ? 30 : 6) }, component);
    return `${pick(['data', 'meta'])}/${components.join('/')}${suffix()}`;
  });
  // round the limit of 120 bytes, and round that of 68 bytes for directories
  const limits = Array.from({ length: 140 }, (_, length) => [
    `data/${'a'.repeat(length + 1)}.i`,
    `data/${'B'.repeat(length + 1)}.d`,
    `data/${'c'.repeat(length + 1)}/00manifest.i`,
    `data/${'d/'.repeat(length)}${'e'.repeat(120)}.i`,
    `data/${'f'.repeat(1 + (length % 9))}/${'ghijklmno/'.repeat(length % 11)}${'p'.repeat(length % 40)}q r/${'s'.repeat(90)}.i`,
    `data/x/${'t'.repeat(100)}.${'u'.repeat(length + 1)}`,
  ]).flat();
  const bytes = Array.from({ length: 255 }, (_, index) => index + 1)
    .filter((byte) => byte !== 10 && byte !== 47)
    .map((byte) => String.fromCharCode(byte))
    .flatMap((one) => [`data/${one}`, `data/${one}/${one}.i`, `data/a${one}b/${'y'.repeat(130)}${one}.i`, `data/1234567${one}8/${'z'.repeat(130)}.d`]);
  const topLevel = ['00changelog.i', '00manifest.d', 'phaseroots', 'data/undo.backup.f.i', 'fncache', `data/${'w'.repeat(2000)}.i`];
  return [...new Set([...nasty, ...limits, ...bytes, ...topLevel])];
}

describe('store paths against Mercurial', () => {
  const names = createNames(6000);
  const input = Buffer.from(names.join('\n'), 'latin1');
  let mercurials: Mercurial[] = [];
  let folder = '';
  let extension = '';

  before(function () {
    mercurials = requireMercurials(this);
    folder = mkdtempSync(join(tmpdir(), 'revconvert-store-path-'));
    extension = join(folder, 'answer_store_names.py');
    writeFileSync(extension, EXTENSION);
  });
  after(() => {
    if (folder !== '') rmSync(folder, { recursive: true });
  });

  it('covers hashed and other names', () => {
    const hashed = names.filter((name) => encodeStorePath(name, 'dotencode').startsWith('dh/')).length;
    assert.ok(hashed > 1000 && names.length - hashed > 1000, `${hashed} of ${names.length} are hashed`);
  });

  for (const [name, ours] of Object.entries(FUNCTIONS)) {
    it(`does what ${name} does`, () => {
      for (const { hg, version } of mercurials) {
        const config = [`extensions.answer=${extension}`];
        const answers = runHgOk(hg, ['answer-store-names', name], { config, input }).split('\n');
        assert.equal(answers.length, names.length);
        names.forEach((storeName, index) => {
          assert.equal(ours(storeName), answers[index], `Mercurial ${version}: ${JSON.stringify(storeName)}`);
        });
      }
    });
  }
});
