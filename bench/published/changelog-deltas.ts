import type { PolicyInput } from '../../src/delta/policy-input.js';
import type { RevlogStats } from '../../src/report/revlog-stats.js';
import { collectStats } from '../../src/report/store-stats.js';
import type { DeltaSizes } from './mercurial-deltas.js';
import { sizeMercurialDeltas } from './mercurial-deltas.js';
import { bestRatio, seconds, SHORT_RUNS, timeReads } from './read-times.js';
import type { Claim, Reproduction } from './reproduction.js';
import { grouped, isLonger, percent } from './reproduction.js';
import type { Workspace } from './workspace.js';

/** Deltas as Mercurial before 4.0 made them: against the previous revision, within the limits of 3.7. */
const CHANGELOG_DELTAS: PolicyInput = { changelog: { preset: 'mercurial-3.7', deltas: true, generaldelta: false } };

const LOG = '00changelog.i';

/** Table 3: what do deltas do for the changelog? */
export async function reproduceChangelogDeltas({ bare, hg, convert, remove, rounds }: Workspace): Promise<Reproduction> {
  const { folder } = await convert(bare, { redelta: 'fulladd', policy: CHANGELOG_DELTAS });
  const sizes = async (repository: string): Promise<RevlogStats> => (await collectStats(repository, { only: 'changelog' })).kinds.changelog;
  const [withDeltas, without] = [await sizes(folder), await sizes(bare)];
  const theirs = sizeMercurialDeltas(hg, bare);
  const times = await timeReads([folder, bare], { changelog: true, runs: rounds * SHORT_RUNS });
  remove(folder);
  const forward = times(LOG, 'texts forward');
  const reverse = times(LOG, 'texts in reverse');
  const ratios: Ratios = { with: bestRatio(reverse[0], forward[0]), without: bestRatio(reverse[1], forward[1]) };
  const share = ({ fullTexts, revisions }: RevlogStats): string => percent(fullTexts.count / revisions);
  return {
    title: '3. A changelog without deltas',
    about:
      'The changelog under the rules that Mercurial had before 4.0 (a delta against the previous revision where that is good), and without deltas. Bytes of the data file, zlib. Seconds for all texts in order, median (range); published: 0.407 s became 0.390 s forward, 0.515 s became 0.400 s in reverse. ' +
      'Our deltas exchange the bytes that differ, those of Mercurial whole lines: what its own diff would come to on this history under the same rules is computed next to ours.',
    grids: [
      {
        head: ['', 'full texts', 'deltas', 'longest chain', 'bytes', 'all texts forward', 'in reverse', 'reverse to forward'],
        rows: [
          ['published, with deltas', '45.8 %', '54.2 %', '6', '7,033,250', '0.407', '0.515', '1.27'],
          ['published, without', '100 %', '0 %', '0', '6,976,771', '0.390', '0.400', '1.03'],
          ...theirRows(theirs, without.revisions),
          ['ours, deltas to the byte', share(withDeltas), percent(1 - withDeltas.fullTexts.count / withDeltas.revisions), String(withDeltas.chains.longest), grouped(withDeltas.storedBytes), seconds(forward[0]), seconds(reverse[0]), ratios.with.toFixed(2)],
          ['ours, without', share(without), percent(1 - without.fullTexts.count / without.revisions), String(without.chains.longest), grouped(without.storedBytes), seconds(forward[1]), seconds(reverse[1]), ratios.without.toFixed(2)],
        ],
      },
    ],
    claims: claimsOf(withDeltas, without, theirs, ratios),
  };
}

function theirRows(theirs: DeltaSizes | undefined, revisions: number): string[][] {
  if (theirs === undefined) return [];
  const share = theirs.fullTexts / revisions;
  return [["Mercurial's diff, this history", percent(share), percent(1 - share), String(theirs.longest), grouped(theirs.bytes), '', '', '']];
}

/** How many times as long reading in reverse takes as reading forward. */
interface Ratios {
  readonly with: number;
  readonly without: number;
}

function claimsOf(withDeltas: RevlogStats, without: RevlogStats, theirs: DeltaSizes | undefined, ratios: Ratios): Claim[] {
  const change = (bytes: number): string => percent(bytes / without.storedBytes - 1);
  const lines: Claim[] =
    theirs === undefined
      ? []
      : [
          {
            holds: theirs.bytes >= without.storedBytes,
            yes: `the deltas of Mercurial's diff save nothing (${change(theirs.bytes)} against no deltas; published 0.8 %)`,
            no: `the deltas of Mercurial's diff do save something here (${change(theirs.bytes)} against no deltas; published 0.8 %)`,
          },
        ];
  return [
    ...lines,
    {
      holds: !isLonger(ratios.without, 1),
      yes: `without deltas reverse is as fast as forward (${ratios.without.toFixed(2)} times as long; with them ${ratios.with.toFixed(2)})`,
      no: `without deltas reverse takes ${ratios.without.toFixed(2)} times as long as forward, which nothing explains but a disturbed machine`,
    },
    {
      holds: withDeltas.storedBytes >= without.storedBytes,
      yes: `our deltas save nothing either (${change(withDeltas.storedBytes)})`,
      no: `our deltas do save a little (${change(withDeltas.storedBytes)}), because they leave out what two descriptions have in common within a line, and hunks that cost more than they save`,
    },
  ];
}
