/**
 * Findings about what becomes of events: those that get lost, those that are unknown, and wildcards that take what was
 * not meant for them.
 */
import { closestName } from '../closest-name.ts';
import type { Finding, MatrixCell } from './chart-audit.ts';
import { ROOT } from './chart-states.ts';
import type { ChartState, ChartTransition } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import { candidatesFor, matchesEvent } from './event-match.ts';
import type { AuditMatter } from './findings.ts';
import { invokedKindsOf } from './invoked-logic.ts';
import type { KindOfInvoked } from './invoked-logic.ts';
import { listed, named, opening } from './findings.ts';

export function findingsOfEvents(matter: AuditMatter): readonly Finding[] {
  return [
    ...ignoredCommands(matter),
    ...undeclaredEvents(matter),
    ...unhandledEvents(matter),
    ...swallowingWildcards(matter),
    ...unknownSamples(matter),
  ];
}

function ignoredCommands(matter: AuditMatter): Finding[] {
  const { index, matrix, reached } = matter;
  const commands = new Set(
    index.chart.events.filter(({ kind, isDeclared }) => kind === 'command' && isDeclared).map(({ type }) => type),
  );
  const taken = new Set(matrix.filter(({ transitions }) => transitions.length > 0).map(({ event }) => event));
  const lost = matrix.filter(
    (cell) =>
      cell.class === 'ignored' &&
      commands.has(cell.event) &&
      taken.has(cell.event) &&
      reached.has(cell.state) &&
      !isPassedThrough(index, cell.state),
  );
  return lost.flatMap((cell) => {
    const witness =
      cell.beside === undefined && index.regionsBeside(cell.state).length === 0 ? [] : lostBeside(matter, cell);
    return witness === undefined ? [] : [ignoredCommand(cell, witness)];
  });
}

function ignoredCommand({ state, event }: MatrixCell, witness: readonly string[]): Finding {
  const where = witness.length === 0 ? '' : `, with ${listed(witness.map(named))} beside it`;
  return {
    rule: 'ignored-command',
    severity: 'error',
    state,
    event,
    says: `${opening(state)}${where} ignores the command ${event}: its sender is not told that nothing happens.`,
    hint: `Handle ${event} in ${named(state)} or around it, forbid it there (${event}: undefined) where doing nothing is right, or say in the state's meta why it may be ignored: waives: { 'ignored-command': { ${event}: REASON } }.`,
  };
}

/**
 * Inside a parallel state an event is lost only where none of its regions takes it. Answerable are the regions that
 * know the event at all, or the first where none does; and only a configuration that was really seen counts. @returns
 * the leaves beside it in such a configuration, undefined where there is none
 */
function lostBeside(
  { index, matrix, exploration }: AuditMatter,
  { state, event }: MatrixCell,
): readonly string[] | undefined {
  const knows = (id: string): boolean =>
    index.chart.states.some(
      (each) => index.isWithin(each.id, id) && candidatesFor(event, index.transitionsOf(each.id)).length > 0,
    );
  const isAnswerable = index.lineage(state).every(({ id, parent }) => {
    if (parent === undefined || index.state(parent).kind !== 'parallel') return true;
    const regions = index.children(parent).filter(({ kind }) => kind !== 'history');
    return regions.some((region) => knows(region.id)) ? knows(id) : regions[0]?.id === id;
  });
  if (!isAnswerable) return undefined;
  const takes = new Set(
    matrix.filter((cell) => cell.event === event && cell.transitions.length > 0).map((cell) => cell.state),
  );
  const seen = exploration.snapshots.find(
    ({ snapshot, leaves }) =>
      snapshot.status === 'active' && leaves.includes(state) && !leaves.some((leaf) => takes.has(leaf)),
  );
  return seen?.leaves.filter((leaf) => leaf !== state);
}

/** A state that is left at once, by an eventless transition without a guard, never gets an event. */
function isPassedThrough(index: ChartIndex, leaf: string): boolean {
  return index
    .lineage(leaf)
    .some(({ id }) =>
      index
        .transitionsOf(id)
        .some(({ kind, guard, targets }) => kind === 'eventless' && guard === undefined && targets.length > 0),
    );
}

function undeclaredEvents({ chart, index }: AuditMatter): Finding[] {
  if (chart.events === undefined) return [];
  return index.chart.events
    .filter(({ isDeclared }) => !isDeclared)
    .map(({ type }): Finding => {
      const users = index.chart.transitions.filter(({ kind, event }) => kind === 'event' && event === type);
      return {
        rule: 'undeclared-event',
        severity: 'error',
        state: users[0]?.source ?? ROOT,
        event: type,
        ...(users[0] === undefined ? {} : { transition: users[0].id }),
        says: `${listed(users.map(({ source }) => named(source)))} takes ${type}, which is not among the events that are declared for the chart.`,
        hint: `Declare ${type} with what it says and who sends it, or correct its name.`,
      };
    });
}

