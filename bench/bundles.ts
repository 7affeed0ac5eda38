// How fast are bundles converted, made, received and verified, and how much memory does that take?
//
// usage: npm run bench:bundles -- [DATA] [--rounds N] [--only NAME[,NAME...]] [--print] [--provisional] [--bytes N]
//
// DATA is the folder with medium.hg (default: REVCONVERT_DATA, or ../shared/data). Prints all tables, and writes them into
// bench/RESULTS.md, between marks. --only makes some of them; --print writes nothing. --provisional marks those with times
// as measured beside other work. --bytes is the length of the bundle that does not end (2 GB), a tenth of which it is
// compared with. Everything happens below TMPDIR (1 GB; TMPDIR=/dev/shm leaves the disk out of it). Commands run in turns,
// in one order and in the other. Needs Mercurial (hg, which unbundles; HG_NEWEST for all else), the programs gzip and zstd,
// bash, and GNU time.
import { parseArgs } from 'node:util';

import { measureChangelog } from './bundles/changelog.js';
import { measureEndless } from './bundles/endless.js';
import { measureFromRepo } from './bundles/from-repo.js';
import { measurePublished } from './bundles/published-cpu.js';
import { measureRecompress } from './bundles/recompress.js';
import { measureToRepo } from './bundles/to-repo.js';
import { measureVerify } from './bundles/verify.js';
import type { Workspace } from './bundles/workspace.js';
import { createWorkspace } from './bundles/workspace.js';
import type { MakePart } from './dictionaries/part.js';
import { PART_OPTIONS, runParts } from './run-parts.js';

const PARTS: Readonly<Record<string, MakePart<Workspace>>> = {
  'recompress': measureRecompress,
  'from-repo': measureFromRepo,
  'to-repo': measureToRepo,
  'published': measurePublished,
  'changelog': measureChangelog,
  'endless': measureEndless,
  'verify': measureVerify,
};

const { values, positionals } = parseArgs({ allowPositionals: true, options: { ...PART_OPTIONS, bytes: { type: 'string', default: '2000000000' } } });
const bytes = Number(values.bytes);
await runParts(
  {
    name: 'bundles',
    parts: PARTS,
    documents: ['bench/RESULTS.md'],
    needed: ['medium.hg'],
    createWorkspace: (data, rounds) => createWorkspace(data, rounds, [bytes / 10, bytes]),
    describe: ({ hg, unbundler }) => `Mercurial ${hg.version} (${unbundler.version} unbundled the history)`,
  },
  values,
  positionals[0],
);
