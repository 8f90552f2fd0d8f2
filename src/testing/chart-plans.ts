/** Random plans for a chart, which shrink by leaving steps out. */
import type { Random, Arbitrary } from 'fast-check';
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import type { ChartPlace, ChartWalk } from '../machines/inspection/chart-walk.ts';
import type { FastCheck } from './load-fast-check.ts';

export type Plan = readonly ChartStep[];

export interface PlanSource {
  readonly walk: ChartWalk;
  /** Types that can be sent. */
  readonly events: ReadonlySet<string>;
  /** Types that may come twice. */
  readonly repeats: ReadonlySet<string>;
  readonly canRestart: boolean;
  /** Ways that random plans may begin with: what is far is reached that way. */
  readonly ways: readonly Plan[];
  readonly maxSteps: number;
}

/** Long enough for a timer that should not be there. */
const IDLE_MS = 60_000;

/** Tries to find a step that moves the chart. */
const TRIES = 4;

/** Of ten steps, those that are to move the chart; time passes in one, and two are faults where there are any. */
const MOVING = 6;

export function plansOf({ Arbitrary: Base, Value, stream }: FastCheck, source: PlanSource): Arbitrary<Plan> {
  class Plans extends Base<Plan> {
    override generate(random: Random): InstanceType<typeof Value<Plan>> {
      return new Value(
        planFrom(source, (most) => random.nextInt(0, most - 1)),
        undefined,
      );
    }

    override canShrinkWithoutContext(value: unknown): value is Plan {
      return Array.isArray(value);
    }

    override shrink(plan: Plan): ReturnType<typeof stream<InstanceType<typeof Value<Plan>>>> {
      return stream(values(plan));
    }
  }
  function* values(plan: Plan): IterableIterator<InstanceType<typeof Value<Plan>>> {
    for (const shorter of shorterPlans(plan)) yield new Value(shorter, undefined);
  }
  return new Plans();
}

/** First large parts are left out, then small ones, at last each step by itself. */
function* shorterPlans(plan: Plan): IterableIterator<Plan> {
  for (let size = plan.length; size >= 1; size = Math.floor(size / 2))
    for (let from = plan.length - size; from >= 0; from -= size)
      yield [...plan.slice(0, from), ...plan.slice(from + size)];
}

/** @param below a whole number from 0 on and below its argument */
function planFrom(source: PlanSource, below: (most: number) => number): Plan {
  const { walk, ways, maxSteps } = source;
  const way = ways.length === 0 || below(2) === 0 ? [] : (ways[below(ways.length)] ?? []);
  const plan: ChartStep[] = [];
  let { place } = walk.start();
  const go = (step: ChartStep): void => {
    const walked = walk.take(place, step);
    if (walked === undefined || 'thrown' in walked) return;
    plan.push(step);
    place = walked.place;
  };
  for (const step of way.slice(0, below(way.length + 1))) go(step);
  const length = plan.length + 1 + below(maxSteps);
  for (let tries = 0; tries < 2 * maxSteps && plan.length < length; tries += 1)
    go(stepFrom(source, { place, plan }, below));
  return plan;
}

interface Planned {
  readonly place: ChartPlace;
  readonly plan: Plan;
}

function stepFrom(source: PlanSource, planned: Planned, below: (most: number) => number): ChartStep {
  const { walk, events } = source;
  const { place } = planned;
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[below(Math.max(1, items.length))];
  const sent = walk.events.filter(({ event }) => events.has(event.type));
  const steps = walk.stepsAt(place).filter((step) => step.kind !== 'event' || events.has(step.event.type));
  const dice = below(10);
  if (dice < MOVING)
    for (let tries = 0; tries < TRIES; tries += 1) {
      const step = pick(steps);
      if (step !== undefined && (walk.take(place, step)?.taken.length ?? 0) > 0) return step;
    }
  const faults = dice >= MOVING + 2 ? faultsAt(source, planned) : [];
  return (
    (dice === MOVING ? undefined : pick(faults)) ?? (dice > MOVING ? pick(sent) : undefined) ?? waitAt(place, below)
  );
}

/** To the next timer, or to the moment before it. */
function waitAt({ timers: [next] }: ChartPlace, below: (most: number) => number): ChartStep {
  const ms = next?.inMs ?? IDLE_MS;
  return { kind: 'wait', ms: ms > 1 && next !== undefined && below(2) === 0 ? ms - 1 : ms };
}

function faultsAt({ walk, canRestart, repeats }: PlanSource, { place, plan }: Planned): readonly ChartStep[] {
  const last = plan.findLast((step) => step.kind === 'event' && repeats.has(step.event.type));
  return [
    ...walk.callsAt(place).map((call): ChartStep => ({ kind: 'lost', call })),
    ...place.left.map((call): ChartStep => ({ kind: 'late', call })),
    ...(canRestart ? [{ kind: 'restart' } as const] : []),
    ...(last?.kind === 'event' ? [{ kind: 'again', event: last.event } as const] : []),
  ];
}
