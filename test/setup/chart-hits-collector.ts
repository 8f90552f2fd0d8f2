/**
 * Counts the transitions that actors of the sources take, and those that the sources look up in a compiled chart
 * without an actor.
 */
import type { AnyStateMachine } from 'xstate';
import type { ChartHits } from '../../src/machines/inspection/chart-change.ts';

type Counts = Map<object, number>;

interface SeenOfChart {
  readonly byActors: Counts;
  readonly checkedUp: Counts;
  readonly pairs: Map<object, Counts>;
}

export class ChartHitsCollector {
  #seen = new Map<AnyStateMachine, SeenOfChart>();
  /** What each actor took last. */
  readonly #last = new WeakMap<object, readonly object[]>();
  readonly #isOfSources: (actor: object | undefined) => boolean;

  /** @param isOfSources whether the actor, or whoever asks now where there is none, belongs to the sources */
  constructor(isOfSources: (actor: object | undefined) => boolean) {
    this.#isOfSources = isOfSources;
  }

  see(machine: AnyStateMachine, taken: readonly object[], actor?: object): void {
    if (taken.length === 0) return;
    const seen = this.#seenOf(machine);
    // Who looks up what the sources have looked up before adds nothing, and asking who it is costs more than the
    // lookup.
    if (actor === undefined ? taken.every((each) => seen.checkedUp.has(each)) : false) return;
    if (!this.#isOfSources(actor)) return;
    for (const each of taken) add(actor === undefined ? seen.checkedUp : seen.byActors, each);
    if (actor === undefined) return;
    for (const before of this.#last.get(actor) ?? []) for (const each of taken) add(countsOf(seen.pairs, before), each);
    this.#last.set(actor, taken);
  }

  #seenOf(machine: AnyStateMachine): SeenOfChart {
    const known = this.#seen.get(machine);
    if (known !== undefined) return known;
    const made: SeenOfChart = { byActors: new Map(), checkedUp: new Map(), pairs: new Map() };
    this.#seen.set(machine, made);
    return made;
  }

  /** What was seen since the last time, in the ids of the charts. */
  async taken(): Promise<ChartHits[]> {
    const seen = [...this.#seen].filter(([, { byActors, checkedUp }]) => byActors.size + checkedUp.size > 0);
    this.#seen = new Map();
    if (seen.length === 0) return [];
    // Not before there is something to say: most test files never load what this loads.
    const { transitionIds } = await import('../../src/machines/inspection/describe-chart.ts');
    return seen.map(([machine, { byActors, checkedUp, pairs }]) => {
      const ids = transitionIds(machine);
      const named = (counts: Counts): [string, number][] =>
        [...counts].flatMap(([definition, count]) => (ids.has(definition) ? [[ids.get(definition) ?? '', count]] : []));
      return {
        chart: machine.id,
        transitions: Object.fromEntries([...named(checkedUp), ...named(byActors)]),
        pairs: Object.fromEntries(
          [...pairs].flatMap(([first, seconds]) =>
            named(seconds).map(([second, count]) => [`${ids.get(first) ?? ''} > ${second}`, count]),
          ),
        ),
      };
    });
  }
}

function countsOf(pairs: Map<object, Counts>, first: object): Counts {
  const known = pairs.get(first);
  if (known !== undefined) return known;
  const made: Counts = new Map();
  pairs.set(first, made);
  return made;
}

function add(counts: Counts, key: object): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
