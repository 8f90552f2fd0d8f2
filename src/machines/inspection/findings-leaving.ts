/**
 * Findings about how states are left: those that nothing leaves, that only guards leave, that lead to no end, and that
 * wait for what may never come.
 */
import type { Finding } from './chart-audit.ts';
import type { ChartState, ChartTransition } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import { leavingOf } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import type { AuditMatter } from './findings.ts';
import { listed, named, opening } from './findings.ts';

export function findingsOfLeaving(matter: AuditMatter): readonly Finding[] {
  const leaving = leavingOf(matter.index, matter.matrix);
  // A chart of one state is left by stopping its actor.
  if (matter.index.chart.states.length === 1) return [];
  return matter.index.leaves
    .filter(({ id }) => matter.reached.has(id))
    .flatMap((leaf) => {
      if (leaving.isEnd(leaf)) return [];
      const exits = leaving.exits(leaf.id);
      if (exits.length === 0) return deadEnd(matter, leaving, leaf);
      return [
        ...guardedExit(matter.index, leaf, exits),
        ...cannotTerminate(leaving, leaf),
        ...unboundedWait(matter, leaf, exits),
      ];
    });
}

/**
 * A state that stays and works is no mistake where the chart has no end; one that does nothing any more is, where the
 * chart is strict or says what may be sent to it. Elsewhere people rest in a last state that they do not call final.
 */
function deadEnd({ index, chart }: AuditMatter, { hasEnd }: Leaving, { id: state, kind }: ChartState): Finding[] {
  const lineage = index.lineage(state);
  const doesSomething = lineage.some(
    ({ id, invokes }) => invokes.length > 0 || index.transitionsOf(id).some(({ actions }) => actions.length > 0),
  );
  if (doesSomething && !hasEnd) return [];
  const isInner = kind === 'final';
  const isDeclared = chart.isStrict === true || chart.events !== undefined;
  return [
    {
      rule: 'dead-end',
      severity: isDeclared && !doesSomething ? 'error' : isDeclared || hasEnd ? 'warning' : 'note',
      state,
      says: isInner
        ? `${opening(state)} ends the states around it, and nothing goes on from there: the machine stays in it for ever.`
        : `Nothing leaves ${named(state)}, and it is not final: the machine stays in it for ever.`,
      hint: isInner
        ? 'Add onDone to the state that it ends.'
        : "Add the transition that is missing, or make the state final (type: 'final').",
    },
  ];
}

/** What happens once and is not repeated; a command that a guard refuses may be sent again. */
const HAPPENS_ONCE: readonly ChartTransition['kind'][] = [
  'invoke-done',
  'invoke-error',
  'delayed',
  'eventless',
  'done',
];

function guardedExit(index: ChartIndex, { id: state, kind }: ChartState, exits: readonly ChartTransition[]): Finding[] {
  if (kind === 'final' || exits.some(({ guard }) => guard === undefined) || isExhaustive(exits)) return [];
  const isAskedAgain = somethingChanges(index, state);
  const happensOnce = exits.every(
    (exit) => HAPPENS_ONCE.includes(exit.kind) && !(exit.kind === 'eventless' && isAskedAgain),
  );
  return [
    {
      rule: 'guarded-exit',
      severity: happensOnce ? 'warning' : 'note',
      state,
      says: `${opening(state)} is left only where a guard allows it (${listed(exits.map(({ guard, event }) => `${guard?.name ?? ''} at ${event}`))})${happensOnce ? ': when none of them holds at that moment, nothing comes after it and the machine stays for ever' : ''}.`,
      hint: 'Add a last transition without a guard, for the case that none of them holds.',
    },
  ];
}

/** While the machine stays in the state, so that guards of what needs no event are asked again, and may answer otherwise. */
function somethingChanges(index: ChartIndex, state: string): boolean {
  const besides = index.regionsBeside(state);
  return (
    index
      .lineage(state)
      .some(({ id }) =>
        index.transitionsOf(id).some(({ kind, actions }) => kind !== 'eventless' && actions.length > 0),
      ) ||
    index.chart.transitions.some(
      ({ kind, source }) => kind !== 'eventless' && besides.some(({ other }) => index.isWithin(source, other)),
    )
  );
}

/** `a` and `not(a)` at the same event: one of them holds. */
function isExhaustive(exits: readonly ChartTransition[]): boolean {
  return exits.some((one) =>
    exits.some(
      (other) =>
        one.source === other.source &&
        one.event === other.event &&
        other.guard?.name === `not(${one.guard?.name ?? ''})`,
    ),
  );
}

function cannotTerminate({ hasEnd, canEnd }: Leaving, { id: state }: ChartState): Finding[] {
  if (!hasEnd || canEnd(state)) return [];
  return [
    {
      rule: 'cannot-terminate',
      severity: 'error',
      state,
      says: `The chart has an end, and no path leads to it from ${named(state)}.`,
      hint: "Add a way out towards a final state, or, where it is meant to go on for ever, say so: waives: { 'cannot-terminate': REASON }.",
    },
  ];
}

/** Only where the events are declared: commands have senders, facts come or do not. */
function unboundedWait(
  { index, chart }: AuditMatter,
  { id: state }: ChartState,
  exits: readonly ChartTransition[],
): Finding[] {
  const facts = new Set(
    index.chart.events.filter(({ kind, isDeclared }) => kind === 'fact' && isDeclared).map(({ type }) => type),
  );
  const isBound = index
    .lineage(state)
    .some(({ id, invokes }) => invokes.length > 0 || index.transitionsOf(id).some(({ kind }) => kind === 'delayed'));
  if (isBound || !exits.every(({ kind, event }) => kind === 'event' && facts.has(event))) return [];
  const senders = [...new Set(exits.flatMap(({ event }) => chart.events?.[event]?.from ?? []))];
  return [
    {
      rule: 'unbounded-wait',
      severity: 'note',
      state,
      says: `Only facts lead out of ${named(state)} (${listed(exits.map(({ event }) => event))}): no command does, no timer, and no actor of the chart. If ${listed(senders)} never tells, it stays.`,
      hint: 'See that its sender tells it in every case, also after a crash, or give the state a limit or a command that ends it.',
    },
  ];
}
