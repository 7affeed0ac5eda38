import { makesText } from '../../delta/check-delta.js';
import { createDiffer } from '../../delta/diff.js';
import type { ErrorPlace } from '../../errors.js';
import { RevconvertError } from '../../errors.js';
import { isNullNode, NODE } from '../../formats/bundle/changegroup.js';
import type { ChangegroupRevision, Group } from '../../formats/bundle/items.js';
import { isTombstone } from '../../formats/filelog-meta.js';
import { fullReplacement, malformedDelta, replacesAll } from '../../formats/hunks.js';
import { FLAG_CENSORED } from '../../formats/revision-flags.js';
import { GroupRecords, NO_TEXT } from './group-records.js';
import { createGroupTexts } from './group-texts.js';
import type { GroupPlace } from './revision-stage.js';

export interface RebaseOptions {
  /** Bytes of texts that are held. @default 32 MiB */
  readonly cacheBytes?: number | undefined;
  /** Bytes of deltas of one group that are kept in memory; more are put into a temporary file. @default 64 MiB */
  readonly spoolBytes?: number | undefined;
}

export interface RebaserOptions extends RebaseOptions {
  /**
   * What becomes of a revision whose base would be one that was censored: Mercurial applies no delta to such a one, not even one that
   * replaces all (6.3 and 7.2, tried). `empty`: its base is the empty text, as Mercurial writes it, and so is that of the censored one;
   * `refuse`: it is an error. @default empty
   */
  readonly onCensored?: 'empty' | 'refuse' | undefined;
}

/** Gives the revisions of a group other bases: deltas are made anew, from texts, where they are not against the one wanted already. */
export interface DeltaRebaser {
  /** A group begins: its revisions come in order. */
  beginGroup(): void;
  /**
   * The next revision of the group, with the base that is wanted. One that stays as it is has to be given, too.
   * @param wanted the node of a revision that came before in the group; the null node: the empty text
   * @returns the revision itself where nothing has to change
   * @throws RevconvertError BASE_MISSING where a text is needed that is built on a revision from outside of the group; BUNDLE_HOLDS where
   *   the base was censored, and that is to be refused; DELTA_MALFORMED, NO_SPACE, PERMISSION, SYSTEM
   */
  rebase(revision: ChangegroupRevision, wanted: Uint8Array, group: Group, place: GroupPlace): ChangegroupRevision;
  close(): void;
}

export function createDeltaRebaser({ cacheBytes, spoolBytes, onCensored = 'empty' }: RebaserOptions = {}): DeltaRebaser {
  const records = new GroupRecords(spoolBytes);
  const texts = createGroupTexts(records, cacheBytes);
  const differ = createDiffer();
  /** Numbers of revisions whose flags say that they were censored. */
  const censored = new Set<number>();

  const textOf = (number: number, revision: ChangegroupRevision, wanted: Uint8Array, place: ErrorPlace): Buffer => {
    const text = texts.textOf(number);
    if (text !== undefined) return text;
    if (records.size(number) === NO_TEXT) throw malformedChain(number, records).located(place);
    throw new RevconvertError(
      'BASE_MISSING',
      `a delta against ${hex(wanted)} has to be made, and the text of ${hex(records.node(number))} is not known: it is built on a revision that is not in the bundle (the delta there is against ${hex(revision.base)})`,
      place,
    );
  };

  const baseText = (wanted: Uint8Array, revision: ChangegroupRevision, place: ErrorPlace): Buffer => {
    if (isNullNode(wanted)) return EMPTY;
    const number = records.find(wanted);
    if (number >= 0) return textOf(number, revision, wanted, place);
    throw new RevconvertError('BASE_MISSING', `a delta against ${hex(wanted)} has to be made, which does not come before in the bundle (the delta there is against ${hex(revision.base)})`, place);
  };

  /** The base of a revision that was censored, or whose base was. @throws RevconvertError BUNDLE_HOLDS */
  const soundBase = (wanted: Uint8Array, isBaseCensored: boolean, place: ErrorPlace): Uint8Array => {
    if (onCensored === 'empty') return NULL_NODE;
    if (!isBaseCensored) return wanted;
    throw new RevconvertError('BUNDLE_HOLDS', `its delta would have to be against ${hex(wanted)}, which was censored, and Mercurial applies no delta to that`, place);
  };

  /** A delta that has to be made anew. */
  const remake = (revision: ChangegroupRevision, number: number, wanted: Uint8Array, { kind }: Group, place: ErrorPlace): ChangegroupRevision => {
    const text = textOf(number, revision, wanted, place);
    const wantedText = baseText(wanted, revision, place);
    // Where there are no flags, the text tells.
    const isBaseCensored = kind === 'filelog' && isTombstone(wantedText);
    const isCensored = censored.has(number) || (kind === 'filelog' && isTombstone(text));
    const base = isBaseCensored || isCensored ? soundBase(wanted, isBaseCensored, place) : wanted;
    const baseBytes = base === wanted ? wantedText : EMPTY;
    const delta = isCensored || baseBytes.length === 0 ? fullReplacement(text, baseBytes.length) : differ.diff(baseBytes, text, { lines: kind === 'manifest' });
    if (!makesText(baseBytes, delta, text)) throw new RevconvertError('CHECK_FAILED', `the new delta against ${hex(base)} does not make the text`, place);
    return { ...revision, base, delta };
  };

  return {
    beginGroup() {
      records.clear();
      texts.clear();
      censored.clear();
    },
    rebase(revision, wanted, group, { part, group: name }) {
      const number = records.add(revision);
      const place: ErrorPlace = { part, group: name, node: hex(revision.node), offset: revision.offset };
      if ((revision.flags & FLAG_CENSORED) !== 0) censored.add(number);
      const isCensored = censored.has(number);
      const isBaseCensored = censored.has(records.find(wanted));
      const base = isCensored || isBaseCensored ? soundBase(wanted, isBaseCensored, place) : wanted;
      const isSame = equalNodes(revision.base, base) && (!isCensored || replacesAll(revision.delta, records.baseSize(base)));
      return isSame ? revision : remake(revision, number, base, group, place);
    },
    close() {
      records.close();
      texts.clear();
    },
  };
}

const NULL_NODE = new Uint8Array(NODE);

const EMPTY = Buffer.alloc(0);

const hex = (node: Uint8Array): string => Buffer.from(node).toString('hex');

const equalNodes = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** Where a chain is broken: at the first delta that is malformed. */
function malformedChain(number: number, records: GroupRecords): RevconvertError {
  for (let current = number; current >= 0; current = records.base(current)) {
    const fault = records.fault(current);
    if (fault !== undefined) return malformedDelta(fault).located({ node: hex(records.node(current)) });
  }
  return new RevconvertError('DELTA_MALFORMED', 'a delta of its chain is malformed');
}
