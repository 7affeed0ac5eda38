import type { ErrorCode, ErrorData } from '../../errors.js';
import { RevconvertError } from '../../errors.js';
import type { FilledOptions } from '../../repository/options.js';
import { verifyRepository } from '../../repository/verify/verify.js';

/** Faults of the history itself: the bundle has what it has, and so has the repository. */
const IN_THE_HISTORY: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['DUPLICATE_NODE', 'TEXT_MALFORMED', 'LINKREV', 'FILE_LIST', 'REVISION_MISSING', 'REVISION_UNNAMED', 'COPY_SOURCE', 'REVLOG_MISSING']);

/**
 * Rebuilds the text of every revision of a repository that was made just now, and compares it with its node.
 * @returns what else is to be said: revisions that name others which are not there
 * @throws RevconvertError NODE_MISMATCH of the first revision whose text is another; CANCELLED
 */
export async function checkNodes(root: string, { jobs, signal }: Pick<FilledOptions, 'jobs' | 'signal'>): Promise<readonly ErrorData[]> {
  const { damage, warnings } = await verifyRepository(root, { jobs, signal, lock: false });
  const [first, ...others] = damage.filter(({ code }) => !IN_THE_HISTORY.has(code));
  if (first === undefined) return [...damage, ...warnings];
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw RevconvertError.fromJSON({ ...first, message: first.message + more });
}
