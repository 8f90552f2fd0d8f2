/** Which transitions of a chart a test run took: as data, as text, and as a floor below which a test fails. */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { RuntimeError } from '../machines/errors.ts';
import type { ChartCoverage, ChartHits } from '../machines/inspection/chart-change.ts';
import { coverageOf, pairId, refuseBadFloor } from '../machines/inspection/coverage.ts';
import { chartOf, describeChart, idsOfTaken } from '../machines/inspection/describe-chart.ts';
import type { ChartSource } from '../machines/inspection/describe-chart.ts';
import type { ChartDescription } from '../machines/inspection/chart-description.ts';
import { mergeHits } from '../machines/inspection/hits.ts';

export interface ChartCover {
  /** For actors of the chart, whatever they were provided with: `createActor(machine, { inspect: cover.inspect })`. */
  readonly inspect: (event: InspectionEvent) => void;
  /** Adds what others have seen of the chart; of other charts nothing. */
  readonly add: (hits: ChartHits) => void;
  /** How often each transition was taken, and which followed which. */
  readonly hits: ChartHits;
  /** Transitions, states, pairs and guards, each with what was seen, what there is, and the ids of what is missing. */
  readonly coverage: ChartCoverage;
  /** The same for people: one line for each share, one for each id that is missing. */
  readonly text: string;
  /**
   * Passes when every transition was taken but those in `except`, by id, each with the reason why; or when the share of
   * the others, in percent, is `floor` at least.
   * @throws RuntimeError CHART_NOT_COVERED, also for an exception without a reason, that was taken or that the chart does not have;
   *   COVERAGE_FLOOR_INVALID
   */
  readonly assert: (options?: {
    readonly except?: Readonly<Record<string, string>> | undefined;
    readonly floor?: number | undefined;
  }) => void;
  /** What `wakechart audit --coverage FILE` reads: `writeFile(file, JSON.stringify(cover))`. */
  readonly toJSON: () => { readonly format: 'chart-hits/1'; readonly charts: readonly ChartHits[] };
}

/**
 * Begins to count. One for each chart; what several processes have counted becomes one by `add`, or by a folder of
 * files for `wakechart audit --coverage DIR`.
 * @throws RuntimeError CHART_EXPECTED
 */
export function coverChart(source: ChartSource): ChartCover {
  return new CountedCover(source);
}

export class CountedCover implements ChartCover {
  readonly #description: ChartDescription;
  readonly #transitions = new Map<string, number>();
  readonly #pairs = new Map<string, number>();
  /** What each life took last. */
  readonly #last = new WeakMap<object, readonly string[]>();

  constructor(source: ChartSource) {
    const { machine, events = {} } = chartOf(source);
    this.#description = describeChart(machine, { events });
  }

  readonly inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep') return;
    const actor = event.actorRef as AnyActorRef & { readonly logic?: { readonly id?: string } };
    if (actor.logic?.id === this.#description.id) this.take(actor, idsOfTaken(event._transitions));
  };

  /** @param life what took them: only what one life does follows on what it did */
  take(life: object, ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) {
      add(this.#transitions, id, 1);
      for (const before of this.#last.get(life) ?? []) add(this.#pairs, pairId(before, id), 1);
    }
    this.#last.set(life, ids);
  }

  readonly add = ({ chart, transitions, pairs }: ChartHits): void => {
    if (chart !== this.#description.id) return;
    for (const [id, count] of Object.entries(transitions)) add(this.#transitions, id, count);
    for (const [id, count] of Object.entries(pairs)) add(this.#pairs, id, count);
  };

  get hits(): ChartHits {
    const { id: chart } = this.#description;
    const counted = {
      chart,
      transitions: Object.fromEntries(this.#transitions),
      pairs: Object.fromEntries(this.#pairs),
    };
    // In the order of their ids, so that the same run gives the same bytes.
    return mergeHits([counted])[0] ?? counted;
  }

  get coverage(): ChartCoverage {
    return coverageOf(this.#description, this.hits);
  }

  get text(): string {
    const { chart, transitions, states, pairs, guards } = this.coverage;
    const shares = Object.entries({ transitions, states, pairs, guards });
    return [
      chart,
      ...shares.map(([name, { seen, all }]) => `  ${name}: ${seen} of ${all}`),
      ...shares
        .filter(([name]) => name !== 'pairs')
        .flatMap(([name, { missing }]) => missing.map((id) => `  missing of the ${name}: ${id}`)),
    ].join('\n');
  }

  readonly assert: ChartCover['assert'] = ({ except = {}, floor = 100 } = {}) => {
    const problems = coverProblems(this.coverage, except, floor);
    if (problems.length === 0) return;
    throw new RuntimeError(
      'CHART_NOT_COVERED',
      `the run took too little of the chart "${this.#description.id}", or other than it says: ${problems.join('; ')}`,
      {
        category: 'validation',
        hint: 'Test what is missing (chartPaths has a way to it), or name it in `except` with the reason why not.',
        details: { problems, missing: this.coverage.transitions.missing },
      },
    );
  };

  readonly toJSON: ChartCover['toJSON'] = () => ({ format: 'chart-hits/1', charts: [this.hits] });
}

function coverProblems(
  { transitions: { missing, all }, unknown }: ChartCoverage,
  except: Readonly<Record<string, string>>,
  floor: number,
): readonly string[] {
  refuseBadFloor(floor);
  const wanted = missing.filter((id) => !Object.hasOwn(except, id));
  const needless = Object.keys(except).filter((id) => !missing.includes(id));
  const judged = all - Object.keys(except).length + needless.length;
  const isBelow = judged > 0 && (100 * (judged - wanted.length)) / judged < floor;
  return [
    ...(isBelow ? wanted.map((id) => `${id} was never taken`) : []),
    ...Object.entries(except).flatMap(([id, reason]) =>
      typeof reason === 'string' && reason.trim() !== '' ? [] : [`${id} is an exception without a reason`],
    ),
    ...needless.map((id) => `${id} is an exception, and was taken or is not in the chart`),
    ...unknown.map((id) => `${id} was taken, and is not in the chart`),
  ];
}

function add(counts: Map<string, number>, id: string, count: number): void {
  counts.set(id, (counts.get(id) ?? 0) + count);
}
