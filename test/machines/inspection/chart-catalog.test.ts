import { createActor, transition } from 'xstate';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import { leavesOf } from '../../../src/machines/inspection/chart-states.ts';
import type { EventOf } from '../../../src/machines/inspection/chart-events.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import type { breakerEvents } from '../../../src/machines/run/breaker-events.ts';
import type { BreakerEvent } from '../../../src/machines/run/breaker-machine.ts';
import type { runChartEvents } from '../../../src/machines/run/run-chart-events.ts';
import type { RunStopEvent } from '../../../src/machines/run/run-machine.ts';
import type { durableScheduleEvents } from '../../../src/machines/schedule/durable-events.ts';
import type { DurableScheduleEvent } from '../../../src/machines/schedule/durable-machine.ts';
import type { scheduleEvents } from '../../../src/machines/schedule/schedule-events.ts';
import type { ScheduleEvent } from '../../../src/machines/schedule/schedule-machine.ts';
import type { activationEvents } from '../../../src/machines/session/activation-events.ts';
import type { ActivationEventType } from '../../../src/machines/session/activation-machine.ts';
import type { sessionChartEvents } from '../../../src/machines/session/session-chart-events.ts';
import type { SessionChartEvent } from '../../../src/machines/session/session-machine.ts';
import type { workerEvents } from '../../../src/machines/session/worker-events.ts';
import type { WorkerEventType } from '../../../src/machines/session/worker-machine.ts';
import type { subagentEvents } from '../../../src/machines/subagent/subagent-events.ts';
import type { SubagentChartEvent } from '../../../src/machines/subagent/subagent-machine.ts';
import type { worktreeEvents } from '../../../src/machines/subagent/worktree-events.ts';
import type { WorktreeChartEvent } from '../../../src/machines/subagent/worktree-machine.ts';
import type { supervisorEvents } from '../../../src/machines/task/supervisor-events.ts';
import type { taskEvents } from '../../../src/machines/task/task-events.ts';
import type { BackgroundTaskChartEvent } from '../../../src/machines/task/task-machine.ts';
import type { mcpConnectionEvents } from '../../../src/machines/turn/mcp-connection-events.ts';
import type { McpConnectionEvent } from '../../../src/machines/turn/mcp-connection-machine.ts';
import type { toolCallEvents } from '../../../src/machines/turn/tool-call-events.ts';
import type { ToolCallEvent } from '../../../src/machines/turn/tool-call-machine.ts';
import type { leaseEvents } from '../../../src/machines/wake/lease-events.ts';
import type { LeaseChartEvent } from '../../../src/machines/wake/lease-machine.ts';
import type { wakeEvents } from '../../../src/machines/wake/wake-events.ts';
import type { WakeStopEvent } from '../../../src/machines/wake/wake-machine.ts';

const byId = charts.map((chart) => [chart.machine.id, chart] as const);

/** The events that the machine mentions, but those that XState makes itself. */
const mentionedBy = (machine: AnyStateMachine): readonly string[] =>
  (machine.events as readonly string[]).filter((type) => !type.startsWith('xstate.')).toSorted();

