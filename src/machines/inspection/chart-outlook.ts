/**
 * What a chart takes where it is, what it does not take and why, and what happens there by itself. From its description
 * alone.
 */
import { lineageOf } from './chart-states.ts';
import type { ChartDescription, ChartEvent, ChartTransition } from './chart-description.ts';
import { candidatesFor } from './event-match.ts';

export interface OutlookState {
  /** Its path in the chart. */
  readonly id: string;
  /** What holds while in it. */
  readonly says?: string | undefined;
}

export interface OutlookWay {
  readonly transition: string;
  /** The states it leads to; none where the state stays and only something is done. */
  readonly to: readonly string[];
  /** Only where this holds, and nothing before it did. */
  readonly guard?: string | undefined;
}

interface OutlookEvent {
  readonly event: string;
  readonly kind: ChartEvent['kind'];
  readonly says?: string | undefined;
  /** Who sends it, in words. */
  readonly from?: string | undefined;
}

export interface PossibleEvent extends OutlookEvent {
  /** In the order in which they are tried. */
  readonly ways: readonly OutlookWay[];
  /** The guard that decides whether anything comes of it. Absent: something always does. */
  readonly dependsOn?: string | undefined;
}

export interface ImpossibleEvent extends OutlookEvent {
  /**
   * `final`: nothing is taken any more. `forbidden`: the state says that nothing is to come of it. `no_transition`:
   * nothing is written for it here.
   */
  readonly why: 'final' | 'forbidden' | 'no_transition';
  /** The states that would take it, the outermost of each. */
  readonly takenIn: readonly string[];
}

/** What the machine causes itself: the end of an invoked actor, a timer. */
export interface OwnStep extends OutlookWay {
  readonly event: string;
}

export interface ChartOutlook {
  readonly chart: string;
  /** Where it is, the outermost state first. */
  readonly states: readonly OutlookState[];
  /** In the order of the registry. */
  readonly possible: readonly PossibleEvent[];
  readonly impossible: readonly ImpossibleEvent[];
  readonly byItself: readonly OwnStep[];
}

/** @param leaves the states without children in which the chart is: one, but in parallel regions */
export function chartOutlook(description: ChartDescription, leaves: readonly string[]): ChartOutlook {
  const lines = leaves.map((leaf) => lineageOf(description, leaf));
  const active = [
    ...new Map(lines.flatMap((line) => line.toReversed().slice(1)).map((state) => [state.id, state])).values(),
  ];
  const judged = description.events.map((event) => judge(description, event, lines));
  return {
    chart: description.id,
    states: active.map(({ id, description: says }) => ({ id, ...(says === undefined ? {} : { says }) })),
    possible: judged.filter((each) => 'ways' in each),
    impossible: judged.filter((each) => 'why' in each),
    byItself: lines.flatMap(([leaf, ...outer]) =>
      [leaf, ...outer].flatMap((state) => (state === undefined ? [] : ownStepsOf(description, state.id))),
    ),
  };
}

type Line = ReturnType<typeof lineageOf>;

function judge(
  description: ChartDescription,
  { type: event, kind, says, from }: ChartEvent,
  lines: readonly Line[],
): PossibleEvent | ImpossibleEvent {
  const named = { event, kind, ...(says === undefined ? {} : { says }), ...(from === undefined ? {} : { from }) };
  const tried = lines.map((line) => tryOut(description, event, line));
  const taken = tried.flatMap(({ ways }) => ways);
  if (taken.length > 0) {
    const isSure = tried.some(({ ways, isSure: sure }) => sure && ways.length > 0);
    const guard = isSure ? undefined : taken.flatMap(({ guard: name }) => (name === undefined ? [] : [name]))[0];
    return { ...named, ways: taken.map(wayOf), ...(guard === undefined ? {} : { dependsOn: guard.name }) };
  }
  const isOver = lines.every(([leaf]) => leaf?.kind === 'final');
  const why = isOver ? 'final' : tried.some(({ isForbidden }) => isForbidden) ? 'forbidden' : 'no_transition';
  return { ...named, why, takenIn: statesTaking(description, event) };
}

interface Trial {
  readonly ways: readonly ChartTransition[];
  /** Whether one of them is taken whatever the guards say. */
  readonly isSure: boolean;
  readonly isForbidden: boolean;
}

/** The transitions that a state and those around it offer, up to the first that is taken in any case. */
function tryOut({ transitions }: ChartDescription, event: string, line: Line): Trial {
  const ways: ChartTransition[] = [];
  if (line[0]?.kind === 'final') return { ways, isSure: false, isForbidden: false };
  for (const { id } of line) {
    for (const transition of candidatesFor(
      event,
      transitions.filter(({ source }) => source === id),
    )) {
      if (transition.forbids) return { ways, isSure: false, isForbidden: true };
      ways.push(transition);
      if (transition.guard === undefined) return { ways, isSure: true, isForbidden: false };
    }
  }
  return { ways, isSure: false, isForbidden: false };
}

function ownStepsOf({ transitions }: ChartDescription, state: string): readonly OwnStep[] {
  return transitions
    .filter(({ source, kind }) => source === state && kind !== 'event' && kind !== 'wildcard')
    .map((transition) => ({ event: transition.event, ...wayOf(transition) }));
}

function statesTaking({ states, transitions }: ChartDescription, event: string): readonly string[] {
  return states
    .filter(({ id }) =>
      candidatesFor(
        event,
        transitions.filter(({ source }) => source === id),
      ).some(({ forbids }) => !forbids),
    )
    .map(({ id }) => id);
}

function wayOf({ id: transition, targets: to, guard }: ChartTransition): OutlookWay {
  return { transition, to, ...(guard === undefined ? {} : { guard: guard.name }) };
}
