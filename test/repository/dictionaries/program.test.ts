import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, beforeEach, describe, it } from 'mocha';

import { ERROR_RULES, toRevconvertError } from '../../../src/errors.js';
import { readDictionaryId } from '../../../src/formats/zstd-dictionary.js';
import { trainDictionary,type TrainingInput } from '../../../src/repository/dictionaries/program.js';
import { codeText, fakeZstd, requireZstd } from '../../support/dictionary-files.js';
import { assertFails, Scratch } from '../support.js';

const samples = Array.from({ length: 200 }, (_, i) => codeText(i));
const input = (change: Partial<TrainingInput> = {}): TrainingInput => ({ samples, size: 2048, id: 9, ...change });

describe('training with the zstd program', () => {
  const scratch = Scratch.use();
  const kept = { ...process.env };
  beforeEach(() => {
    mkdirSync(scratch.at('tmp'));
    process.env['TMPDIR'] = scratch.at('tmp');
  });
  afterEach(() => {
    for (const name of ['PATH', 'TMPDIR']) {
      if (kept[name] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = kept[name];
    }
  });

  /** For this test `zstd` is a script. Its folder holds what the script notes down. */
  const useScript = (script: string): void => {
    process.env['PATH'] = fakeZstd(scratch.at('bin'), script);
  };
  const assertClean = (): void => assert.deepEqual(readdirSync(scratch.at('tmp')), [], 'samples were left behind');

  it('makes a dictionary with the ID, no larger than it may be; the same samples make the same one', async function () {
    requireZstd(this);
    for (const [size, id] of [[256, 1], [2048, 9], [4000, 255]] as const) {
      const dictionary = await trainDictionary(input({ size, id }));
      assert.ok(dictionary !== undefined && dictionary.length <= size);
      assert.equal(readDictionaryId(dictionary), id);
      assert.deepEqual(await trainDictionary(input({ size, id })), dictionary);
      assertClean();
    }
  });

  it('keeps the folder of samples to itself', async function () {
    requireZstd(this);
    const script = `ls -ld "$(dirname "$7")" | cut -c1-10 > ${scratch.at('modes')}; exec ${JSON.stringify('/usr/bin/env')} PATH="${process.env['PATH'] ?? ''}" zstd "$@"`;
    useScript(script);
    await trainDictionary(input());
    assert.match(readFileSync(scratch.at('modes'), 'utf8'), /^drwx------/);
  });

  for (const [title, few] of [
    ['none', []],
    ['one', [codeText(1)]],
    ['four', samples.slice(0, 4)],
    ['empty ones', Array.from({ length: 20 }, () => new Uint8Array(0))],
  ] as const) {
    it(`of ${title} it makes nothing`, async function () {
      requireZstd(this);
      assert.equal(await trainDictionary(input({ samples: few })), undefined);
      assertClean();
    });
  }

  it('without samples no program is needed', async () => {
    process.env['PATH'] = scratch.at('nowhere');
    assert.equal(await trainDictionary(input({ samples: [] })), undefined);
  });

  it('the program is not there: what to install, and that dictionaries that there are need none', async () => {
    process.env['PATH'] = '';
    await assertFails(trainDictionary(input()), { code: 'ZSTD_PROGRAM', message: /zstd.* is not there/ });
    assert.match(ERROR_RULES.ZSTD_PROGRAM.hint, /install .*apt-get install zstd.*--dict FILE needs no program/);
    assertClean();
  });

  it('the program may not be run', async () => {
    mkdirSync(scratch.at('bin'));
    writeFileSync(scratch.at('bin', 'zstd'), '#!/bin/sh\n');
    chmodSync(scratch.at('bin', 'zstd'), 0o644);
    process.env['PATH'] = scratch.at('bin');
    await assertFails(trainDictionary(input()), { code: 'ZSTD_PROGRAM', message: /zstd.* may not be run/ });
    assertClean();
  });

  const WARNING = 'WARNING: The maximum dictionary size 2048 is too large compared to the source size 73!';
  const failures: readonly (readonly [title: string, script: string, message: RegExp])[] = [
    ['fails', 'echo "zstd: something is wrong" >&2; exit 5', /failed with status 5: zstd: something is wrong$/],
    ['says nothing', 'exit 1', /failed with status 1: $/],
    ['has no room for its output, after a warning of the samples', `echo "${WARNING}" >&2; echo "Error 5 : $7 : No space left on device" >&2; exit 5`, /status 5: .*No space left/],
    ['has no memory, after a warning of the samples', `echo "${WARNING}" >&2; echo "dictionary training failed : Allocation error : not enough memory" >&2; exit 1`, /status 1: .*not enough memory/],
    ['cannot read the samples', 'echo "zstd: error reading $9 dictionary samples" >&2; exit 1', /error reading/],
    ['does not know an option', 'echo "Incorrect parameters" >&2; exit 1', /Incorrect parameters/],
    ['is killed', `echo "${WARNING}" >&2; kill -9 $$`, /was killed by SIGKILL/],
    ['crashes', 'kill -SEGV $$', /was killed by SIGSEGV/],
    ['ends well, and writes nothing', 'echo rubbish; exit 0', /wrote no dictionary/],
    ['writes a folder', 'mkdir "$7"', /wrote no dictionary: not a regular file$/],
    ['writes a FIFO', 'mkfifo "$7"', /wrote no dictionary: not a regular file$/],
    ['writes more than it may', 'head -c 2049 /dev/zero > "$7"', /wrote no dictionary: 2049 bytes; at most 2048 are expected$/],
    ['says megabytes before it fails', 'yes "much ado" 2>/dev/null | head -c 3000000 >&2; printf "\\nthe end of it\\n" >&2; exit 2', /status 2: the end of it$/],
  ];
  for (const [title, script, message] of failures) {
    it(`the program ${title}: ZSTD_PROGRAM, and nothing is left`, async () => {
      useScript(script);
      await assertFails(trainDictionary(input()), { code: 'ZSTD_PROGRAM', message });
      assertClean();
    });
  }

  for (const [title, script] of [
    ['rubbish', 'printf rubbishrubbish > "$7"'],
    ['nothing', ': > "$7"'],
    ['a dictionary with another ID', 'printf "\\067\\244\\060\\354\\001\\000\\000\\000rubbish" > "$7"'],
    ['that there are too few samples', 'echo "Error 14 : nb of samples too low" >&2; exit 14'],
    ['that training failed', 'echo "dictionary training failed : Src size is incorrect" >&2; exit 1'],
  ] as const) {
    it(`the program makes ${title}: no dictionary`, async () => {
      useScript(script);
      assert.equal(await trainDictionary(input()), undefined);
      assertClean();
    });
  }

  it('gives the program one file a sample, and a list of them in order', async () => {
    useScript(`shift; while [ "$1" != --filelist ]; do shift; done; cat "$2" | while read -r f; do cat "$f"; done > ${scratch.at('all')}; wc -l < "$2" > ${scratch.at('count')}`);
    await assertFails(trainDictionary(input()), { code: 'ZSTD_PROGRAM', message: /wrote no dictionary/ });
    assert.deepEqual(readFileSync(scratch.at('all')), Buffer.concat(samples));
    assert.equal(Number(readFileSync(scratch.at('count'), 'utf8')), samples.length);
  });

  for (const [title, script] of [
    ['the program', 'exec sleep 60'],
    ['one that ignores requests', "trap '' TERM INT; while :; do sleep 0.05; done"],
    ['one that waits for another', 'sleep 60'],
  ] as const) {
    it(`an abort kills ${title}, and nothing is left`, async () => {
      useScript(`echo $$ > ${scratch.at('pid')}; ${script}`);
      const controller = new AbortController();
      const training = trainDictionary(input({ signal: controller.signal }));
      training.catch(() => undefined);
      while (!existsSync(scratch.at('pid')) || readFileSync(scratch.at('pid'), 'utf8') === '') await delay(5);
      await delay(50);
      controller.abort();
      await assertFails(training, { code: 'CANCELLED' });
      assert.throws(() => process.kill(Number(readFileSync(scratch.at('pid'), 'utf8')), 0), { code: 'ESRCH' }, 'it still runs');
      assertClean();
    });
  }

  it('an abort before it begins starts nothing', async () => {
    useScript(`echo started > ${scratch.at('pid')}`);
    await assert.rejects(trainDictionary(input({ signal: AbortSignal.abort() })), (error) => toRevconvertError(error).code === 'CANCELLED');
    assert.equal(existsSync(scratch.at('pid')), false);
    assertClean();
  });

  it('a folder for samples that cannot be made is an error with its place', async () => {
    process.env['TMPDIR'] = scratch.at('nowhere');
    process.env['PATH'] = [scratch.at('bin'), kept['PATH']].join(delimiter);
    await assertFails(trainDictionary(input()), { code: 'SYSTEM', path: scratch.at('nowhere', 'revconvert-dictionary-XXXXXX') });
  });

  it('samples that there is no room for are an error with its place, and nothing is left', () => {
    const script = `import { trainDictionary } from ${JSON.stringify(new URL('../../../src/repository/dictionaries/program.js', import.meta.url).href)};
      await trainDictionary({ samples: [new Uint8Array(10), new Uint8Array(10_000)], size: 256, id: 1 }).catch(({ code, at }) => console.log(code, at.path));`;
    // A limit of 1,024 or 512 bytes a file, by the shell.
    const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -f 1; exec "$0" --input-type=module --eval "$1"', process.execPath, script], { encoding: 'utf8' });
    assert.match(stdout, /^NO_SPACE .*\/tmp\/revconvert-dictionary-\w+\/1\n$/, stderr);
    assertClean();
  });
});
