/** What the contract of an index of what is due checks, and how its cases ask. */
import type { ActivationIndex, DueQuery } from '../actors/session/activation-index.ts';
import type { SimulatedClock } from '../actors/clock/simulated-clock.ts';
import type { ContractCase } from './contract-case.ts';
import { START_MS } from './session-fixtures.ts';

export interface ActivationIndexUnderTest {
  readonly index: ActivationIndex;
  /** The same hints, seen from elsewhere, such as over a connection of its own. Default: the index itself. */
  readonly elsewhere?: ActivationIndex | undefined;
  /** The clock that both were opened with, where they need one: no timer may be left in it. */
  readonly clock?: Pick<SimulatedClock, 'pendingTimers'> | undefined;
}

/** What a case works with. */
export interface IndexOfCase {
  readonly index: ActivationIndex;
  readonly elsewhere: ActivationIndex;
  readonly pendingTimers: () => number;
  /** The causes of everything due, in order. */
  readonly causes: (query?: Partial<DueQuery>) => Promise<string[]>;
}

export const HOUR_MS = 3_600_000;

/** Everything that is due at START_MS. */
export const ALL: DueQuery = { nowMs: START_MS, limit: 1_000 };

export function indexCase(
  name: string,
  run: (subject: IndexOfCase) => Promise<void>,
): ContractCase<ActivationIndexUnderTest> {
  return {
    name,
    run: ({ index, elsewhere = index, clock }) =>
      run({
        index,
        elsewhere,
        pendingTimers: () => clock?.pendingTimers ?? 0,
        causes: async (query) =>
          (await index.due({ ...ALL, ...query })).due.flatMap(({ activations }) =>
            activations.map(({ causeId }) => causeId),
          ),
      }),
  };
}
