/**
 * Whether what an earlier version of a chart wrote down can still be read: the configurations that its audit found, and
 * the events that led there.
 */
import type { AnyStateMachine } from 'xstate';
import { canonicalJson } from '../canonical-json.ts';
import { messageOf } from '../errors.ts';
import { compileLifecycle } from '../lifecycle.ts';
import { emptyScope } from '../xstate-internals.ts';
import type { ChartChange } from './chart-change.ts';
import type { ChartAudit } from './chart-audit.ts';
import type { ChartDescription } from './chart-description.ts';
import type { Chart } from './chart.ts';
import { describeChart } from './describe-chart.ts';
import { eventOfLabel, eventsToTry } from './explored-events.ts';
import { exploredMachine } from './explored-machine.ts';
import type { TriedSnapshot } from './explored-machine.ts';

/** The part of an audit that was written down. */
export interface EarlierAudit {
  readonly chart: Pick<ChartDescription, 'states'>;
  readonly configurations: readonly Pick<ChartAudit['configurations'][number], 'value' | 'path'>[];
}

/**
 * A major change for each configuration that does not restore, and for each path that ends elsewhere. In the order of
 * the audit.
 */
export function restoreOldSnapshots(before: EarlierAudit, chart: Chart): ChartChange[] {
  const restore = restorerOf(chart);
  const replay = replayerOf(chart);
  return before.configurations.flatMap(({ value, path }): ChartChange[] => {
    const place = nameOf(value);
    const notRestored = trouble(value, () => restore(value));
    const notReplayed = trouble(value, () => replay(path));
    const change = (kind: 'snapshot' | 'path', says: string): ChartChange => ({
      bump: 'major',
      kind,
      before: place,
      says,
    });
    return [
      ...(notRestored === undefined
        ? []
        : [change('snapshot', `What was stored in ${place} cannot be gone on with: ${notRestored}.`)]),
      ...(notReplayed === undefined
        ? []
        : [change('path', `The history ${path.join(', ') || 'without events'} led to ${place}: ${notReplayed}.`)]),
    ];
  });
}

/** Why the value that comes out is not the one that was stored; undefined when it is. */
function trouble(expected: unknown, read: () => unknown): string | undefined {
  try {
    const found = read();
    return canonicalJson(found) === canonicalJson(expected) ? undefined : `now it is ${nameOf(found)}`;
  } catch (error) {
    return messageOf(error).replace(/\.$/, '');
  }
}

type Restore = (value: unknown) => unknown;

/**
 * A compiled lifecycle knows what it can be in; any other machine is given a snapshot as it would have been persisted.
 */
function restorerOf({ machine, input }: Chart): Restore {
  try {
    const lifecycle = compileLifecycle(machine);
    return (value) => lifecycle.restoreSnapshot?.({ status: 'active', value } as never, emptyScope()).value;
  } catch {
    // It is no pure lifecycle.
    return (value) => restoredInterpreted(machine, input, value);
  }
}

function restoredInterpreted(machine: AnyStateMachine, input: unknown, value: unknown): unknown {
  const { snapshot, thrown } = exploredMachine(machine).start(input);
  if (snapshot === undefined) throw thrown;
  const persisted = { status: 'active', value, context: snapshot.context, children: {}, historyValue: {}, tags: [] };
  return (machine.restoreSnapshot(persisted as never, emptyScope()) as { readonly value: unknown }).value;
}

function replayerOf(chart: Chart): (path: readonly string[]) => unknown {
  const explored = exploredMachine(chart.machine);
  const events = eventsToTry(chart, describeChart(chart.machine, { events: chart.events ?? {} }));
  return (path) => {
    const first = explored.start(chart.input);
    const last = path.reduce<TriedSnapshot>((snapshot, label) => {
      const tried = eventOfLabel(events(snapshot), label);
      if (tried === undefined) throw new Error(`now ${label} means nothing in ${nameOf(snapshot.value)}`);
      const { snapshot: next, thrown, taken } = explored.step(snapshot, tried.event);
      if (next === undefined) throw thrown;
      if (taken.length === 0) throw new Error(`now nothing takes ${label} in ${nameOf(snapshot.value)}`);
      return next;
    }, started(first));
    return last.value;
  };
}

function started({
  snapshot,
  thrown,
}: {
  readonly snapshot: TriedSnapshot | undefined;
  readonly thrown: unknown;
}): TriedSnapshot {
  if (snapshot === undefined) throw thrown;
  return snapshot;
}

/** A value of nested states as people write it: `running.active`, and of parallel ones with a plus between them. */
function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value as Readonly<Record<string, unknown>>)
    .map(([key, inner]) =>
      typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0 ? key : `${key}.${nameOf(inner)}`,
    )
    .join(' + ');
}
