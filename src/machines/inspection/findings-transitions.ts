/** Findings about transitions: never taken, hidden by others, in competition with others, going in circles. */
import type { Finding } from './chart-audit.ts';
import { ROOT } from './chart-states.ts';
import type { ChartState, ChartTransition } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import type { AuditMatter } from './findings.ts';
import { commonState, isTried, listed, named, opening, spoken } from './findings.ts';
import { enteredWith, shadowedTransitions } from './reachability.ts';

export function findingsOfTransitions(matter: AuditMatter): readonly Finding[] {
  return [
    ...shadowed(matter),
    ...unused(matter),
    ...oneSidedGuards(matter),
    ...overlapping(matter),
    ...eventlessLoops(matter),
  ];
}

function shadowed({ index }: AuditMatter): Finding[] {
  return shadowedTransitions(index).map(({ shadowed: hidden, by }) => ({
    rule: 'shadowed-transition',
    severity: 'error',
    state: hidden.source,
    event: hidden.event,
    transition: hidden.id,
    says: `${opening(hidden.source)}: transition ${hidden.index + 1} of ${hidden.event} is never taken, since transition ${by.index + 1}, ${by.targets.length === 0 ? 'which stays' : `to ${listed(by.targets.map(named))}`}, has no guard and comes before it.`,
    hint: 'Put the transition without a guard last, or take out the one that is never reached.',
  }));
}

function unused(matter: AuditMatter): Finding[] {
  const { index, exploration, reach } = matter;
  const hidden = new Set(shadowedTransitions(index).map((each) => each.shadowed.id));
  const witnessed = new Set(reach.filter((each) => each.reach === 'witnessed').map(({ state }) => state));
  const open = index.chart.transitions.filter(
    ({ id, source, kind }) =>
      !exploration.taken.has(id) &&
      !hidden.has(id) &&
      kind !== 'invoke-snapshot' &&
      (source === '' || witnessed.has(source)),
  );
  // What threw when it was tried has a finding of its own, which says more.
  const told = open.filter(
    ({ source, event }) =>
      index.state(source).kind !== 'final' &&
      !exploration.failures.some(
        ({ label, leaves }) => label?.split(' ')[0] === event && leaves.some((leaf) => index.isWithin(leaf, source)),
      ),
  );
  return told.map((transition): Finding => {
    const isSure = isTried(matter, transition) && !exploration.isCut && exploration.failures.length === 0;
    return {
      rule: 'unused-transition',
      severity: isSure ? 'warning' : 'note',
      state: transition.source,
      event: transition.event,
      transition: transition.id,
      says: `${opening(transition.source)}: ${spoken(transition)} was never taken when the chart was tried out${whyNot(matter, transition)}.`,
      hint: isSure
        ? 'Take it out, or correct the guard or the state that keeps it from being taken.'
        : 'Give samples of the event, answers of the invoked actor (outputs) or an input with which it is taken.',
    };
  });
}

function whyNot({ chart, exploration, reach }: AuditMatter, transition: ChartTransition): string {
  const { id, kind, source, event, guard } = transition;
  if (kind === 'done' && source === ROOT) return ': a machine that has finished takes nothing any more';
  if (reach.find(({ state }) => state === source)?.isPassed === true && kind !== 'eventless')
    return ': the state is left at once';
  // What XState tells of spawned actors: only a sample says that it may come.
  if (event.startsWith('xstate.') && !Object.hasOwn(chart.samples ?? {}, event))
    return ': XState sends it, and there is no sample of it';
  if (guard !== undefined && exploration.explored.answers.get(id)?.hasFailed === true)
    return `: its guard ${guard.name} never held`;
  if (exploration.isCut) return ', before that was stopped';
  return guard === undefined
    ? ': other transitions always come first'
    : `: its guard ${guard.name} was never asked, since others always come first`;
}

