/** Shared by all benches: rows, medians, interleaving, and the table that `npm run bench` prints. */

export interface BenchRow {
  readonly name: string;
  readonly unit: string;
  /** Median of the runs. */
  readonly value: number;
  /** Relative spread of the runs, such as "±4 %". */
  readonly spread: string;
  readonly peer?: string;
  readonly peerValue?: number;
  /** What the target speaks of; above 1 is better or worse as the target says. */
  readonly ratio?: number;
  readonly target: string;
  readonly met: boolean;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** Half the distance between the quartiles, relative to the median. */
export function spread(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return `±${((100 * (at(0.75) - at(0.25))) / 2 / median(values)).toFixed(0)} %`;
}

/** Runs A and B in turn, so that a machine that slows down slows both. Rounds before the first are warm-up. */
export async function interleave(
  rounds: number,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<{ readonly a: number[]; readonly b: number[] }> {
  const results = { a: [] as number[], b: [] as number[] };
  await a();
  await b();
  for (let round = 0; round < rounds; round += 1) {
    collectGarbage();
    results.a.push(await a());
    collectGarbage();
    results.b.push(await b());
  }
  return results;
}

/** A clean heap before each measurement; needs `--expose-gc`, which `npm run bench` passes. */
export function collectGarbage(): void {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
}

export async function repeat(rounds: number, measure: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    collectGarbage();
    values.push(await measure());
  }
  return values;
}
