import { RevconvertError } from '../errors.js';

/** @param value undefined: not given @throws RevconvertError USAGE where it is no whole number within the bounds */
export function checkWhole(name: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return;
  throw new RevconvertError('USAGE', `${name} must be a whole number from ${least} to ${most}, found ${value}`);
}
