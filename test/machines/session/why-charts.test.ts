import fc from 'fast-check';
import { transition } from 'xstate';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import type { ChartOutlook } from '../../../src/machines/inspection/chart-outlook.ts';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { stateAfter as acceptedBy } from '../../../src/machines/session/session-rules.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { callLeafOf, explainCharts, sessionLeafOf } from '../../../src/machines/session/why-charts.ts';
import type { ChartExplanation } from '../../../src/machines/session/why-charts.ts';
import type { IngressOutlook } from '../../../src/machines/session/why-ingress.ts';
import {
  IDENTITY,
  START_MS,
  anyDraft,
  anyLog,
  asked,
  blocked,
  confirmed,
  created,
  eventAt,
  foldAll,
  message,
  parked,
  queued,
  running,
  spanStarted,
  stateAfter,
  terminated,
  toolStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const HOUR_MS = 3_600_000;
const IN_AN_HOUR = new Date(START_MS + HOUR_MS).toISOString();

const permission = (callId: string, requestId = `request_${callId}`, rules?: string[]): SessionEventDraft => ({
  type: 'permission.requested',
  data: {
    requestId,
    callId,
    toolName: 'shell_run',
    input: {},
    because: 'it asks',
    expiresAt: IN_AN_HOUR,
    ...(rules === undefined ? {} : { rules }),
  },
});
const awake = [created, message('Go.'), wakeStarted(1), running];
const asks = [
  ...awake,
  asked('call_1', 's'),
  permission('call_1', 'r1', ['shell_run(npm test)']),
  wakeEnded('wake_1', 'requires_action'),
  blocked,
];

const explained = (drafts: readonly SessionEventDraft[], nowMs = START_MS): ChartExplanation =>
  explainCharts(stateAfter(...drafts), nowMs);
const possible = ({ possible: events }: Pick<ChartOutlook, 'possible'>): string[] => events.map(({ event }) => event);
const movers = ({ session }: ChartExplanation, event: string): unknown[] | undefined =>
  session.possible.find((each) => each.event === event)?.movers.map(({ who, events: [first] }) => [who, first]);

/** Requests that run out, which other logs do not have. */
const expiring = fc
  .tuple(fc.constantFrom('call_1', 'call_2'), fc.constantFrom('request_1', 'request_2'), fc.boolean())
  .map(([call, request, hasRules]) => permission(call, request, hasRules ? ['shell_run(npm test)'] : undefined));

/** A session as it can be: of any drafts, those that its store would take. */
const session: fc.Arbitrary<SessionState> = fc
  .array(fc.oneof({ weight: 6, arbitrary: anyDraft }, { weight: 1, arbitrary: expiring }), { maxLength: 60 })
  .map((drafts) =>
    drafts.reduce(
      (state, draft) => (asksAgain(state, draft) ? state : (attempt(state, draft) ?? state)),
      foldAll([eventAt(1, created)]),
    ),
  );
const hours = fc.integer({ min: -1, max: 3 });

/** Every request has an id of its own, whoever makes it. */
function asksAgain({ pendingActions }: SessionState, { type, data }: SessionEventDraft): boolean {
  return (
    !type.startsWith('user.') &&
    'requestId' in data &&
    pendingActions.some(({ requestId }) => requestId === data.requestId) &&
    type !== 'permission.resolved' &&
    type !== 'request.cancelled'
  );
}

function attempt(state: SessionState, draft: SessionEventDraft, at?: string): SessionState | undefined {
  try {
    return acceptedBy(state, [{ ...eventAt(state.head + 1, draft), ...(at === undefined ? {} : { at }) }]);
  } catch (error) {
    if (RuntimeError.is(error)) return undefined;
    throw error;
  }
}

function machineOf(id: string): {
  readonly machine: AnyStateMachine;
  readonly samples: (event: string) => readonly { readonly type: string }[];
} {
  const chart = charts.find(({ machine }) => machine.id === id);
  if (chart === undefined) throw new Error(`there is no chart ${id}`);
  return { machine: chart.machine, samples: (event) => chart.events?.[event]?.samples ?? [] };
}

/** Whether XState itself would do anything with one of the events that the registry tries the chart with. */
function takes(id: string, leaf: string, event: string): boolean {
  const { machine, samples } = machineOf(id);
  const [outer = leaf, inner] = leaf.split('.');
  const snapshot = machine.resolveState({
    value: inner === undefined ? outer : { [outer]: inner },
    context: { callId: 'c', name: 'n', input: {} },
  });
  return samples(event).some((sample) => snapshot.can(sample));
}

function expectTruth(outlook: ChartOutlook, leaf: string): void {
  for (const { event } of outlook.possible)
    expect([leaf, event, takes(outlook.chart, leaf, event)]).toEqual([leaf, event, true]);
  for (const { event } of outlook.impossible)
    expect([leaf, event, takes(outlook.chart, leaf, event)]).toEqual([leaf, event, false]);
}

describe('where a session stands in its charts', () => {
  it('is said with what its chart takes and what not, and where that would be taken', () => {
    const { session: own } = explained(asks);
    expect(own.states.map(({ id }) => id)).toEqual(['idle', 'idle.requires_action']);
    expect(possible(own)).toEqual(['WAKE', 'TERMINATE', 'RESOLVE']);
    expect(own.impossible).toMatchObject([
      { event: 'REST', why: 'no_transition', takenIn: ['running', 'rescheduling'] },
      { event: 'REQUIRE_ACTION', takenIn: ['running'] },
      { event: 'RESCHEDULE', takenIn: ['running'] },
    ]);
  });

  it('names who can bring about what is possible', () => {
    const chart = explained(asks);
    expect(movers(chart, 'RESOLVE')).toEqual([
      ...Array.from({ length: 4 }, () => ['person', 'user.tool_confirmation']),
      ['person', 'user.interrupt'],
    ]);
    expect(movers(chart, 'TERMINATE')).toEqual([['person', 'session.status_changed']]);
    expect(movers(explained([created, message('Go.')]), 'WAKE')).toEqual([
      ['worker', 'wake.started'],
      ['person', 'wake.started'],
    ]);
    expect(movers(explained(awake), 'REST')).toEqual([['runtime', 'wake.ended']]);
  });

  it('says when a wake would find nothing to do, and when it has to wait for the one that runs', () => {
    const remark = (chart: ChartExplanation): string | undefined =>
      chart.session.possible.find(({ event }) => event === 'WAKE')?.remark;
    expect(remark(explained([created]))).toMatch(/find nothing to do now/);
    expect(remark(explained([created, message('Go.')]))).toBeUndefined();
    expect(remark(explained(awake))).toMatch(/process of the wake that runs has died/);
    expect(remark(explained([created, running]))).toBeUndefined();
    expect(remark(explained([created, parked]))).toMatch(/only take back that it is parked/);
    expect(remark(explained([created, message('Go.'), parked]))).toBe('No worker begins it by itself yet.');
  });

  it('holds the wake that runs, as far as the log tells', () => {
    expect(explained([...awake, spanStarted('s')]).wake).toMatchObject({
      mayBeIn: ['running.stepping'],
      byItself: [
        { event: 'done(step)', guard: 'asksForTools', to: ['running.calling'] },
        { to: ['folding'] },
        { event: 'error(step)' },
      ],
    });
    expect(explained([...awake, asked('call_1', 's'), toolStarted('call_1')]).wake?.mayBeIn).toEqual([
      'running.calling',
    ]);
    const between = explained(awake).wake;
    expect(between?.mayBeIn.length).toBeGreaterThan(1);
    expect(between?.byItself).toEqual([]);
    expect(possible(between as ChartOutlook)).toEqual(['STOP']);
    expect(explained(asks).wake).toBeUndefined();
  });

  it('holds each open tool call, with the answer that moves it', () => {
    const [call] = explained(asks).calls;
    expect(call).toMatchObject({
      callId: 'call_1',
      chart: 'toolCall',
      isAnswered: false,
      states: [{ id: 'awaiting_permission' }],
    });
    const commandsOf = (event: string): unknown[] | undefined =>
      call?.possible.find((each) => each.event === event)?.movers.map(({ command }) => command?.slice(6).join(' '));
    expect(commandsOf('RUN')).toEqual(['--allow', '--allow --scope session', '--allow --scope always']);
    expect(commandsOf('DENY')).toEqual(['--deny', undefined]);
    expect(explained([...asks, confirmed('r1')]).calls).toMatchObject([{ isAnswered: true }]);
  });

  it('offers no answer that would come too late', () => {
    const late = explained(asks, START_MS + 2 * HOUR_MS);
    expect(late.ingress.filter(({ event }) => event === 'user.tool_confirmation')).toMatchObject([
      { isAccepted: false, code: 'REQUEST_EXPIRED', requestId: 'r1' },
    ]);
    expect(movers(late, 'RESOLVE')).toEqual([
      ['worker', 'wake.started'],
      ['person', 'wake.started'],
      ['person', 'user.interrupt'],
    ]);
    expect(late.calls[0]?.possible.find(({ event }) => event === 'RUN')?.movers).toEqual([]);
  });

  it('says what comes by the clock, soonest first', () => {
    const later = new Date(START_MS + 60_000).toISOString();
    expect(explained(asks).timers).toMatchObject([{ kind: 'expiry', at: IN_AN_HOUR, isDue: false, requestId: 'r1' }]);
    expect(explained([created, queued('q1', IN_AN_HOUR), queued('q2', later)]).timers).toMatchObject([
      { kind: 'queued_wake', queuedWakeId: 'q2' },
      { queuedWakeId: 'q1' },
    ]);
    const failed: SessionEventDraft = {
      type: 'wake.ended',
      data: { wakeId: 'wake_1', outcome: 'failed', summary: 'no', modelSteps: 0, completedWakeIds: [], retryAt: later },
    };
    expect(explained([...awake, asked('call_1', 's'), failed]).timers).toMatchObject([
      { kind: 'waiting', at: later },
      { kind: 'retry', at: later },
    ]);
    expect(explained([...asks, queued('q1', later)]).timers.map(({ kind }) => kind)).toEqual(['expiry']);
    expect(explained([...asks, terminated]).timers).toEqual([]);
    expect(explainCharts(stateAfter(...awake), START_MS, { maxSecondsPerWake: 30 }).timers).toMatchObject([
      { kind: 'budget', at: new Date(START_MS + 30_000).toISOString() },
    ]);
  });

  it('says that nothing is taken any more once it is over', () => {
    const over = explained([...asks, terminated]);
    expect(possible(over.session)).toEqual([]);
    expect(over.session.impossible.every(({ why }) => why === 'final')).toBe(true);
    expect(over.ingress.every(({ isAccepted }) => !isAccepted)).toBe(true);
  });
});

describe('what is said to be possible in any session', () => {
  it('is what XState takes, in all of its charts, and the rest is not', () => {
    fc.assert(
      fc.property(session, hours, (state, hour) => {
        const { session: own, wake, calls } = explainCharts(state, START_MS + hour * HOUR_MS);
        expectTruth(own, sessionLeafOf(state));
        for (const [index, call] of calls.entries())
          expectTruth(call, callLeafOf(state.openToolCalls[index] as SessionState['openToolCalls'][number]));
        for (const leaf of wake?.mayBeIn ?? []) expectTruth(wake as ChartOutlook, leaf);
      }),
    );
  });

  it('is what the store takes as a change of status, and the rest it refuses', () => {
    const changes = {
      WAKE: { to: 'running' },
      REST: { to: 'idle', stopReason: 'idle' },
      REQUIRE_ACTION: { to: 'idle', stopReason: 'requires_action' },
      RESCHEDULE: { to: 'rescheduling', stopReason: 'rescheduling' },
      TERMINATE: { to: 'terminated', stopReason: 'terminated' },
    } as const;
    fc.assert(
      fc.property(session, (state) => {
        const known = possible(explainCharts(state, START_MS).session);
        for (const [event, data] of Object.entries(changes)) {
          expect([event, attempt(state, { type: 'session.status_changed', data }) !== undefined]).toEqual([
            event,
            known.includes(event),
          ]);
        }
      }),
    );
  });

  it('is what the store takes from outside, by every command that is offered, and what is refused has the error that is told', () => {
    fc.assert(
      fc.property(session, hours, (state, hour) => {
        const nowMs = START_MS + hour * HOUR_MS;
        for (const ingress of explainCharts(state, nowMs).ingress)
          expectIngress(state, ingress, new Date(nowMs).toISOString());
      }),
    );
  });

  it('tells of every call where its chart is that lived through the same', () => {
    fc.assert(
      fc.property(fc.array(anyDraft, { maxLength: 60 }), (drafts) => {
        const events: SessionEvent[] = [];
        const state = drafts.reduce((before, draft) => {
          const after = attempt(before, draft);
          if (after !== undefined) events.push(eventAt(before.head + 1, draft));
          return after ?? before;
        }, initialSessionState(IDENTITY));
        for (const call of state.openToolCalls)
          expect([call.callId, livedThrough(events, call.callId)]).toEqual([call.callId, callLeafOf(call)]);
      }),
    );
  });

  it('is plain data that changes nothing, for every log at all', () => {
    fc.assert(
      fc.property(anyLog, hours, (log, hour) => {
        const state = foldAll(log);
        const before = structuredClone(state);
        const chart = explainCharts(state, START_MS + hour * HOUR_MS, { maxSecondsPerWake: 5 });
        expect(JSON.parse(JSON.stringify(chart))).toEqual(structuredClone(chart));
        expect(chart.timers.map(({ at }) => at)).toEqual(chart.timers.map(({ at }) => at).toSorted());
        expect(state).toEqual(before);
      }),
    );
  });
});

function expectIngress(state: SessionState, ingress: IngressOutlook, at: string): void {
  if (ingress.isAccepted) {
    expect(ingress.movers.length).toBeGreaterThan(0);
    for (const { command = [], events } of ingress.movers) {
      expect(events).toEqual([ingress.event]);
      expect([command, attempt(state, draftOf(ingress, state, command), at) !== undefined]).toEqual([command, true]);
    }
    return;
  }
  const refused = (): SessionState =>
    acceptedBy(state, [{ ...eventAt(state.head + 1, draftOf(ingress, state, [])), at }]);
  expect(refused).toThrow(expect.objectContaining({ code: ingress.code }) as Error);
}

/** What the command line makes of a command. */
function draftOf(
  { event, requestId = 'none' }: IngressOutlook,
  { pendingActions }: SessionState,
  command: readonly string[],
): SessionEventDraft {
  const toolName = pendingActions.find((action) => action.requestId === requestId)?.toolName ?? 'none';
  const scope = command.includes('--scope') ? { scope: command.at(-1) as 'session' | 'always' } : {};
  switch (event) {
    case 'user.message':
      return message('TEXT');
    case 'user.tool_confirmation':
      return { type: event, data: { requestId, toolName, allowed: !command.includes('--deny'), ...scope } };
    case 'user.answer':
      return { type: event, data: { requestId, response: 'TEXT' } };
    case 'user.custom_tool_result':
      return { type: event, data: { requestId, toolName, output: {} } };
    case 'user.define_outcome':
      return { type: event, data: { title: 'TITLE' } };
    case 'user.interrupt':
      return { type: event, data: {} };
  }
}

/**
 * The leaf of a call's chart after the events of its log, as the wakes replay them: what is decided anew begins anew.
 */
function livedThrough(events: readonly SessionEvent[], callId: string): string {
  const { machine } = machineOf('toolCall');
  const start = (): AnyMachineSnapshot =>
    machine.getInitialSnapshot({} as never, { callId, name: 'n', input: {} }) as AnyMachineSnapshot;
  let snapshot = start();
  const move = (type: string): void => {
    if (!snapshot.can({ type })) snapshot = start();
    [snapshot] = transition(machine, snapshot, { type });
  };
  for (const { type, data } of events) {
    if (!('callId' in data) || data.callId !== callId) continue;
    if (type === 'agent.tool_use' || type === 'agent.tool_requeued') snapshot = start();
    else if (type === 'agent.tool_started') move('RUN');
    else if (type === 'permission.requested') move('ASK_PERMISSION');
    else if (type === 'agent.question_asked' || type === 'agent.subflow_started' || type === 'agent.custom_tool_use')
      move('ASK_INPUT');
  }
  const { value } = snapshot;
  return typeof value === 'string' ? value : Object.entries(value).flat().join('.');
}
