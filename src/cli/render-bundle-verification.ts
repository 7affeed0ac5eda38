import type { BundleVerification } from '../bundles/verify/result.js';
import { describeError } from '../errors.js';
import type { RevlogKind } from '../formats/record.js';
import { REVLOG_KINDS } from '../formats/record.js';
import { count, plural, table } from './format.js';

const NAMES: Readonly<Record<RevlogKind, string>> = { changelog: 'changesets', manifest: 'manifests', filelog: 'files' };

/**
 * What was found in a bundle, a line each.
 * @param quiet damage and warnings only
 */
export function renderBundleVerification(report: BundleVerification, quiet: boolean): string[] {
  const { damage, damages, warnings, sound, kinds, outsideBases, outsideParents } = report;
  const lines = damage.map((fault) => `${fault.code}: ${describeError(fault)}`);
  if (damages > damage.length) lines.push(`${count(damages - damage.length)} more`);
  lines.push(...warnings.map((warning) => `warning: ${warning}`));
  if (quiet) return lines;
  const rows = REVLOG_KINDS.map((kind) => {
    const { groups, revisions, checked, unresolved, unhashed, failed } = kinds[kind];
    return [NAMES[kind], count(groups), count(revisions), count(checked), count(unresolved), count(unhashed), count(failed)];
  });
  lines.push(...table([['', 'groups', 'revisions', 'hashed', 'base outside', 'not hashed', 'wrong'], ...rows]));
  if (outsideBases + outsideParents > 0) lines.push(`incremental: ${plural(outsideParents, 'parent')} and ${plural(outsideBases, 'delta base')} lie outside of the bundle`);
  lines.push(sound ? 'nothing is wrong' : `${count(damages)} ${damages === 1 ? 'thing is' : 'things are'} wrong`);
  return lines;
}
