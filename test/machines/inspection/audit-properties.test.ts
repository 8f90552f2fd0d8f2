import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyActorRef } from 'xstate';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import type { Chart } from '../../../src/machines/inspection/chart.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import { idOf } from '../../../src/machines/inspection/chart-reading.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { replayPath } from '../../../src/machines/inspection/explore-chart.ts';
import { eventOfLabel, eventsToTry } from '../../../src/machines/inspection/explored-events.ts';
import type { EventsOfChart } from '../../../src/machines/inspection/explored-events.ts';
import type { TriedSnapshot } from '../../../src/machines/inspection/explored-machine.ts';
import { disagreements } from './chart-agreement.ts';
import { modelRuns } from '../../support/model-runs.ts';
import { FEW, calmChart, randomChart, stillActor } from './random-machines.ts';

const RUNS = modelRuns(12);

const snapshotOf = (actor: AnyActorRef): TriedSnapshot => actor.getSnapshot() as TriedSnapshot;
const activeStates = (actor: AnyActorRef): readonly string[] => snapshotOf(actor)._nodes.map(idOf);

/** Sends what the labels of a path say to an actor that really runs. */
function walk(actor: AnyActorRef, events: EventsOfChart, path: readonly string[]): void {
  actor.start();
  for (const label of path) {
    const tried = eventOfLabel(events(snapshotOf(actor)), label);
    expect(tried, `a step "${label}" from ${activeStates(actor).join(', ')}`).toBeDefined();
    if (tried !== undefined) actor.send(tried.event);
  }
}

function eventsOf(chart: Chart): EventsOfChart {
  return eventsToTry(chart, describeChart(chart.machine, { events: chart.events ?? {} }));
}

/** Every path that the audit says leads somewhere, gone by a real actor. */
function pathsArrive(chart: Chart): void {
  const events = eventsOf(chart);
  const audit = auditChart(chart, FEW);
  // What the path only passes through is left before anybody could check.
  for (const { path } of audit.reach.filter(({ isPassed }) => isPassed === true))
    expect(replayPath(chart, path)).toBeDefined();
  for (const { state, reach, path } of audit.reach.filter(
    ({ path: steps, isPassed }) => steps.length > 0 && isPassed !== true,
  )) {
    const actor = stillActor(chart);
    walk(actor, events, path);
    expect(reach).toBe('witnessed');
    expect(activeStates(actor)).toContain(state);
    actor.stop();
  }
  for (const { value, leaves, path } of audit.configurations) {
    const actor = stillActor(chart);
    walk(actor, events, path);
    expect(snapshotOf(actor).value).toEqual(value);
    actor.stop();
    expect(replayPath(chart, path)).toMatchObject({ value, leaves });
  }
}

describe('for every machine', () => {
  it('the audit says of every leaf state and event what XState answers in every snapshot that can be found', () => {
    fc.assert(
      fc.property(randomChart, (chart) => {
        expect(disagreements(chart, auditChart(chart, FEW), FEW).found).toEqual([]);
      }),
      RUNS,
    );
  });

  it('the same audit has the same bytes, and is plain data', () => {
    fc.assert(
      fc.property(randomChart, (chart) => {
        const audit = auditChart(chart, FEW);
        expect(JSON.stringify(auditChart(chart, FEW))).toBe(JSON.stringify(audit));
        expect(JSON.parse(JSON.stringify(audit))).toEqual(audit);
      }),
      modelRuns(4),
    );
  });

  it('a path that is said to lead to a state leads a real actor there', () => {
    fc.assert(fc.property(calmChart, pathsArrive), modelRuns(8));
  });

  it('an actor that is sent whatever comes is never in a state that is said to be out of reach', () => {
    fc.assert(
      fc.property(calmChart, fc.array(fc.nat(1000), { maxLength: 60 }), (chart, choices) => {
        const audit = auditChart(chart, FEW);
        const unreachable = new Set(
          audit.reach.filter(({ reach }) => reach === 'unreachable').map(({ state }) => state),
        );
        const events = eventsOf(chart);
        const actor = stillActor(chart);
        actor.start();
        for (const choice of choices) {
          if (snapshotOf(actor).status !== 'active') break;
          const tried = events(snapshotOf(actor));
          actor.send(tried[choice % tried.length]?.event ?? { type: 'A' });
          expect(activeStates(actor).filter((state) => unreachable.has(state))).toEqual([]);
        }
        actor.stop();
      }),
      RUNS,
    );
  });
});

it.each(
  charts
    .filter(({ machine }) => !['wake', 'run', 'toolCall'].includes(machine.id))
    .map((chart) => ({ id: chart.machine.id, chart })),
)('paths of the $id chart lead a real actor where they say', ({ chart }) => {
  expect(() => pathsArrive(chart)).not.toThrow();
});
