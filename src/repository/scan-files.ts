import { statSync } from 'node:fs';

import type { BytePath } from '../formats/store-path.js';
import { below } from './byte-path.js';
import type { FileAction } from './file-rules.js';
import { findRule } from './file-rules.js';
import type { Repository } from './open.js';
import type { EntryKind } from './walk.js';
import { walk } from './walk.js';

/** What becomes of one file or folder of the source. */
export interface FileDecision {
  /** Below `.hg` of the source; folders without a slash. */
  readonly name: BytePath;
  /** Below `.hg` of the destination. */
  readonly targetName: BytePath;
  readonly kind: EntryKind;
  readonly action: FileAction;
  readonly why: string;
}

const NO_RULE = 'no rule for it';

/**
 * Decides about everything below `.hg`, by the table of rules. A folder that is carried, dropped or rewritten stands
 * for all that is in it.
 */
export function scanFiles(repository: Repository): FileDecision[] {
  const decisions: FileDecision[] = [];
  const entered = new Set<BytePath>();
  const take = (folder: string, start: BytePath): void => {
    for (const entry of walk(folder, start, (name) => entered.has(name))) {
      const kind = entry.kind === 'link' ? kindBehind(repository, entry.name) : entry.kind;
      const decision = decide(repository, entry.name, kind);
      if (decision.action !== 'enter') decisions.push(decision);
      else if (entry.kind === 'link') take(folder, entry.name);
      else entered.add(entry.name);
    }
  };
  take(repository.hgFolder, '');
  return decisions;
}

/**
 * A link stands for what it leads to: carried as a link, a relative one would lead nowhere, and an absolute one to what the
 * source would share. One that leads nowhere already (as locks do) stays a link.
 */
function kindBehind({ hgFolder }: Repository, name: BytePath): EntryKind {
  const found = statSync(below(hgFolder, name), { throwIfNoEntry: false });
  if (found === undefined) return 'link';
  return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'special';
}

function decide(repository: Repository, name: BytePath, kind: EntryKind): FileDecision {
  const inStore = repository.hasStore && name.startsWith('store/');
  const local = inStore ? name.slice('store/'.length) : name;
  const ruleName = kind === 'folder' ? `${local}/` : local;
  const storeRule = inStore || isStoreFile(repository, local) ? findRule('store', ruleName) : undefined;
  const rule = storeRule ?? (inStore ? undefined : findRule('hg', ruleName));
  const targetName = inStore || storeRule === undefined ? name : `store/${name}`;
  if (kind === 'special') return { name, targetName, kind, action: 'drop', why: 'neither file, folder nor link' };
  return { name, targetName, kind, action: rule?.action ?? 'unknown', why: rule?.why ?? NO_RULE };
}

/** Where there is no store its files lie in `.hg` itself. Bookmarks belong to the working copy, unless it is said otherwise. */
const isStoreFile = ({ hasStore, requirements }: Repository, name: BytePath): boolean =>
  !hasStore && (name !== 'bookmarks' || requirements.has('bookmarksinstore'));
