import type { RepositoryOutcome } from '../bundles/make-repository.js';
import { bytes, count, duration } from './format.js';

/** What a repository was made of, for a person. */
export function renderRepositoryOutcome(outcome: RepositoryOutcome): string {
  const { destination, requirements, from } = outcome;
  const lines = [`made ${destination}`];
  if (from === 'stream') lines.push(`  ${count(outcome.files)} files of a store, ${bytes(outcome.bytes)}`);
  else {
    const { kinds, to, deltas } = outcome;
    lines.push(`  ${count(kinds.changelog.revisions)} changesets, ${count(kinds.manifest.revisions)} manifests, ${count(kinds.filelog.revisions)} revisions of ${count(kinds.filelog.revlogs)} files`);
    lines.push(`  ${bytes(outcome.bytes)} of ${to} revlogs in ${duration(outcome.milliseconds)}; ${count(deltas.kept)} deltas of the bundle kept, ${count(deltas.chosen)} chosen anew`);
    if (outcome.bookmarks > 0) lines.push(`  ${count(outcome.bookmarks)} bookmarks`);
    if (outcome.markers > 0) lines.push(`  ${count(outcome.markers)} obsolescence markers`);
  }
  lines.push(`  requirements: ${requirements.join(', ')}`);
  return lines.join('\n');
}
