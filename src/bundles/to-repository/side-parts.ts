import { RevconvertError, toRevconvertError } from '../../errors.js';
import { isNullNode,NODE } from '../../formats/bundle/changegroup.js';
import type { PartHeader } from '../../formats/bundle/part-header.js';
import { partName, partParameter } from '../../formats/bundle/part-header.js';
import { showable } from '../../repository/byte-path.js';
import type { Bookmarks } from './bookmarks.js';
import { parseBookmarks } from './bookmarks.js';
import { countMarkers } from './obsmarkers.js';
import type { Phases } from './phases.js';

/** What parts beside the changegroup have brought. */
export interface Received {
  readonly phases: Phases;
  readonly bookmarks: Map<string, Buffer | undefined>;
  /** Payloads of markers, each with its version in front. */
  readonly markers: Buffer[];
}

/** What is done with a part once it is here. */
type Action = (bytes: Buffer, part: PartHeader, received: Received) => void;

const ignore: Action = () => undefined;

/** Parts as `hg unbundle` takes them in an empty repository (6.3 and 7.2, tried). Types that end with `:` stand for all that begin so. */
const ACTIONS: Readonly<Record<string, Action>> = {
  'phase-heads': (bytes, _part, { phases }) => phases.move(bytes),
  'bookmarks': (bytes, _part, { bookmarks }) => merge(bookmarks, parseBookmarks(bytes)),
  'obsmarkers': (bytes, _part, { markers }) => {
    countMarkers(bytes);
    markers.push(bytes);
  },
  'pushkey': (_bytes, part, received) => pushKey(part, received),
  'check:heads': (bytes) => checkNoNodes(bytes, NODE, 0),
  'check:updated-heads': (bytes) => checkNoNodes(bytes, NODE, 0),
  'check:phases': (bytes) => checkNoNodes(bytes, 4 + NODE, 4),
  'check:bookmarks': (bytes) => {
    for (const [name, node] of parseBookmarks(bytes)) if (node !== undefined) throw wrongReceiver(`bookmark ${JSON.stringify(name)}`);
  },
  // Caches are made anew by whoever needs them; the others are one half of a talk between two programs.
  'hgtagsfnodes': ignore,
  'cache:rev-branch-cache': ignore,
  'listkeys': ignore,
  'pushvars': ignore,
  'replycaps': ignore,
  'reply:': ignore,
};

/** Parts that cannot be taken into a new repository, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  'stream1': 'it holds the files of a store, and no changegroup',
  'stream2': 'it holds the files of a store, and no changegroup',
  'stream3-exp': 'it holds the files of a store, and no changegroup',
  'remote-changegroup': 'its changegroup lies on a server, and is not fetched',
};

/** Bytes of a part that are held: millions of entries, far more than any repository has; of markers, which some have many of, more. */
const MAX_BYTES = 1 << 26;
const MAX_MARKER_BYTES = 1 << 28;

/** Of what a server has said, so much is shown. */
const MAX_SAID = 1 << 16;

/** Takes one part in. */
export class SidePart {
  /** What came, and room for more. */
  #bytes = Buffer.alloc(0);
  #length = 0;
  readonly #action: Action | undefined;

