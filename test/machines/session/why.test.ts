import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { explain } from '../../../src/machines/session/why.ts';
import type { Reason } from '../../../src/machines/session/why-reason.ts';
import type { ExplainOptions } from '../../../src/machines/session/why.ts';
import {
  IDENTITY,
  START,
  START_MS,
  UNBOUND,
  anyLog,
  asked,
  blocked,
  confirmed,
  consumed,
  created,
  foldAll,
  idOf,
  interrupted,
  message,
  parked,
  permissionAsked,
  queued,
  resting,
  running,
  said,
  spanCompleted,
  spanStarted,
  stateAfter,
  terminated,
  toolStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const LATER = new Date(START_MS + 60_000).toISOString();
const HOUR_MS = 3_600_000;

const reasonsAfter = (
  drafts: readonly SessionEventDraft[],
  nowMs = START_MS,
  options: ExplainOptions = {},
): readonly Reason[] => explain(stateAfter(...drafts), nowMs, options).reasons;
const awake = [created, message('Go.'), wakeStarted(1), running];
const permission: SessionEventDraft = {
  type: 'permission.requested',
  data: {
    requestId: 'r1',
    callId: 'call_1',
    toolName: 'shell_run',
    input: {},
    because: 'it asks',
    rules: ['shell_run(npm test)'],
    expiresAt: LATER,
  },
};
const asks = [...awake, asked('call_1', 's'), permission, wakeEnded('wake_1', 'requires_action'), blocked];
const delegates: SessionEventDraft = {
  type: 'agent.subflow_started',
  data: { callId: 'call_1', childSessionId: 'child_1', agentId: 'worker', message: 'Work.', restriction: UNBOUND },
};
const failed = {
  type: 'wake.ended',
  data: {
    wakeId: 'wake_1',
    outcome: 'failed',
    summary: 'no',
    modelSteps: 0,
    completedWakeIds: [],
    error: { code: 'RUN_FAILED', category: 'provider', message: 'the model is busy' },
    retryAt: LATER,
  },
} as const satisfies SessionEventDraft;
const question: SessionEventDraft = {
  type: 'agent.question_asked',
  data: { requestId: 'r1', callId: 'call_1', question: 'Which?' },
};
/** A message was read, answered and rested upon. */
const finished = (summary: string): readonly SessionEventDraft[] => [
  ...awake,
  spanStarted('s'),
  consumed([idOf(2)], 's'),
  said('Done.', 's'),
  spanCompleted('s'),
  { type: 'session.status_idle', data: { reason: 'idle', summary } },
  { type: 'wake.ended', data: { wakeId: 'wake_1', outcome: 'sleep', summary, modelSteps: 1, completedWakeIds: [] } },
  resting,
];
const custom: SessionEventDraft = {
  type: 'agent.custom_tool_use',
  data: { requestId: 'r1', name: 'deploy', input: {}, callId: 'call_1' },
};

describe('why a session does what it does', () => {
  it.each<[string, readonly SessionEventDraft[], readonly Reason['kind'][], RegExp]>([
    ['nobody has sent it anything', [created], ['nothing'], /It has not been sent anything yet\./],
    ['it has rested without reading', [...awake, resting, wakeEnded('wake_1')], ['unread'], /1 message to be read/],
    [
      'it has done its work',
      finished('Tidied up.'),
      ['nothing'],
      /^It came to rest: Tidied up\. It waits for nothing but a message\.$/,
    ],
    ['it has done its work without a word', finished(''), ['nothing'], /^It came to rest\. It waits/],
    ['a message waits', [created, message('Go.')], ['unread'], /1 message to be read; no wake has read it yet/],
    [
      'the model is asked',
      [...awake, spanStarted('s')],
      ['running'],
      /epoch 1, by test: the model is asked; 0 steps, 0 calls so far\./,
    ],
    ['a tool runs', [...awake, asked('call_1', 's'), toolStarted('call_1')], ['running'], /it runs shell_run/],
    ['somebody interrupts it', [...awake, interrupted('no')], ['running'], /A client has interrupted it/],
    ['a permission is asked for', asks, ['permission', 'held_back'], /permission to run shell_run \(it asks\)/],
    ['a permission was given', [...asks, confirmed('r1')], ['unread', 'unread'], /1 answer came for calls that wait/],
    [
      'a question is asked',
      [...awake, asked('call_1', 's', 'ask_human'), question, wakeEnded('wake_1', 'requires_action'), blocked],
      ['question', 'held_back'],
      /waits for an answer: Which\?/,
    ],
    [
      'a custom tool is asked for',
      [...awake, asked('call_1', 's', 'deploy'), custom, wakeEnded('wake_1', 'requires_action'), blocked],
      ['custom_tool', 'held_back'],
      /run deploy and give its result/,
    ],
    [
      'a child works for it',
      [...awake, asked('call_1', 's', 'helper'), delegates, wakeEnded('wake_1', 'requires_action'), blocked],
      ['child', 'held_back'],
      /waits for the agent worker/,
    ],
    [
      'it is parked',
      [...awake, wakeEnded('wake_1', 'failed'), resting, parked],
      ['parked', 'unread'],
      /parked and does not wake by itself: too many/,
    ],
    [
      'a wake failed',
      [...awake, failed, resting],
      ['retry', 'unread'],
      /last wake failed: the model is busy\. It is tried again/,
    ],
    ['its wake died', [created, running], ['unfinished'], /the one that did has died/],
    [
      'its process stopped it',
      [...awake, asked('call_1', 's'), wakeEnded('wake_1', 'aborted'), resting],
      ['unfinished', 'unread'],
      /was stopped/,
    ],
    [
      'a budget was reached',
      [...awake, wakeEnded('wake_1', 'budget_reached'), resting],
      ['budget', 'unread'],
      /stopped at the budget maxTokensPerWake \(5\)/,
    ],
    ['a wake is queued', [created, queued('q1', LATER)], ['queued_wake'], /A wake is queued \(check again\)\.$/],
    ['it was terminated', [...asks, terminated], ['terminated'], /terminated: enough/],
  ])('is told when %s', (_, drafts, kinds, text) => {
    const reasons = reasonsAfter(drafts, START_MS, { budget: { name: 'maxTokensPerWake', value: 5 } });
    expect(reasons.map(({ kind }) => kind)).toEqual(kinds);
    expect(reasons[0]?.text).toMatch(text);
  });

  it('names who can answer a request, by which event and with which command', () => {
    const [reason] = reasonsAfter(asks);
    expect(reason).toMatchObject({
      requestId: 'r1',
      callId: 'call_1',
      rules: ['shell_run(npm test)'],
      until: LATER,
      since: expect.stringMatching(/^2026-01-01T/) as string,
    });
    expect(reason?.movers.map(({ who, events }) => [who, ...events])).toEqual([
      ['person', 'user.tool_confirmation'],
      ['person', 'user.tool_confirmation'],
      ['person', 'user.tool_confirmation'],
      ['person', 'user.tool_confirmation'],
      ['time', 'permission.resolved'],
    ]);
    expect(reason?.movers[1]?.command).toEqual([
      'session',
      'confirm-tool',
      '--session',
      IDENTITY.sessionId,
      '--request',
      'r1',
      '--allow',
      '--scope',
      'session',
    ]);
  });

  it('offers no lasting approval where no rule would cover the call', () => {
    const [reason] = reasonsAfter([
      ...awake,
      asked('call_1', 's'),
      permissionAsked('call_1'),
      wakeEnded('wake_1', 'requires_action'),
      blocked,
    ]);
    expect(reason?.movers.map(({ does }) => does)).toEqual(['allows it this once', 'denies it']);
  });

  it('says that a request has expired, and that a wake is all it takes', () => {
    const [reason] = reasonsAfter(asks, START_MS + HOUR_MS);
    expect(reason?.text).toMatch(/^shell_run was not allowed in time/);
    expect(reason?.movers.map(({ who }) => who)).toEqual(['worker', 'person']);
  });

  it('leads to the child that is waited for', () => {
    const [reason] = reasonsAfter([...awake, asked('call_1', 's', 'helper'), delegates]).filter(
      ({ kind }) => kind === 'child',
    );
    expect(reason).toMatchObject({ childSessionId: 'child_1', toolName: 'helper' });
  });

  it('tells the calls of a session that runs by the states of their chart', () => {
    const [reason] = reasonsAfter([
      ...awake,
      asked('call_1', 's'),
      toolStarted('call_1'),
      asked('call_2', 's'),
      permissionAsked('call_2'),
      asked('call_3', 's'),
    ]);
    expect(reason?.calls?.map(({ state }) => state)).toEqual(['executing', 'awaiting_permission', 'requested']);
  });

  it('knows when a retry and a queued wake are due', () => {
    expect(reasonsAfter([created, queued('q1', LATER)], START_MS + HOUR_MS)[0]?.text).toMatch(/and is due\.$/);
    expect(reasonsAfter([...awake, failed, resting], START_MS + HOUR_MS)[0]?.text).toMatch(/tried again now\.$/);
  });

  it('has an answer for a log that cannot be read', () => {
    const unreadable = {
      name: 'RuntimeError',
      code: 'STORAGE_FAILED',
      category: 'storage',
      message: 'gone',
      recoverable: true,
    } as const;
    expect(explain({ ...initialSessionState(IDENTITY), unreadable }, START_MS).reasons).toMatchObject([
      { kind: 'unreadable', text: 'Its log cannot be read: gone' },
    ]);
  });

  it('has an answer for every log, as plain data, that changes nothing', () => {
    fc.assert(
      fc.property(anyLog, fc.integer({ min: -1, max: 10 }), (log, hours) => {
        const state = foldAll(log);
        const before = structuredClone(state);
        const explanation = explain(state, START_MS + hours * HOUR_MS);
        expect(explanation.reasons.length).toBeGreaterThan(0);
        expect(JSON.parse(JSON.stringify(explanation))).toEqual(
          JSON.parse(JSON.stringify(structuredClone(explanation))),
        );
        for (const { kind, text, movers } of explanation.reasons) {
          expect(text).not.toBe('');
          if (kind !== 'terminated') expect(movers).not.toEqual([]);
        }
        expect(state).toEqual(before);
      }),
    );
  });

  it('is dated', () => {
    expect(reasonsAfter([created, message('Go.')])[0]?.since).toBe(START);
  });
});

describe('a session whose wake is open in its log', () => {
  const atWork = [...awake, asked('call_1', 's'), toolStarted('call_1')];

  it('and whose process is dead is said to be dead, since its last event, with those who can go on with it', () => {
    const [reason, ...others] = reasonsAfter(atWork, START_MS, { isWakeDead: true });
    expect(others).toEqual([]);
    expect(reason).toMatchObject({
      kind: 'dead',
      text: 'Its process has died, test, last heard of 0 s ago: it ran shell_run; 0 steps, 1 call so far. Nothing is lost: a worker or another wake goes on from its log. The call that ran is not run again: the agent is told that nothing is known of the end.',
      since: stateAfter(...atWork).updatedAt,
      calls: [{ callId: 'call_1', state: 'executing' }],
    });
    expect(reason?.movers.map(({ who, events }) => [who, events])).toEqual([
      ['worker', ['wake.started']],
      ['person', ['wake.started']],
    ]);
  });

  it('tells its requests behind that all the same', () => {
    expect(reasonsAfter([...awake, asked('call_1', 's'), permission], START_MS, { isWakeDead: true })[1]?.kind).toBe(
      'permission',
    );
  });

  it('that has ended is not called dead, whatever is said of its process', () => {
    expect(
      reasonsAfter([...awake, wakeEnded('wake_1', 'failed'), resting], START_MS, { isWakeDead: true })[0]?.kind,
    ).not.toBe('dead');
  });
});
