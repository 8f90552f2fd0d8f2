import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionEventDefinitions } from '../../../src/machines/session/event-schemas.ts';
import { foldSession } from '../../../src/machines/session/session-fold.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import {
  IDENTITY,
  SESSION_ID,
  anyDraft,
  anyLog,
  answered,
  asked,
  consumed,
  created,
  directed,
  eventAt,
  foldAll,
  idOf,
  jobEnded,
  jobStarted,
  logOf,
  message,
  queued,
  resting,
  running,
  spanCompleted,
  spanStarted,
  stateAfter,
  terminated,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

describe('a job of a session', () => {
  it('is open until its end, and what it used up counts then', () => {
    const open = stateAfter(created, jobStarted('agent_1', idOf(902)), jobStarted('agent_2', idOf(903)));
    expect(open.jobs.map(({ jobId }) => jobId)).toEqual(['agent_1', 'agent_2']);
    const ended = stateAfter(
      created,
      jobStarted('agent_1', idOf(902)),
      jobStarted('agent_2', idOf(903)),
      jobEnded('agent_1', idOf(902)),
    );
    expect([ended.jobs.map(({ jobId }) => jobId), ended.used.tokens, ended.pending.map(({ type }) => type)]).toEqual([
      ['agent_2'],
      10,
      ['subagent.ended'],
    ]);
  });

  it('that ends after the session is in its log, and nobody reads it', () => {
    const state = stateAfter(
      created,
      jobStarted('agent_1', idOf(902)),
      terminated,
      jobEnded('agent_1', idOf(902), 'failed'),
    );
    expect([state.jobs, state.pending]).toEqual([[], []]);
  });
});

describe('folding a log', () => {
  it('gives the same state in one go, in two parts, and event by event', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(60), (log, cut) => {
        const whole = foldAll(log);
        expect(foldAll(log.slice(cut), foldAll(log.slice(0, cut)))).toEqual(whole);
      }),
    );
  });

  it('never fails, whatever is missing or makes no sense', () => {
    fc.assert(
      fc.property(anyLog, fc.infiniteStream(fc.boolean()), (log, keep) => {
        const damaged = log.filter(() => keep.next().value).map((event, index) => ({ ...event, seq: index + 1 }));
        const state = foldAll(damaged);
        expect(state.head).toBe(damaged.length);
        expect(JSON.parse(JSON.stringify(state))).toEqual(JSON.parse(JSON.stringify(structuredClone(state))));
      }),
    );
  });

  it('changes no state it was given', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        let state = initialSessionState(IDENTITY);
        for (const event of log) {
          const before = JSON.stringify(state);
          const next = foldSession(state, event);
          expect(JSON.stringify(state)).toBe(before);
          state = next;
        }
      }),
    );
  });

  it('takes an event that it has seen for nothing new', () => {
    const log = logOf(created, message('one'));
    const state = foldAll(log);
    expect(foldAll(log, state)).toBe(state);
  });
});