function oneSidedGuards(matter: AuditMatter): Finding[] {
  const { index, exploration } = matter;
  const always = index.chart.transitions.filter(({ id }) => {
    const answers = exploration.explored.answers.get(id);
    return answers?.hasHeld === true && !answers.hasFailed;
  });
  return always
    .filter((transition) => isTried(matter, transition) && !exploration.isCut)
    .map(({ id, source, event, guard }) => ({
      rule: 'one-sided-guard',
      severity: 'note',
      state: source,
      event,
      transition: id,
      says: `${opening(source)}: the guard ${guard?.name ?? ''} of ${event} held whenever it was asked when the chart was tried out.`,
      hint: 'Give a sample, an answer or an input for which it does not hold, or take the guard out.',
    }));
}

function overlapping({ index, exploration }: AuditMatter): Finding[] {
  const byId = new Map(index.chart.transitions.map((transition) => [transition.id, transition]));
  return exploration.overlaps.flatMap(({ transitions, leaves, label }): Finding[] => {
    const competing = transitions.flatMap((id) => byId.get(id) ?? []);
    const [first] = competing;
    // Where all of them lead to the same, it does not matter which is taken.
    const outcomes = new Set(
      competing.map(({ targets, actions, reenters }) => JSON.stringify([targets, actions, reenters])),
    );
    if (first === undefined || outcomes.size < 2) return [];
    return [
      {
        rule: 'overlapping-transitions',
        severity: 'note',
        state: first.source,
        event: first.event,
        transition: first.id,
        says: `${opening(first.source)}: the guards ${listed(competing.map(({ guard }) => guard?.name ?? ''))} hold at the same time (seen in ${listed(leaves.map(named))} at ${label}), and lead to different things. The order decides: ${listed(
          competing.map(({ targets }) => (targets.length === 0 ? 'staying' : listed(targets.map(named)))),
          9,
        )}.`,
        hint: 'See that the order is the one that is meant, or make the guards exclude each other.',
      },
    ];
  });
}

function eventlessLoops({ index, exploration, reached }: AuditMatter): Finding[] {
  const loops = new Map<string, readonly string[]>();
  for (const leaf of index.leaves) {
    const circle = reached.has(leaf.id) ? circleFrom(index, leaf) : undefined;
    const key = circle?.toSorted().join(' ');
    if (circle !== undefined && key !== undefined && !loops.has(key)) loops.set(key, circle);
  }
  const structural = [...loops.values()].map((circle): Finding => ({
    rule: 'eventless-loop',
    severity: 'error',
    state: circle[0] ?? '',
    event: 'always',
    says: `Transitions without an event and without a guard go in a circle: ${[...circle, circle[0] ?? ''].map(named).join(' → ')}. A chart that enters it never comes back.`,
    hint: 'Give one of them a guard that fails at some time, or an event.',
  }));
  if (structural.length > 0) return structural;
  return exploration.failures
    .filter(({ isEndless }) => isEndless)
    .map(({ leaves, label, isGiven }): Finding => ({
      rule: 'eventless-loop',
      severity: isGiven ? 'error' : 'note',
      state: commonState(index, leaves),
      ...(label === undefined ? {} : { event: label.split(' ')[0] }),
      says: `In ${listed(leaves.map(named)) || 'the first state'}, ${label ?? 'the start'} starts transitions without an event, or events that the machine raises, that never come to an end.`,
      hint: 'Give one of them a guard that fails at some time.',
    }));
}

/**
 * The leaves that are gone through for ever from here, the way back included; undefined where it stops. Of parallel
 * states no region may wait, so they are left out.
 */
function circleFrom(index: ChartIndex, start: ChartState): readonly string[] | undefined {
  const gone: string[] = [];
  for (let at: ChartState | undefined = start; at !== undefined; at = nextWithoutEvent(index, at)) {
    const since = gone.indexOf(at.id);
    if (since !== -1) return gone.slice(since);
    gone.push(at.id);
  }
  return undefined;
}

function nextWithoutEvent(index: ChartIndex, leaf: ChartState): ChartState | undefined {
  const own = index
    .lineage(leaf.id)
    .flatMap(({ id }) => index.transitionsOf(id))
    .find(({ kind }) => kind === 'eventless');
  const [target] = own?.targets ?? [];
  if (
    own === undefined ||
    own.guard !== undefined ||
    target === undefined ||
    index.lineage(target).some(({ kind }) => kind === 'parallel')
  )
    return undefined;
  const entered = enteredWith(index, target);
  return index.leaves.find(({ id }) => entered.has(id));
}
