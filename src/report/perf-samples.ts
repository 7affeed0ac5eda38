import type { Turns } from '../streams/turns.js';
import type { Tally } from './perf-reads.js';

/** How often a benchmark is run. */
export interface SampleLimits {
  /** The most rounds that are timed. */
  readonly runs: number;
  /** Seconds of timed runs after which no further round is begun. */
  readonly seconds: number;
}

/** What the runs of one contestant took. */
export interface Samples<T = Tally> {
  /** What its runs say that they did. */
  readonly tally: T;
  /** In the order in which they were made; at least one. */
  readonly milliseconds: readonly number[];
  /** Runs before those, which do not count. */
  readonly warmUps: number;
}

type Run<T> = () => Promise<T>;

/** Warm-up goes on until it has taken as long, or for as many rounds. */
const WARM_UP: SampleLimits = { runs: 10, seconds: 0.2 };

/**
 * Times runs that are to be compared, in turns: one of each in every round, so that whatever disturbs the machine hits
 * all of them. The first rounds are warm-up and do not count, unless the very first takes longer than all are meant
 * to: then there is no other.
 * @param contestants each does its work anew whenever it is called
 * @returns the samples of each
 */
export async function sampleInTurns<T = Tally>(contestants: readonly Run<T>[], limits: SampleLimits, turns: Turns): Promise<Samples<T>[]> {
  const warmUp = await makeRounds(contestants, { ...WARM_UP, seconds: Math.min(WARM_UP.seconds, limits.seconds) }, turns);
  const isEnough = sum((warmUp[0] ?? []).map(({ milliseconds }) => milliseconds)) > limits.seconds * 1000;
  const timed = isEnough ? warmUp : await makeRounds(contestants, limits, turns);
  return contestants.map((_run, i) => {
    const own = timed.flatMap((round) => round.slice(i, i + 1));
    const [first] = own;
    if (first === undefined) throw new Error('a round without runs');
    return { tally: first.tally, milliseconds: own.map(({ milliseconds }) => milliseconds), warmUps: isEnough ? 0 : warmUp.length };
  });
}

interface TimedRun<T> {
  readonly tally: T;
  readonly milliseconds: number;
}

/** Rounds until there are enough of them, or they have taken long enough; at least one. */
async function makeRounds<T>(contestants: readonly Run<T>[], { runs, seconds }: SampleLimits, turns: Turns): Promise<TimedRun<T>[][]> {
  const rounds: TimedRun<T>[][] = [];
  for (let spent = 0; rounds.length === 0 || (rounds.length < runs && spent < seconds * 1000); ) {
    const round: TimedRun<T>[] = [];
    for (const run of contestants) {
      await turns.give();
      const started = performance.now();
      const tally = await run();
      round.push({ tally, milliseconds: performance.now() - started });
    }
    rounds.push(round);
    spent += sum(round.map(({ milliseconds }) => milliseconds));
  }
  return rounds;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The middle value; the mean of the two middle ones where their number is even; 0 where there is none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