describe('a session', () => {
  it('keeps its name when its first record is lost', () => {
    expect(stateAfter(message('one'))).toMatchObject({
      sessionId: SESSION_ID,
      agentId: 'tester',
      status: 'idle',
      messages: 1,
    });
  });

  it('has a message pending until a model step has read it', () => {
    const log = [created, message('one'), message('two'), wakeStarted(1), running];
    expect(stateAfter(...log).pending.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(stateAfter(...log, consumed([idOf(2)], 's')).pending.map(({ seq }) => seq)).toEqual([3]);
  });

  it('counts the model steps that ended, of which a lost one is none', () => {
    expect(
      stateAfter(spanStarted('a'), spanCompleted('a'), spanStarted('b'), spanCompleted('b', 'lost')).modelSteps,
    ).toBe(1);
  });

  it('is running while a wake is open and idle after it', () => {
    const log = [created, wakeStarted(1), running];
    expect(stateAfter(...log)).toMatchObject({
      status: 'running',
      stopReason: undefined,
      epoch: 1,
      openWake: { wakeId: 'wake_1' },
    });
    expect(stateAfter(...log, wakeEnded('wake_1'), resting)).toMatchObject({
      status: 'idle',
      stopReason: 'idle',
      openWake: undefined,
      lastWake: { outcome: 'sleep' },
    });
  });

  it('knows of a wake where it worked, and that it has died when another one says its end', () => {
    const host = { id: 'host-1', name: 'one' };
    const begun = {
      ...wakeStarted(1),
      data: { wakeId: 'wake_1', epoch: 1, owner: 'here', queuedWakeIds: [], host },
    } as ReturnType<typeof wakeStarted>;
    const open = stateAfter(created, begun, running);
    expect(open.openWake).toMatchObject({ host });
    const endedUnder = (epoch: number): unknown =>
      foldSession(open, { ...eventAt(open.head + 1, wakeEnded('wake_1', 'interrupted')), epoch }).lastWake;
    expect(endedUnder(1)).toEqual(expect.objectContaining({ host }));
    expect(endedUnder(1)).not.toHaveProperty('hasDied');
    expect(endedUnder(2)).toMatchObject({ host, hasDied: true });
  });

  it('ignores the end of a wake that is not the open one', () => {
    expect(stateAfter(created, wakeStarted(1), running, wakeEnded('wake_9'))).toMatchObject({
      openWake: { wakeId: 'wake_1' },
      wakes: 1,
    });
  });

  it('forgets a queued wake when it was completed, and keeps it when the wake failed', () => {
    const log = [queued('q1'), wakeStarted(1, 'w', ['q1']), running];
    expect(stateAfter(...log, wakeEnded('w', 'sleep', ['q1'])).queuedWakes).toEqual([]);
    expect(stateAfter(...log, wakeEnded('w', 'failed')).queuedWakes).toMatchObject([{ queuedWakeId: 'q1' }]);
  });

  it('remembers what a directive asked for until a wake has ended well, also past one that died', () => {
    const log = [created, wakeStarted(1), running, directed('sleep')];
    expect(stateAfter(...log, wakeEnded('wake_1', 'lost')).openDirectives).toHaveLength(1);
    expect(stateAfter(...log, wakeEnded('wake_1')).openDirectives).toEqual([]);
  });

  it('has unanswered results until the next model step, and none when it went to sleep over them', () => {
    const log = [wakeStarted(1), running, asked('c', 's'), answered('c')];
    expect(stateAfter(...log)).toMatchObject({ openToolCalls: [], unansweredResults: 1 });
    expect(stateAfter(...log, spanStarted('t'), spanCompleted('t', 'failed')).unansweredResults).toBe(1);
    expect(stateAfter(...log, spanStarted('t'), spanCompleted('t')).unansweredResults).toBe(0);
    expect(stateAfter(...log, wakeEnded('wake_1', 'aborted')).unansweredResults).toBe(1);
    expect(stateAfter(...log, wakeEnded('wake_1', 'sleep')).unansweredResults).toBe(0);
  });

  it('counts how often in a row it was told to continue, and starts again with a new message', () => {
    expect(stateAfter(directed('continue'), directed('continue')).continuesInARow).toBe(2);
    expect(stateAfter(directed('continue'), directed('sleep')).continuesInARow).toBe(0);
    expect(stateAfter(directed('continue'), message('x'), consumed([idOf(2)], 's')).continuesInARow).toBe(0);
  });

  it('waits for an answer while a custom tool request is open, and the first answer counts', () => {
    const request = { type: 'agent.custom_tool_use', data: { requestId: 'r', name: 'ask', input: {} } } as const;
    const answer = { type: 'user.custom_tool_result', data: { requestId: 'r', toolName: 'ask', output: 1 } } as const;
    const waiting = [
      wakeStarted(1),
      running,
      request,
      { type: 'session.status_changed', data: { to: 'idle', stopReason: 'requires_action' } },
    ] as const;
    expect(stateAfter(...waiting)).toMatchObject({
      status: 'idle',
      stopReason: 'requires_action',
      pendingActions: [{ requestId: 'r', toolName: 'ask' }],
    });
    expect(stateAfter(...waiting, answer, answer)).toMatchObject({
      status: 'idle',
      stopReason: 'idle',
      pendingActions: [],
      pending: [{ seq: 5 }],
    });
  });

  it('takes no message once it is terminated', () => {
    const state = stateAfter(
      created,
      { type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated', reason: 'enough' } },
      message('late'),
    );
    expect(state).toMatchObject({
      status: 'terminated',
      terminatedAtSeq: 2,
      summary: 'enough',
      pending: [],
      messages: 0,
      head: 3,
    });
  });

  it('passes over events of a later version', () => {
    const event = {
      ...eventAt(2, created),
      type: 'event.unrecognized',
      data: { type: 'moon.risen', v: 1, data: {} },
    } as const;
    expect(foldAll([eventAt(1, created), event])).toMatchObject({ head: 2, status: 'idle' });
  });
});

describe('the logs of these tests', () => {
  it('hold every event of the catalogue', () => {
    const seen = new Set(fc.sample(anyDraft, { numRuns: 20_000, seed: 1 }).map(({ type }) => type));
    const unwritten = new Set(['event.unrecognized']);
    expect(
      Object.keys(sessionEventDefinitions).filter((type) => !seen.has(type as never) && !unwritten.has(type)),
    ).toEqual([]);
  });
});
