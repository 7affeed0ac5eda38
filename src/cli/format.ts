/** Numbers and tables as a person reads them. */

const grouped = new Intl.NumberFormat('en-US');

/** 1234567 as `1,234,567`. */
export const count = (value: number): string => grouped.format(value);

/** `1 file`, `2 files`. */
export const plural = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** Bytes in powers of 1,000, three digits: `12.5 MB`. */
export function bytes(value: number): string {
  let unit = 0;
  let scaled = value;
  while (scaled >= 999.5 && unit < UNITS.length - 1) {
    scaled /= 1000;
    unit++;
  }
  const digits = unit === 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}

/** The change from one size to another: `-12.3 %`. */
export function change(before: number, after: number): string {
  if (before === 0) return '';
  const percent = (after / before - 1) * 100;
  const digits = percent.toFixed(1);
  return Number(digits) === 0 ? '0.0 %' : `${percent > 0 ? '+' : ''}${digits} %`;
}

export function duration(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Rows in columns: the first to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
