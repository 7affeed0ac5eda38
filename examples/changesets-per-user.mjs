// Counts the changesets of each user in a bundle of any kind, as it comes out of a pipe; nothing is unpacked.
//
// usage:    node examples/changesets-per-user.mjs < BUNDLE
// example:  node dist/bin/revconvert.js bundle --from-repo examples/repository | node examples/changesets-per-user.mjs
// prints:   a line for each user, the one with the most changesets first
// @ts-check
import { createFilterStage, readBundleItems, throughStages } from 'revconvert';

/** @type {Map<string, number>} */
const users = new Map();
let unknown = 0;

// Texts have to be built from deltas: it is said which are wanted.
const count = createFilterStage(
  {
    texts: ['changelog'],
    onRevision(revision, group) {
      if (group.kind !== 'changelog') return undefined;
      const text = revision.text();
      // A text is unknown where it is built on a revision that is not in the bundle, which is incremental then.
      if (text === undefined) unknown++;
      // The second line of a changeset is its user.
      const user = text === undefined ? '' : (Buffer.from(text).toString().split('\n', 2)[1] ?? '');
      if (text !== undefined) users.set(user, (users.get(user) ?? 0) + 1);
      return undefined;
    },
  },
  'changesets-per-user',
);

for await (const items of throughStages(readBundleItems(process.stdin), [count])) void items;

for (const [user, changesets] of [...users].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))) console.log(`${String(changesets).padStart(7)} ${user}`);
if (unknown > 0) console.log(`${String(unknown).padStart(7)} built on changesets that are not in the bundle`);
