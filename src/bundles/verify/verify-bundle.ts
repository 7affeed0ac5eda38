import { RevconvertError } from '../../errors.js';
import type { BundleItem } from '../../formats/bundle/items.js';
import { NodeTable } from '../../formats/bundle/node-table.js';
import { partName } from '../../formats/bundle/part-header.js';
import { isStreamPart } from '../../formats/bundle/stream-items.js';
import type { BundleItems } from '../../streams/bundle/stage.js';
import { Turns } from '../../streams/turns.js';
import { ChangegroupCheck } from './changegroup-check.js';
import { createCheckCache } from './check-texts.js';
import { BundleFindings } from './findings.js';
import type { BundleVerification } from './result.js';

export interface VerifyBundleOptions {
  /** Bytes of deltas of one group that are kept in memory; more are put into a temporary file. @default 64 MiB */
  readonly spoolBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Verifies the changegroups of a bundle: resolves every text whose delta chain is in the bundle and compares it with its node,
 * and looks at what revisions refer to. What is wrong is data, and bounded in number; what the items throw is thrown: a bundle
 * that cannot be read to its end is not verified.
 * @param items of `readBundleItems`, with revisions as records
 * @throws RevconvertError what the items throw; CANCELLED; NO_SPACE, PERMISSION, SYSTEM of the temporary file; INTERNAL where chunks come; USAGE where what comes are no items of a bundle
 */
export async function verifyBundle(items: BundleItems, { spoolBytes, signal }: VerifyBundleOptions = {}): Promise<BundleVerification> {
  const findings = new BundleFindings();
  const context = { findings, changesets: new NodeTable(), cache: createCheckCache(), turns: new Turns(signal), spoolBytes };
  /** Of the parts that are open, the innermost last; undefined for those that are no changegroups. */
  const open: (ChangegroupCheck | undefined)[] = [];

  const seen = { end: false };
  let stream: string | undefined;

  const take = async (item: BundleItem): Promise<void> => {
    seen.end ||= item.type === 'end';
    const check = open.at(-1);
    if (item.type === 'part') {
      if (isStreamPart(item.part)) stream = partName(item.part);
      open.push(item.part.type === 'changegroup' ? new ChangegroupCheck(partName(item.part), context) : undefined);
    } else if (item.type === 'part-end') {
      await check?.endGroup();
      check?.close();
      open.pop();
    } else if (item.type === 'group') {
      await check?.beginGroup(item.group);
    } else if (item.type === 'revisions') {
      check?.take(item.revisions);
    } else if (item.type === 'chunks' && check !== undefined) {
      throw new RevconvertError('INTERNAL', 'revisions must be records here, not chunks');
    }
  };

  try {
    for await (const portion of items) {
      for (const item of portion) await take(item);
      await context.turns.give();
    }
    if (!seen.end) throw noItems();
    if (stream !== undefined) findings.warn(`the files of a stream clone (${stream}) were not verified: make a repository of it (--to-repo), and verify that`);
    const found = findings.finish();
    return found.changegroups > 0 || stream !== undefined ? found : { ...found, warnings: [...found.warnings, 'there is no changegroup in it: nothing was verified'] };
  } finally {
    for (const check of open) check?.close();
  }
}

/** Bytes, which are easily given in the place of items, would pass as a bundle with nothing in it. */
const noItems = (): RevconvertError => new RevconvertError('USAGE', 'the items of a whole bundle are expected, as readBundleItems gives them');
