/** Stream clones on their way: compressed, served, converted, and refused. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

import { after, before, describe, it } from 'mocha';

import { parseBundleSpec } from '../../src/formats/bundle/spec.js';
import { writeBundleBytes } from '../../src/sinks/bundle/write-bundle.js';
import { readBundleItems } from '../../src/streams/bundle/read-bundle.js';
import { throughStages } from '../../src/streams/bundle/stage.js';
import { createStreamStage } from '../../src/transforms/bundle/convert-stream.js';
import { callHg, configArguments, hgEnvironment, hgVersion, runHgOk } from '../support/hg-session.js';
import type { Mercurial } from '../support/mercurial.js';
import { findMercurial, newestHg, requireMercurials } from '../support/mercurial.js';
import { checkSame, checkVerified, INIT, makeHistory, PACKED1, readStream, STREAM2, take, writeStream } from '../support/stream-clones.js';

const named = ({ version }: Mercurial): string => version.replaceAll('.', '-');

describe('stream clones on their way', function () {
  this.timeout(120_000);
  let root = '';
  let mercurials: Mercurial[] = [];
  const at = (name: string): string => join(root, name);
  /** Hands out the files of the folder. */
  let server: Server;
  const source = (): string => at('source');

  before(async function () {
    mercurials = requireMercurials(this);
    root = mkdtempSync(join(tmpdir(), 'revconvert-stream-clone-'));
    makeHistory(mercurials[0]?.hg ?? 'hg', source(), INIT);
    server = createServer((request, response) => createReadStream(join(root, basename(request.url ?? ''))).pipe(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => {
    server.close();
    rmSync(root, { recursive: true, force: true });
  });

  it('compressed stream2, made of packed1, is taken by each', async () => {
    await writeStream(source(), at('plain.hg'), PACKED1);
    for (const spec of ['zstd-v2;stream=v2', 'gzip-v2;stream=v2']) {
      const bundle = at(`${spec.slice(0, 4)}.hg`);
      const items = throughStages(readBundleItems(createReadStream(at('plain.hg'))), [createStreamStage(parseBundleSpec(spec))]);
      await pipeline(writeBundleBytes(items), createWriteStream(bundle));
      for (const mercurial of mercurials) {
        const { hg } = mercurial;
        assert.match(runHgOk(hg, ['debugbundle', bundle]), /^Stream params: \{Compression: (?:ZS|GZ)\}\nstream2 -- \{bytecount: \d+, filecount: \d+, requirements: generaldelta%2Crevlogv1%2Csparserevlog\} \(mandatory: True\)\n$/);
        const taken = `${bundle}-${named(mercurial)}`;
        take(hg, bundle, taken, false, INIT);
        checkVerified(hg, taken);
        checkSame(hg, source(), taken, [], false);
      }
    }
  });

  for (const [kind, spec, bundleSpec] of [
    ['packed1', PACKED1, 'none-packed1'],
    ['stream2', STREAM2, 'none-v2;stream=v2'],
    ['compressed stream2', 'zstd-v2;stream=v2', 'zstd-v2;stream=v2'],
  ] as const) {
    it(`a server hands out ${kind} as a clone bundle`, async () => {
      for (const mercurial of mercurials) {
        const { hg } = mercurial;
        const name = `${kind.replace(' ', '-')}-${named(mercurial)}`;
        await writeStream(source(), at(`${name}.hg`), spec);
        const { port } = server.address() as AddressInfo;
        writeFileSync(join(source(), '.hg', 'clonebundles.manifest'), `http://127.0.0.1:${port}/${name}.hg BUNDLESPEC=${bundleSpec};requirements%3Dgeneraldelta%2Crevlogv1%2Csparserevlog\n`);
        const output = await cloneFromServer(hg, source(), at(name));
        assert.match(output, /applying clone bundle from http:/);
        assert.match(output, /finished applying clone bundle/);
        checkVerified(hg, at(name));
        checkSame(hg, source(), at(name), [], false);
      }
    });
  }

  it('what was converted on the way there and back holds the same history', async () => {
    const [{ hg } = { hg: 'hg' }] = mercurials;
    await writeStream(source(), at('converted.hg'), PACKED1, { convert: { to: 'zstd', jobs: 1 } });
    take(hg, at('converted.hg'), at('converted'), true, ['format.revlog-compression=zstd']);
    checkVerified(hg, at('converted'));
    checkSame(hg, source(), at('converted'), [], false);
    await readStream(at('converted.hg'), at('converted-back'), { to: 'zlib', redelta: 'all', jobs: 1 });
    checkVerified(hg, at('converted-back'));
    checkSame(hg, source(), at('converted-back'), [], false);
    assert.ok(!readFileSync(at('converted-back/.hg/store/requires'), 'utf8').includes('zstd'));
  });

  it('a Mercurial that does not know a requirement refuses ours', async function () {
    const [old, newest] = [findMercurial(), newestHg()];
    if (old === undefined || newest === undefined || hgVersion(old.hg)[0] >= 7 || hgVersion(newest.hg)[0] < 7) this.skip();
    const newer = at('refused');
    makeHistory(newest.hg, newer, [...INIT, 'format.use-delta-info-flags=yes']);
    await writeStream(newer, at('refused.packed1'), PACKED1);
    await writeStream(newer, at('refused.stream2'), STREAM2);
    runHgOk(old.hg, ['init', at('refuses')]);
    for (const [command, kind] of [['debugapplystreamclonebundle', 'packed1'], ['unbundle', 'stream2']] as const) {
      const { status, output } = callHg(old.hg, [command, at(`refused.${kind}`)], { cwd: at('refuses') });
      assert.equal(status, 255);
      assert.match(output, /unable to apply stream clone: unsupported format: delta-info-revlog/);
    }
  });
});

/** Serves a repository for the time of one clone. @returns what the clone printed */
async function cloneFromServer(hg: string, source: string, clone: string): Promise<string> {
  const server = spawn(hg, [...configArguments(['extensions.clonebundles=']), '--repository', source, 'serve', '--port', '0', '--address', '127.0.0.1'], { env: hgEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const lines = createInterface({ input: server.stdout });
    let url = '';
    for await (const line of lines) {
      url = /(http:\/\/\S+)/.exec(line)?.[1] ?? '';
      if (url !== '') break;
    }
    const port = /:(\d+)\//.exec(url)?.[1] ?? '';
    const { stdout, stderr } = await promisify(execFile)(hg, [...configArguments(['ui.clonebundles=yes']), 'clone', '--noupdate', `http://127.0.0.1:${port}/`, clone], { env: hgEnvironment(), encoding: 'latin1' });
    return stdout + stderr;
  } finally {
    server.kill();
  }
}