describe('the catalog of our charts', () => {
  it('holds every chart once, under ids of one style', () => {
    const ids = byId.map(([id]) => id);
    expect(new Set(ids).size).toBe(15);
    expect(ids).toEqual([
      'task',
      'taskSupervisor',
      'schedule',
      'durableSchedule',
      'session',
      'activation',
      'sessionWorker',
      'lease',
      'wake',
      'toolCall',
      'run',
      'breaker',
      'mcpConnection',
      'subagent',
      'worktree',
    ]);
  });

  it.each(byId)('declares for %s exactly the events that the chart mentions', (_, { machine, events = {} }) => {
    expect(Object.keys(events).toSorted()).toEqual(mentionedBy(machine));
  });

  it.each(byId)(
    'says of %s what it is, what holds in each of its states, what each event says, and who sends it',
    (_, { machine, events, about }) => {
      const description = describeChart(machine, { events });
      expect(about).toMatch(/^\S.+[^.]$/);
      expect(description.description).toMatch(/^[A-Z].+\.$/);
      const isSentence = (text = ''): boolean => /^[A-Z].+[^.]\.$/.test(text);
      expect(description.states.slice(1).filter(({ description: says }) => !isSentence(says))).toEqual([]);
      expect(
        description.events.filter(({ says, from = '' }) => !isSentence(says) || !/^[a-z].+[^.]$/.test(from)),
      ).toEqual([]);
    },
  );

  it.each(byId)(
    'has every transition of %s taken, and every guard answer both ways, by what it tries the chart with',
    (_, chart) => {
      const { findings, guards, reach } = auditChart(chart);
      expect(reach.every((state) => state.reach === 'witnessed')).toBe(true);
      expect(findings.filter(({ rule }) => rule === 'unused-transition' || rule === 'exploration-cut')).toEqual([]);
      for (const { name, hasHeld, hasFailed } of guards) expect([name, hasHeld, hasFailed]).toEqual([name, true, true]);
    },
  );

  it.each(byId)('has nothing to hide in %s: what an audit finds is dealt with, or waived with a reason', (_, chart) => {
    expect(auditChart(chart).findings.filter(({ waived }) => waived === undefined)).toEqual([]);
  });

  it('leaves a tool call where it was when something comes that it waives', () => {
    const toolCall = charts.find(({ machine }) => machine.id === 'toolCall');
    if (toolCall === undefined) throw new Error('there is no chart of tool calls');
    const actor = createActor(toolCall.machine, { input: toolCall.input }).start();
    actor.send({ type: 'ASK_INPUT' });
    const before = actor.getSnapshot();
    const [after] = transition(toolCall.machine, before, { type: 'DENY', reason: 'no' });
    expect(after.value).toBe('awaiting_input');
    actor.stop();
  });

  it('knows the leaves in which nothing more is taken', () => {
    const finals = byId.flatMap(([id, { machine }]) =>
      leavesOf(describeChart(machine))
        .filter(({ kind }) => kind === 'final')
        .map((state) => `${id}.${state.id}`),
    );
    expect(finals).toContain('session.terminated');
    expect(finals).not.toContain('breaker.closed');
  });
});

describe('the events of a registry', () => {
  it('are those of the machine, for the compiler too', () => {
    expectTypeOf<EventOf<typeof taskEvents>['type']>().toEqualTypeOf<BackgroundTaskChartEvent['type']>();
    expectTypeOf<EventOf<typeof supervisorEvents>['type']>().toEqualTypeOf<'DRAIN' | 'IDLE'>();
    expectTypeOf<EventOf<typeof scheduleEvents>['type']>().toEqualTypeOf<ScheduleEvent['type']>();
    expectTypeOf<EventOf<typeof durableScheduleEvents>['type']>().toEqualTypeOf<DurableScheduleEvent['type']>();
    expectTypeOf<EventOf<typeof sessionChartEvents>['type']>().toEqualTypeOf<SessionChartEvent['type']>();
    expectTypeOf<EventOf<typeof activationEvents>['type']>().toEqualTypeOf<ActivationEventType>();
    expectTypeOf<EventOf<typeof workerEvents>['type']>().toEqualTypeOf<WorkerEventType>();
    expectTypeOf<EventOf<typeof leaseEvents>['type']>().toEqualTypeOf<LeaseChartEvent['type']>();
    expectTypeOf<EventOf<typeof breakerEvents>['type']>().toEqualTypeOf<BreakerEvent['type']>();
    expectTypeOf<EventOf<typeof mcpConnectionEvents>['type']>().toEqualTypeOf<McpConnectionEvent['type']>();
    expectTypeOf<EventOf<typeof subagentEvents>['type']>().toEqualTypeOf<SubagentChartEvent['type']>();
    expectTypeOf<EventOf<typeof worktreeEvents>['type']>().toEqualTypeOf<WorktreeChartEvent['type']>();
  });

  it('hold what the machine reads of them', () => {
    expectTypeOf<Readonly<EventOf<typeof wakeEvents>>>().toEqualTypeOf<Readonly<WakeStopEvent>>();
    expectTypeOf<Readonly<EventOf<typeof runChartEvents>>>().toEqualTypeOf<Readonly<RunStopEvent>>();
    expectTypeOf<EventOf<typeof toolCallEvents>>().toExtend<ToolCallEvent>();
    expectTypeOf<ToolCallEvent>().toExtend<Readonly<EventOf<typeof toolCallEvents>>>();
  });

  it('are refused with a field too few or too many', () => {
    const stop = charts.find(({ machine }) => machine.id === 'wake')?.events?.['STOP'];
    expect(stop?.schema.safeParse({ type: 'STOP', reason: 'enough' }).success).toBe(true);
    expect(stop?.schema.safeParse({ type: 'STOP' }).success).toBe(false);
    expect(stop?.schema.safeParse({ type: 'STOP', reason: 'enough', more: 1 }).success).toBe(false);
  });
});
