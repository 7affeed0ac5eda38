import type { BundleRecord, InspectRecord, MarkersRecord, PartRecord, RevisionRecord } from '../bundles/inspect/records.js';
import type { Parameter } from '../formats/bundle/part-header.js';
import type { ObsMarker } from '../formats/bundle/payloads/obsmarkers.js';
import type { PhaseHead } from '../formats/bundle/payloads/phase-heads.js';
import { phaseName } from '../formats/bundle/payloads/phase-heads.js';
import { displayName } from '../repository/byte-path.js';
import { compareMarkers, renderMarker } from './render-marker.js';

/** A part that is open, and what can be printed at its end only, since it is sorted. */
interface OpenPart {
  readonly type: string;
  readonly markers: ObsMarker[];
  readonly heads: PhaseHead[];
  version: MarkersRecord | undefined;
  /** Entries that were not kept. */
  left: number;
}

/** Markers and heads of a part that are kept, in a few hundred MB. */
const MAX_KEPT = 1 << 18;

/**
 * Makes the lines that `hg debugbundle` prints (with `all`: `hg debugbundle --all`), where that can print a bundle at all: of
 * packed1 bundles, of which it prints a stack trace, what it prints of stream2.
 * @param mostKept entries of a part that are printed, where they are sorted; of more the number is
 * @returns for each record the lines that it adds, each ended with LF: Latin-1, one character a byte
 */
export function createBundleRenderer(all: boolean, mostKept = MAX_KEPT): (record: InspectRecord) => string {
  /** The innermost last. */
  const open: OpenPart[] = [];
  let indent = '';

  const indented = (lines: readonly string[]): string => lines.map((line) => `${indent}${line}\n`).join('');

  const beginBundle = ({ container, compression, parameters }: BundleRecord): string => {
    if (container !== 'HG20') return '';
    indent = '    ';
    return `Stream params: ${renderParameters([...compressionParameter(compression), ...parameters])}\n`;
  };

  const beginPart = (part: PartRecord): string => {
    open.push({ type: part.part, markers: [], heads: [], version: undefined, left: 0 });
    const isNamed = indent !== '';
    return (isNamed ? renderPart(part.part, part) : '') + indented(all && part.part === 'changegroup' ? [FORMAT] : []);
  };

  const revision = (record: RevisionRecord): string => {
    if (all) return indented([renderRevision(record)]);
    return record.kind === 'changelog' ? indented([record.node]) : '';
  };

  const endPart = (bytes: number): string => {
    const part = open.pop();
    if (part === undefined) return '';
    const heads = part.heads.sort((one, other) => one.phase - other.phase).map(({ node, phase }) => `${node} ${phaseName(phase)}`);
    const more = part.left === 0 ? [] : [`... and ${part.left} more, which --json prints`];
    if (part.version === undefined) return indented([...heads, ...more]);
    const { version, known } = part.version;
    if (!known) return indented([`unsupported version: ${version} (${bytes} bytes)`]);
    return indented([`version: ${version} (${bytes} bytes)`, ...part.markers.sort(compareMarkers).map((marker) => renderMarker(marker, version)), ...more]);
  };

  /** What is printed at the end of its part. */
  const keep = (record: InspectRecord): string => {
    const part = open.at(-1);
    if (part !== undefined && (record.record === 'marker' || record.record === 'phase-head') && part.heads.length + part.markers.length >= mostKept) part.left++;
    else if (record.record === 'phase-head') part?.heads.push(record);
    else if (record.record === 'marker') part?.markers.push(record);
    else if (record.record === 'markers' && part !== undefined) part.version = record;
    return '';
  };

  const isPacked = (): boolean => open.at(-1)?.type === 'stream1';

  return (record) => {
    switch (record.record) {
      case 'bundle':
        return beginBundle(record);
      case 'part':
        return beginPart(record);
      case 'group-start':
        return all ? `\n${indented([record.name === '' ? record.kind : record.name])}` : '';
      case 'revision':
        return revision(record);
      case 'stream':
        return isPacked() ? renderPart('packed1', streamPart(record)) : '';
      case 'file':
        return isPacked() ? `    ${record.name} ${record.bytes}\n` : '';
      case 'part-end':
        return endPart(record.bytes);
      case 'phase-head':
      case 'markers':
      case 'marker':
        return keep(record);
      case 'group':
      case 'bookmark':
      case 'branch':
      case 'tags-fnode':
      case 'total':
        return '';
    }
  };
}

const FORMAT = 'format: id, p1, p2, cset, delta base, len(delta)';

const COMPRESSIONS = { none: undefined, zlib: 'GZ', bzip2: 'BZ', zstd: 'ZS' } as const;

function compressionParameter(compression: keyof typeof COMPRESSIONS): Parameter[] {
  const value = COMPRESSIONS[compression];
  return value === undefined ? [] : [{ name: 'Compression', value }];
}

/** Sorted by name, as bytes. */
function renderParameters(parameters: readonly Parameter[]): string {
  const sorted = [...parameters].sort((one, other) => (one.name < other.name ? -1 : 1));
  return `{${sorted.map(({ name, value }) => `${name}: ${value}`).join(', ')}}`;
}

type PartLine = Pick<PartRecord, 'mandatory' | 'mandatoryParameters' | 'advisoryParameters'>;

const renderPart = (type: string, { mandatory, mandatoryParameters, advisoryParameters }: PartLine): string =>
  `${type} -- ${renderParameters([...mandatoryParameters, ...advisoryParameters])} (mandatory: ${mandatory ? 'True' : 'False'})\n`;

const streamPart = ({ files, bytes, requirements }: Extract<InspectRecord, { record: 'stream' }>): PartLine => ({
  mandatory: true,
  mandatoryParameters: [
    { name: 'bytecount', value: String(bytes) },
    { name: 'filecount', value: String(files) },
    { name: 'requirements', value: encodeURIComponent(requirements.join(',')) },
  ],
  advisoryParameters: [],
});

const renderRevision = ({ node, p1, p2, linkNode, base, deltaBytes }: RevisionRecord): string => `${node} ${p1} ${p2} ${linkNode} ${base} ${deltaBytes}`;

/** The same as a line of JSON, without its end; undefined: it says nothing that a later one does not. Names are UTF-8 where they are that. */
export const renderJsonRecord = (record: InspectRecord): string | undefined =>
  record.record === 'group-start' ? undefined : JSON.stringify(record, (_, value: unknown) => (typeof value === 'string' ? displayName(value) : value));