  /**
   * @param onNotice called with what a person should know
   * @throws RevconvertError PART_UNKNOWN, BUNDLE_HOLDS, BUNDLE_ABORTED with the part
   */
  constructor(
    private readonly part: PartHeader,
    private readonly onNotice: (notice: string) => void,
  ) {
    const { type, mandatory } = part;
    const refused = Object.hasOwn(REFUSED, type) ? REFUSED[type] : undefined;
    if (refused !== undefined) throw this.#error('BUNDLE_HOLDS', refused);
    if (type.startsWith('error:')) throw this.#error('BUNDLE_ABORTED', describeAbort(part));
    const key = Object.keys(ACTIONS).find((known) => (known.endsWith(':') ? type.startsWith(known) : known === type));
    this.#action = type === 'output' ? ((bytes) => this.#tell(bytes)) : key === undefined ? undefined : ACTIONS[key];
    if (this.#action !== undefined) return;
    if (mandatory) throw this.#error('PART_UNKNOWN', 'nothing is known of such a part, and it is mandatory');
    onNotice(`part ${showable(partName(part))} was left out: nothing is known of it, and it is not mandatory`);
  }

  /** @throws RevconvertError PART_MALFORMED: more than any repository has */
  add(bytes: Uint8Array): void {
    if (this.#action === undefined || this.#action === ignore) return;
    const { type } = this.part;
    const room = (type === 'output' ? MAX_SAID : type === 'obsmarkers' ? MAX_MARKER_BYTES : MAX_BYTES) - this.#length;
    if (bytes.length > room && type !== 'output') throw this.#error('PART_MALFORMED', `more than ${this.#length + room} bytes, which is more than any repository has`);
    this.#hold(bytes.subarray(0, room));
  }

  /** @throws RevconvertError PART_MALFORMED, REVISION_MISSING, PARENT_MISSING, BUNDLE_HOLDS, BUNDLE_VERSION with the part */
  end(received: Received): void {
    try {
      this.#action?.(this.#bytes.subarray(0, this.#length), this.part, received);
    } catch (error) {
      throw toRevconvertError(error, { part: partName(this.part) });
    }
  }

  /** Frames may be of one byte each: what comes is copied behind what came. */
  #hold(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  #tell(bytes: Buffer): void {
    for (const line of bytes.toString('utf8').split('\n')) if (line !== '') this.onNotice(`remote: ${showable(line)}`);
  }

  #error(code: RevconvertError['code'], message: string): RevconvertError {
    return new RevconvertError(code, message, { part: partName(this.part) });
  }
}

function describeAbort(part: PartHeader): string {
  const said = ['message', 'hint', 'parttype', 'params', 'in-reply-to'].flatMap((name) => partParameter(part, name) ?? []);
  return said.length === 0 ? 'it says that something failed' : showable(Buffer.from(said.join('; '), 'latin1').toString('utf8'));
}

function merge(into: Map<string, Buffer | undefined>, bookmarks: Bookmarks): void {
  for (const [name, node] of bookmarks) into.set(name, node);
}

const wrongReceiver = (what: string): RevconvertError => new RevconvertError('PARENT_MISSING', `it is for a repository that has ${what} already`);

/** Refuses a part that expects the receiver to have some revision. */
function checkNoNodes(bytes: Buffer, entryBytes: number, nodeAt: number): void {
  if (bytes.length % entryBytes !== 0) throw new RevconvertError('PART_MALFORMED', `its entries take ${entryBytes} bytes each, it has ${bytes.length}`);
  for (let at = nodeAt; at < bytes.length; at += entryBytes) if (!isNullNode(bytes, at)) throw wrongReceiver(`revision ${bytes.toString('hex', at, at + NODE)}`);
}

/** A change of one value: those of bookmarks and phases are made, as a push does. */
function pushKey(part: PartHeader, { phases, bookmarks }: Received): void {
  const [namespace, key, value] = ['namespace', 'key', 'new'].map((name) => partParameter(part, name) ?? '') as [string, string, string];
  if (namespace === 'bookmarks' && /^[0-9a-f]{40}$/.test(value)) {
    bookmarks.set(key, Buffer.from(value, 'hex'));
    return;
  }
  if (namespace !== 'phases' || !/^[0-9a-f]{40}$/.test(key) || !/^[0-2]$/.test(value)) {
    throw new RevconvertError('BUNDLE_HOLDS', `it wants to change ${JSON.stringify(key)} of ${JSON.stringify(namespace)}, which no new repository has`);
  }
  phases.move(Buffer.concat([Buffer.from([0, 0, 0, Number(value)]), Buffer.from(key, 'hex')]));
}
