import type { ErrorData } from '../errors.js';
import { describeError } from '../errors.js';
import { showable } from '../repository/byte-path.js';
import type { VerifyReport } from '../repository/verify/verify.js';
import { count, duration, plural } from './format.js';

const UNHASHED = { censored: 'censored', ellipsis: 'with their history cut', external: 'stored elsewhere' } as const;

const line = (fault: ErrorData): string => showable(`${describeError(fault)} (${fault.code})`).replace(/\s*\n\s*/g, ' ');

/** Each fault on a line, for a person and for programs that read lines. */
export const renderFaults = ({ damage, warnings }: VerifyReport): string[] => [...damage.map(line), ...warnings.map((warning) => `warning: ${line(warning)}`)];

/** What was looked at, and how it is. */
export function renderReport(report: VerifyReport): string {
  const unhashed = Object.entries(UNHASHED)
    .map(([name, what]) => ({ what, found: report.unhashed[name as keyof typeof UNHASHED] }))
    .filter(({ found }) => found > 0)
    .map(({ what, found }) => `${count(found)} ${what}`);
  return [
    `${showable(report.repository)}: ${verdict(report)}`,
    '',
    `checked       ${plural(report.changesets, 'changeset')}, ${plural(report.manifests, 'manifest')}, ${plural(report.fileRevisions, 'revision')} of ${plural(report.files, 'file')}`,
    ...(unhashed.length === 0 ? [] : [`not hashed    ${unhashed.join(', ')}`]),
    ...(report.unchecked === 0 ? [] : [`not compared  ${plural(report.unchecked, 'revision')}, since the changesets or manifests that belong to them are damaged`]),
    `time          ${duration(report.milliseconds)}, ${plural(report.jobs, 'thread')}`,
  ].join('\n');
}

function verdict({ damage, warnings }: VerifyReport): string {
  if (damage.length === 0 && warnings.length === 0) return 'sound';
  const parts = [...(damage.length > 0 ? [plural(damage.length, 'fault')] : []), ...(warnings.length > 0 ? [plural(warnings.length, 'warning')] : [])];
  return parts.join(', ');
}
