import type { BundleSide, BundleSummary } from '../bundles/write-items.js';
import { SPEC_NAMES } from '../formats/bundle/spec.js';
import { bytes, plural } from './format.js';

const TYPES = { HG10: 'v1', HG20: 'v2', HGS1: 'packed1' } as const;

const kindOf = ({ container, compression }: BundleSide): string => (container === undefined || compression === undefined ? 'nothing' : `${SPEC_NAMES[compression]}-${TYPES[container]}`);

/** What became of a bundle, for a person. */
export function renderBundleSummary({ from, to }: BundleSummary, output: string): string {
  const { changelog, manifest, filelog } = to.revisions;
  const revisions = `${plural(changelog, 'changeset')}, ${plural(manifest, 'manifest')}, ${plural(filelog, 'revision')} of ${plural(to.files, 'file')}`;
  const source = from.bytes > 0 ? ` from ${kindOf(from)}, ${bytes(from.bytes)}` : '';
  const lines = [`wrote ${output}: ${kindOf(to)}, ${bytes(to.bytes)}${source}`, `  parts: ${to.parts.join(', ') || 'none'}`];
  if (to.parts.includes('changegroup')) lines.push(`  ${revisions}`);
  return lines.join('\n');
}
