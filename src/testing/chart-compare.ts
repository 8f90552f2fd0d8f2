/** Compares what a real thing shows and calls with what its chart says. */
import { deepStrictEqual } from 'node:assert/strict';

export function isEqual(one: unknown, other: unknown): boolean {
  try {
    deepStrictEqual(one, other);
    return true;
  } catch {
    return false;
  }
}

/** @param spared calls that may be under way, though the chart waits for none of them */
export function callProblem(
  made: readonly string[],
  wanted: readonly string[],
  spared: readonly string[],
): string | undefined {
  const spare = [...made];
  for (const name of wanted) {
    const index = spare.indexOf(name);
    if (index === -1) return `the call ${name}, which the chart waits for and the real thing does not make`;
    spare.splice(index, 1);
  }
  const allowed = [...spared];
  for (const name of spare) {
    const index = allowed.indexOf(name);
    if (index === -1) return `the call ${name}, which the real thing makes and the chart does not invoke here`;
    allowed.splice(index, 1);
  }
  return undefined;
}
