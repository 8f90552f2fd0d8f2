import { describe, expect, it } from 'vitest';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { AgentState } from '../../../src/machines/turn/agent-state.ts';
import {
  IDENTITY,
  UNBOUND,
  asked,
  consumed,
  created,
  idOf,
  logOf,
  message,
  said,
  spanCompleted,
  spanStarted,
} from '../../support/session-events.ts';

const PARENT = IDENTITY.sessionId;
const CHILD = '0192f0c1-2345-7abc-8def-0123456789ab';
const GRANDCHILD = '0192f0c1-2345-7abc-8def-0123456789ac';

const subflow = (callId: string, childSessionId: string): SessionEventDraft => ({
  type: 'agent.subflow_started',
  data: { callId, childSessionId, agentId: 'worker', message: 'Work.', restriction: UNBOUND },
});
const result = (callId: string, output: string): SessionEventDraft => ({
  type: 'agent.tool_result',
  data: { callId, name: 'shell_run', outcome: 'completed', output },
});
const log = (sessionId: string, ...drafts: SessionEventDraft[]): SessionEvent[] =>
  logOf(created, ...drafts).map((event) => ({ ...event, sessionId }));

const parentLog = log(
  PARENT,
  message('Go'),
  spanStarted('s'),
  consumed([idOf(2)], 's'),
  said('I ask.', 's'),
  asked('call_1', 's', 'worker'),
  asked('call_2', 's'),
  spanCompleted('s'),
  subflow('call_1', CHILD),
  result('call_2', 'ok'),
);
const childLog = log(
  CHILD,
  message('Work.'),
  spanStarted('c'),
  asked('call_1', 'c', 'deeper'),
  spanCompleted('c'),
  subflow('call_1', GRANDCHILD),
);

function stateOf(...events: readonly SessionEvent[]): AgentState {
  const state = new AgentState(IDENTITY);
  for (const event of events) state.ingest(event);
  return state;
}

describe('the state of a run', () => {
  it('knows what was said, and which calls are open', () => {
    const state = stateOf(...parentLog);
    expect([state.runId, state.pendingToolCalls.map(({ callId }) => callId)]).toEqual([PARENT, ['call_1']]);
    expect([...state.toolCalls.values()]).toEqual([
      { callId: 'call_1', name: 'worker', input: {}, childSessionId: CHILD },
      { callId: 'call_2', name: 'shell_run', input: {}, outcome: 'completed' },
    ]);
    expect(state.lastAssistantMessage?.content[0]).toEqual({ type: 'text', text: 'I ask.' });
    expect(state.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('counts each event once, however often it comes', () => {
    const twice = stateOf(...parentLog.flatMap((event) => [event, event]), ...parentLog);
    expect(twice.session).toEqual(stateOf(...parentLog).session);
    expect(twice.messages).toEqual(stateOf(...parentLog).messages);
  });

  it('takes the events of agents that work for it, however deep, and keeps them apart', () => {
    const state = stateOf(...parentLog, ...childLog, ...log(GRANDCHILD, message('Deeper.')));
    const child = state.subflows.get('call_1');
    expect(child?.runId).toBe(CHILD);
    expect(child?.pendingToolCalls.map(({ name }) => name)).toEqual(['deeper']);
    expect(child?.subflows.get('call_1')?.session.messages).toBe(1);
    expect(state.session.messages).toBe(1);
    expect(state.toolCalls.get('call_1')?.name).toBe('worker');
  });

  it('says when an event is of a session that it does not know', () => {
    const state = stateOf(...parentLog.slice(0, 3));
    expect(childLog.map((event) => state.ingest(event))).toEqual(childLog.map(() => false));
    expect(stateOf(...parentLog).ingest(childLog[0] as SessionEvent)).toBe(true);
  });

  it('tells who was asked and what they said', () => {
    const asking: SessionEventDraft[] = [
      {
        type: 'permission.requested',
        data: {
          requestId: 'r1',
          callId: 'call_1',
          toolName: 'worker',
          input: {},
          because: 'it asks',
          rules: ['shell_run(npm test)'],
        },
      },
      { type: 'agent.question_asked', data: { requestId: 'r2', callId: 'call_2', question: 'Which?' } },
    ];
    const before = log(
      PARENT,
      spanStarted('s'),
      asked('call_1', 's', 'worker'),
      asked('call_2', 's', 'ask_human'),
      spanCompleted('s'),
      ...asking,
    );
    expect(stateOf(...before).pendingPermissionRequests).toMatchObject([{ requestId: 'r1' }]);
    expect(stateOf(...before).pendingQuestions).toMatchObject([{ requestId: 'r2' }]);
    const answered = log(
      PARENT,
      spanStarted('s'),
      asked('call_1', 's', 'worker'),
      asked('call_2', 's', 'ask_human'),
      spanCompleted('s'),
      ...asking,
      {
        type: 'user.tool_confirmation',
        data: { requestId: 'r1', toolName: 'worker', allowed: true, scope: 'session' },
      },
      {
        type: 'permission.resolved',
        data: {
          requestId: 'r1',
          callId: 'call_1',
          decision: 'allowed',
          scope: 'session',
          rules: ['shell_run(npm test)'],
        },
      },
    );
    const state = stateOf(...answered);
    expect([
      [...state.allowedCallIds],
      [...state.deniedCallIds],
      state.sessionRules,
      state.pendingPermissionRequests,
    ]).toEqual([['call_1'], [], ['shell_run(npm test)'], []]);
  });
});
