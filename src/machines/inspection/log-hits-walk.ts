/** Takes one life through a chart, event by event, and counts what it took. */
import type { AnyEventObject } from 'xstate';
import type { SessionEvent, SessionEventData, SessionEventType } from '../session/session-event.ts';
import type { ChartHits } from './chart-change.ts';
import { invokesOf } from './chart-reading.ts';
import { pairId } from './coverage.ts';
import type { ExploredMachine, TriedSnapshot } from './explored-machine.ts';

/** What the events of a log mean to a chart; those that are not there mean nothing. */
export type EventMeanings = { readonly [Type in SessionEventType]?: (data: SessionEventData<Type>) => void };

export function meaningOf(
  meanings: EventMeanings,
  { type }: SessionEvent,
): ((data: SessionEvent['data']) => void) | undefined {
  // Each entry takes exactly the data of its own type, which the compiler cannot see through the union.
  return meanings[type] as ((data: SessionEvent['data']) => void) | undefined;
}

export class HitCounts {
  readonly #chart: string;
  readonly #transitions = new Map<string, number>();
  readonly #pairs = new Map<string, number>();

  constructor(chart: string) {
    this.#chart = chart;
  }

  /** @param before what the same life took last @returns the id */
  count(id: string, before: string | undefined): string {
    this.#transitions.set(id, (this.#transitions.get(id) ?? 0) + 1);
    if (before !== undefined) this.#pairs.set(pairId(before, id), (this.#pairs.get(pairId(before, id)) ?? 0) + 1);
    return id;
  }

  get hits(): ChartHits {
    return {
      chart: this.#chart,
      transitions: Object.fromEntries(this.#transitions),
      pairs: Object.fromEntries(this.#pairs),
    };
  }
}

export class ChartWalk {
  readonly #machine: ExploredMachine;
  readonly #counts: HitCounts;
  #snapshot: TriedSnapshot | undefined;
  #last: string | undefined;

  constructor(machine: ExploredMachine, counts: HitCounts, input: unknown) {
    this.#machine = machine;
    this.#counts = counts;
    this.#snapshot = machine.start(input).snapshot;
  }

  /** The path of the innermost state, such as `running.stepping`; undefined where the life has ended. */
  get state(): string | undefined {
    const { status, value } = this.#snapshot ?? {};
    return status === 'active' ? pathOf(value) : undefined;
  }

  /** Nothing happens where the chart does not take it. */
  send(event: AnyEventObject): void {
    if (this.#snapshot === undefined) return;
    const { snapshot, taken } = this.#machine.step(this.#snapshot, event);
    if (snapshot === undefined || taken.length === 0) return;
    this.#snapshot = snapshot;
    for (const id of taken) this.#last = this.#counts.count(id, this.#last);
  }

  /** The invoked actor `id` of the state has answered. */
  done(id: string, output?: unknown): void {
    for (const { raw, invocation } of (this.#snapshot?._nodes ?? []).flatMap(invokesOf))
      if (invocation.id === id) this.send({ type: `xstate.done.actor.${raw}`, actorId: raw, output });
  }
}

function pathOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value as Readonly<Record<string, unknown>>)
    .map(([key, inner]) => `${key}.${pathOf(inner)}`)
    .join(' + ');
}
