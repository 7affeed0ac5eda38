/** A straight line through points. */
export interface Line {
  readonly slope: number;
  readonly start: number;
  /** The share of the variance that the line explains: 1 where all points lie on it. */
  readonly r2: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The line with the least squares. */
export function fitLine(points: readonly Point[]): Line {
  const mean = (value: (point: Point) => number): number => points.reduce((sum, point) => sum + value(point), 0) / points.length;
  const x = mean((point) => point.x);
  const y = mean((point) => point.y);
  const xx = mean((point) => (point.x - x) ** 2);
  const xy = mean((point) => (point.x - x) * (point.y - y));
  const yy = mean((point) => (point.y - y) ** 2);
  return { slope: xy / xx, start: y - (xy / xx) * x, r2: xy ** 2 / (xx * yy) };
}
