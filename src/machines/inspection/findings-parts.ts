/** Findings about what states and transitions are made of: invoked actors, timers, and what has no name. */
import type { Finding } from './chart-audit.ts';
import { ROOT } from './chart-states.ts';
import type { ChartOperation, ChartState } from './chart-description.ts';
import type { ChartIndex } from './chart-index.ts';
import { invokedKindsOf } from './invoked-logic.ts';
import type { KindOfInvoked } from './invoked-logic.ts';
import { leavingOf } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import type { AuditMatter } from './findings.ts';
import { opening } from './findings.ts';

export function findingsOfParts(matter: AuditMatter): readonly Finding[] {
  const { index, chart } = matter;
  const leaving = leavingOf(index, matter.matrix);
  const kindOf = invokedKindsOf(chart);
  return [
    ...index.chart.states.flatMap((state) => [
      ...invokesWithoutError(state, kindOf),
      ...invokesWithoutDone(index, leaving, state, kindOf),
    ]),
    ...timers(matter),
    ...inlineOperations(matter),
  ];
}

/** Promises fail. Of others their authors know, and most never do; what is provided later may be anything. */
const UNHANDLED = { promise: 'error', unknown: 'warning', machine: 'note', lasting: 'note' } as const;

function invokesWithoutError({ id: state, invokes }: ChartState, kindOf: KindOfInvoked): Finding[] {
  return invokes
    .map(({ id, handlesError }, place) => ({ id, handlesError, kind: kindOf(state, place) }))
    .filter(({ handlesError }) => !handlesError)
    .map(({ id, kind }) => ({
      rule: 'invoke-without-error',
      severity: UNHANDLED[kind],
      state,
      event: `error(${id})`,
      says: `${opening(state)} invokes ${id} and does not say what happens when it fails: the whole machine ends with its error.`,
      hint: `Add onError to the invocation of ${id}.`,
    }));
}

/** An actor that runs for as long as the state does needs no onDone; one whose end is the only way on does. */
function invokesWithoutDone(
  index: ChartIndex,
  { exits }: Leaving,
  { id: state, invokes }: ChartState,
  kindOf: KindOfInvoked,
): Finding[] {
  const inside = index.leaves.filter((leaf) => leaf.kind !== 'final' && index.isWithin(leaf.id, state));
  const isWaiting = inside.some((leaf) => exits(leaf.id).every(({ kind }) => kind === 'invoke-error'));
  if (!isWaiting || state === ROOT) return [];
  return invokes
    .filter(({ handlesDone }, place) => !handlesDone && kindOf(state, place) !== 'lasting')
    .map(({ id }) => ({
      rule: 'invoke-without-done',
      severity: 'warning',
      state,
      event: `done(${id})`,
      says: `${opening(state)} invokes ${id}, does not say what happens when it is done, and nothing else leads on.`,
      hint: `Add onDone to the invocation of ${id}.`,
    }));
}

function timers({ chart: { isStrict = false }, index }: AuditMatter): Finding[] {
  const delayed = index.chart.transitions.filter((each) => each.kind === 'delayed' && each.index === 0);
  return delayed.map(({ id, source, event, delay }) => ({
    rule: 'timer-not-durable',
    severity: isStrict ? 'warning' : 'note',
    state: source,
    event,
    transition: id,
    says: `${opening(source)} waits with a timer of XState (${typeof delay === 'number' ? `${delay} ms` : (delay ?? '')}): it is gone when the process ends, and a restored machine waits for ever.`,
    hint: "Keep the deadline in a record and send an event when it is due, or say why losing it does no harm: waives: { 'timer-not-durable': REASON }.",
  }));
}

function inlineOperations({ chart: { isStrict = false }, index: { chart } }: AuditMatter): Finding[] {
  const severity = isStrict ? 'error' : 'note';
  const inline = (...found: Parameters<typeof inlineIn>): Finding[] =>
    inlineIn(...found).map((finding) => ({ ...finding, severity }));
  const ofStates = chart.states.flatMap(({ id, entry, exit, invokes, initialActions = [] }) => [
    ...entry.map((operation) => inline(operation, id, 'an entry action')),
    ...exit.map((operation) => inline(operation, id, 'an exit action')),
    ...initialActions.map((operation) => inline(operation, id, 'an action of its start')),
    ...invokes.map(({ source }) => inline(source, id, 'an invoked actor')),
  ]);
  const ofTransitions = chart.transitions.flatMap(({ id, source, event, guard, actions }) => {
    const at = { event, transition: id };
    return [
      ...(guard === undefined ? [] : [inline(guard, source, `the guard of ${event}`, at)]),
      ...actions.map((operation) => inline(operation, source, `an action of ${event}`, at)),
    ];
  });
  return [...ofStates, ...ofTransitions].flat();
}

function inlineIn(
  { name, isInline }: ChartOperation,
  state: string,
  what: string,
  at: { readonly event?: string; readonly transition?: string } = {},
): Finding[] {
  if (!isInline) return [];
  return [
    {
      rule: 'inline-operation',
      severity: 'error',
      state,
      ...at,
      says: `${opening(state)}: ${what} is written in place${name === '(inline)' ? '' : ` ${name}`} and has no name.`,
      hint: 'Give it a name in setup({ guards, actions, actors }) and use the name in the chart: without one diagrams, logs and comparisons of versions cannot tell it from another.',
    },
  ];
}
