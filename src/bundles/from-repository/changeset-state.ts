/** What becomes of a changeset, and of the revisions that it brought. */

/** Neither the bundle nor its receiver has it. */
export const LEFT_OUT = 0;
/** It is in the bundle. */
export const SENT = 1;
/** The receiver is taken to have it. */
export const HELD = 2;