function unhandledEvents({ index, matrix }: AuditMatter): Finding[] {
  const taken = new Set(matrix.filter(({ transitions }) => transitions.length > 0).map(({ event }) => event));
  return index.chart.events
    .filter(({ type, isDeclared }) => isDeclared && !taken.has(type))
    .map(({ type, kind }): Finding => ({
      rule: 'unhandled-event',
      severity: kind === 'command' ? 'error' : 'warning',
      state: ROOT,
      event: type,
      says: `The ${kind} ${type} is declared, and no state takes it.`,
      hint: `Add the transition that is missing, or take ${type} out of the declared events.`,
    }));
}

function swallowingWildcards({ index, reached, chart }: AuditMatter): Finding[] {
  const kindOf = invokedKindsOf(chart);
  const wildcards = index.chart.transitions.filter(({ kind, source }) => kind === 'wildcard' && reached.has(source));
  return wildcards.flatMap((wildcard): Finding[] => {
    const swallowed = [...takenFromOutside(index, wildcard), ...errorsWithoutHandler(index, wildcard, kindOf)];
    if (swallowed.length === 0) return [];
    return [
      {
        rule: 'swallowing-wildcard',
        severity: 'error',
        state: wildcard.source,
        event: wildcard.event,
        transition: wildcard.id,
        says: `The wildcard ${wildcard.event} of ${named(wildcard.source)} also takes what the machine tells itself: ${listed(swallowed)}.`,
        hint: 'Write down the events that are meant instead of the wildcard, or handle the errors and ends of invoked actors in the same state as the wildcard.',
      },
    ];
  });
}

/** What outer states wait for and never get, since inner states are asked first. */
function takenFromOutside(index: ChartIndex, { source, event }: ChartTransition): string[] {
  const [self, ...outer] = index.lineage(source);
  const internal = outer
    .flatMap(({ id }) => index.transitionsOf(id))
    .filter(({ kind }) => kind !== 'event' && kind !== 'wildcard' && kind !== 'eventless');
  return internal
    .filter((each) => matchesEvent(internalType(index, each), event) && self !== undefined)
    .map((each) => `${each.event} of ${named(each.source)}`);
}

/** Errors of invoked actors that are likely to fail, that no transition handles and that would end the machine, were it not for the wildcard. */
function errorsWithoutHandler(index: ChartIndex, { source, event }: ChartTransition, kindOf: KindOfInvoked): string[] {
  const isNear = ({ id }: ChartState): boolean => index.isWithin(id, source) || index.isWithin(source, id);
  if (!matchesEvent('xstate.error.actor', event)) return [];
  return index.chart.states
    .filter(isNear)
    .flatMap(({ id, invokes }) =>
      invokes
        .filter(({ handlesError }, place) => !handlesError && ['promise', 'unknown'].includes(kindOf(id, place)))
        .map((invoke) => `error(${invoke.id}) of ${named(id)}, which no transition handles`),
    );
}

/** As much of XState's own name for the event as tells whether a wildcard takes it. */
function internalType({ chart }: ChartIndex, { kind, source }: ChartTransition): string {
  const id = source === ROOT ? chart.id : `${chart.id}.${source}`;
  if (kind === 'done') return `xstate.done.state.${id}`;
  if (kind === 'delayed') return 'xstate.after';
  if (kind === 'invoke-snapshot') return 'xstate.snapshot';
  return kind === 'invoke-done' ? 'xstate.done.actor' : 'xstate.error.actor';
}

/** Under a mistyped name they would be passed over: the chart would be tried out without them, and look broken. */
function unknownSamples({ chart: { samples = {}, outputs = {} }, index: { chart } }: AuditMatter): Finding[] {
  const { events, transitions, states } = chart;
  const types = [...events.map(({ type }) => type), ...transitions.map(({ event }) => event)];
  const invoked = states.flatMap(({ invokes }) => invokes.map(({ id }) => id));
  const isTaken = (type: string): boolean =>
    types.includes(type) || transitions.some(({ kind, event }) => kind === 'wildcard' && matchesEvent(type, event));
  const unknown = (says: string, given: string, names: readonly string[]): Finding => {
    const near = closestName(given, names);
    const hint = near === undefined ? 'Correct its name, or take it out.' : `Did you mean "${near}"?`;
    return { rule: 'unknown-sample', severity: 'warning', state: ROOT, says, hint };
  };
  return [
    ...Object.keys(samples)
      .filter((type) => !isTaken(type))
      .map((type) => unknown(`There are samples of ${type}, which no state takes.`, type, types)),
    ...Object.keys(outputs)
      .filter((id) => !invoked.includes(id))
      .map((id) => unknown(`There are outputs of ${id}, and no state invokes an actor of that id.`, id, invoked)),
  ];
}
