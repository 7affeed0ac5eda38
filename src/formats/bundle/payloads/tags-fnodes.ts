import { fixedEntries, hexNode } from './entry-format.js';

/** The revision of `.hgtags` that a changeset has; 40 digits each. */
export interface TagsFnode {
  readonly changeset: string;
  readonly fileNode: string;
}

/** The payload of an hgtagsfnodes part (source: `hg help internals.bundle2`): pairs of nodes. */
export const TAGS_FNODES = fixedEntries<TagsFnode>(40, (entry) => ({ changeset: hexNode(entry, 0), fileNode: hexNode(entry, 20) }));
