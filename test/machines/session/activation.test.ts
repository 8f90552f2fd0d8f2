import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUrgency, isActivation, urgencyRank } from '../../../src/machines/session/activation.ts';
import type { Activation } from '../../../src/machines/session/activation.ts';
import {
  activationChange,
  activationsOf,
  actionableIngress,
  isBlocked,
  isDue,
  isUnfinished,
} from '../../../src/machines/session/session-activations.ts';
import { foldSession } from '../../../src/machines/session/session-fold.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import {
  UNBOUND,
  AGENT_ID,
  IDENTITY,
  SESSION_ID,
  START_MS,
  anyLog,
  asked,
  answered,
  blocked,
  childRested,
  jobEnded,
  jobStarted,
  confirmed,
  consumed,
  created,
  directed,
  idOf,
  interrupted,
  message,
  parked,
  permissionAsked,
  queued,
  resting,
  running,
  stateAfter,
  terminated,
  toolStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const LATER_MS = START_MS + 60_000;
const LATER = new Date(LATER_MS).toISOString();
const child: SessionEventDraft = {
  type: 'session.created',
  data: { agentId: AGENT_ID, parent: { sessionId: idOf(900), depth: 1 }, restriction: UNBOUND },
};
const work: SessionEventDraft = {
  type: 'session.created',
  data: { agentId: AGENT_ID, jobId: 'agent_1', parent: { sessionId: idOf(900), depth: 1 }, restriction: UNBOUND },
};
const rested: SessionEventDraft = { type: 'session.status_idle', data: { reason: 'idle', summary: 'done' } };

/** In short: what kind, of what, when, and how urgent when that is not normal. */
const short = ({ kind, causeId, dueAtMs, priority }: Activation): string => {
  const seq = Array.from({ length: 20 }, (_, index) => index).find((n) => idOf(n) === causeId);
  return `${kind} ${seq === undefined ? causeId : `#${seq}`} ${dueAtMs === START_MS ? 'now' : `+${dueAtMs - START_MS}`}${priority === 'normal' ? '' : ` ${priority}`}`;
};
const dueAfter = (...drafts: readonly SessionEventDraft[]): string[] => activationsOf(stateAfter(...drafts)).map(short);

const woken = [created, message('x'), wakeStarted(1), running] as const;
const untilLater: SessionEventDraft = {
  type: 'permission.requested',
  data: { requestId: 'request_c', callId: 'c', toolName: 'shell_run', input: {}, because: 'it asks', expiresAt: LATER },
};
const waitingUntilLater = [
  ...woken,
  consumed([idOf(2)], 's'),
  asked('c', 's'),
  untilLater,
  wakeEnded('wake_1', 'requires_action'),
  blocked,
] as const;
const waiting = [
  ...woken,
  consumed([idOf(2)], 's'),
  asked('c', 's'),
  permissionAsked('c'),
  wakeEnded('wake_1', 'requires_action'),
  blocked,
] as const;

describe('a session is due', () => {
  it.each<[string, readonly SessionEventDraft[], string[]]>([
    ['for nothing when it is new', [created], []],
    ['for a message at once', [created, message('x')], ['ingress #2 now']],
    [
      'for a message that is to steer or to interrupt before others',
      [created, message('x', 'steer'), message('y', 'interrupt')],
      ['ingress #2 now high', 'ingress #3 now high'],
    ],
    ['for a queued wake at its time', [created, queued('q', LATER)], ['wake q +60000']],
    ['while a wake runs, for what made it due, in case its process dies', woken, ['ingress #2 now']],
    ['while a wake runs, also for what it has read by now', [...woken, consumed([idOf(2)], 's')], ['ingress #2 now']],
    [
      'while a wake runs that nothing made due, for that wake',
      [created, wakeStarted(1), running],
      ['retry wake_1 now'],
    ],
    [
      'while a wake runs that began before its plan, also for that wake',
      [created, queued('q', LATER), wakeStarted(1), running],
      ['wake q +60000', 'retry wake_1 now'],
    ],
    [
      'while a wake runs that began before the end of a back-off, also for that wake',
      [...woken, wakeEnded('wake_1', 'failed', [], LATER), resting, wakeStarted(2), running],
      ['ingress #2 +60000', 'retry wake_2 now'],
    ],
    [
      'while a wake runs over a permission that is void later, also for that wake',
      [...waitingUntilLater, wakeStarted(2), running],
      ['wake expiry-c +60000', 'retry wake_2 now'],
    ],
    [
      'while a wake runs that began over what it owed its parent, also for that wake',
      [child, rested, wakeStarted(1), running],
      ['retry turn-2 now', 'retry wake_1 now'],
    ],
    [
      'for nothing after a wake that did its work',
      [...woken, consumed([idOf(2)], 's'), wakeEnded('wake_1'), resting],
      [],
    ],
    [
      'for what was not read, after its back-off',
      [...woken, wakeEnded('wake_1', 'failed', [], LATER), resting],
      ['ingress #2 +60000'],
    ],
    [
      'at once for a message after a failure',
      [...woken, wakeEnded('wake_1', 'failed', [], LATER), resting, message('y')],
      ['ingress #2 now', 'ingress #7 now'],
    ],
    [
      'for a turn that broke in the middle, after its back-off',
      [
        ...woken,
        consumed([idOf(2)], 's'),
        asked('c', 's'),
        answered('c'),
        wakeEnded('wake_1', 'failed', [], LATER),
        resting,
      ],
      ['retry wake_1 +60000'],
    ],
    [
      'for a turn whose process died',
      [...woken, consumed([idOf(2)], 's'), asked('c', 's'), answered('c'), wakeEnded('wake_1', 'lost')],
      ['retry wake_1 now'],
    ],
    [
      'for a turn that was to go on when its process stopped',
      [...woken, consumed([idOf(2)], 's'), directed('continue'), wakeEnded('wake_1', 'aborted'), resting],
      ['retry wake_1 now'],
    ],
    [
      'for nothing after a limit',
      [
        ...woken,
        consumed([idOf(2)], 's'),
        asked('c', 's'),
        answered('c'),
        wakeEnded('wake_1', 'budget_reached'),
        resting,
      ],
      [],
    ],
    [
      'for nothing after an interruption',
      [
        ...woken,
        consumed([idOf(2)], 's'),
        asked('c', 's'),
        answered('c'),
        interrupted(),
        wakeEnded('wake_1', 'interrupted'),
        resting,
      ],
      [],
    ],
    ['for nothing while it waits for somebody', waiting, []],
    [
      'for no message and no queued wake while it waits for somebody',
      [...waiting, message('y', 'steer'), queued('q')],
      [],
    ],
    [
      'for everything once the answer came',
      [...waiting, message('y'), queued('q'), confirmed('request_c')],
      ['ingress #10 now', 'ingress #12 now high', 'wake q now'],
    ],
    ['for nothing while it is parked', [created, queued('q'), parked], []],
    [
      'for a message that unparks it, and for what was held back',
      [created, queued('q'), parked, message('x')],
      ['ingress #4 now', 'wake q now'],
    ],
    ['for nothing once it is terminated', [created, message('x'), queued('q'), terminated], []],
    ['for nothing once it is terminated, also over a wake that died', [...woken, terminated], []],
    [
      'for the rest of a child',
      [
        created,
        { type: 'session.child_created', data: { childSessionId: idOf(901), agentId: AGENT_ID } },
        childRested(idOf(901), 7),
      ],
      ['ingress #3 now'],
    ],
    [
      'for the end of a job',
      [created, jobStarted('agent_1', idOf(902)), jobEnded('agent_1', idOf(902))],
      ['ingress #3 now'],
    ],
    [
      'for the end of a job once, and of none that it does not know',
      [
        created,
        jobStarted('agent_1', idOf(902)),
        jobEnded('agent_1', idOf(902)),
        jobEnded('agent_1', idOf(902)),
        jobEnded('agent_2', idOf(903)),
      ],
      ['ingress #3 now'],
    ],
    [
      'for nothing as the work of a job: whoever runs that wakes it',
      [work, message('x'), queued('q'), wakeStarted(1), running],
      [],
    ],
    ['for nothing as the work of a job that rests, or has ended', [work, rested, terminated], []],
    ['to tell its parent that it rests', [child, rested], ['retry turn-2 now']],
    ['to tell its parent that it is parked, or has ended', [child, parked, terminated], ['retry turn-3 now']],
    ['for nothing once its parent knows', [child, rested, { type: 'session.parent_told', data: { turn: 2 } }], []],
    [
      'to tell its parent of a rest that came after the one it knows of',
      [child, rested, rested, { type: 'session.parent_told', data: { turn: 2 } }],
      ['retry turn-3 now'],
    ],
  ])('%s', (_name, drafts, expected) => {
    expect(dueAfter(...drafts)).toEqual(expected);
  });

  it('under names that every index can keep, whatever its log holds', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        for (const activation of activationsOf(log.reduce(foldSession, initialSessionState(IDENTITY))))
          expect([activation, isActivation(activation)]).toEqual([activation, true]);
      }),
    );
  });

  it('for a wake that nobody asked for only when its work may be done by now', () => {
    const failed = stateAfter(...woken, wakeEnded('wake_1', 'failed', [], LATER), resting);
    expect([isDue(failed, LATER_MS - 1), isDue(failed, LATER_MS)]).toEqual([false, true]);
    expect(isDue(stateAfter(created, message('x'), parked), LATER_MS)).toBe(false);
    expect(isDue(stateAfter(child, rested), LATER_MS)).toBe(false);
  });
});

describe('a change of state', () => {
  const apply = (before: SessionState, after: SessionState, hints: ReadonlySet<string>): Set<string> => {
    const { activate, settle } = activationChange(before, after);
    const next = new Set([...hints, ...activate.map((each) => JSON.stringify(each))]);
    for (const each of settle) next.delete(JSON.stringify(each));
    return next;
  };

  it('makes due what is due now and settles what is not any more, event by event, for any log', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        let state = initialSessionState(IDENTITY);
        let hints: ReadonlySet<string> = new Set();
        for (const event of log) {
          const next = foldSession(state, event);
          hints = apply(state, next, hints);
          state = next;
          const wanted = activationsOf(state).map((each) => `${each.dueAtMs} ${each.causeId}`);
          const there = [...hints]
            .map((text) => JSON.parse(text) as Activation)
            .map((each) => `${each.dueAtMs} ${each.causeId}`);
          expect(new Set(there)).toEqual(new Set(wanted));
        }
      }),
    );
  });

  it('says nothing of what an event leaves alone', () => {
    const before = stateAfter(...woken);
    expect(
      activationChange(before, stateAfter(...woken, { type: 'agent.message', data: { text: 'x', spanId: 's' } })),
    ).toEqual({ activate: [], settle: [] });
  });

  it('makes everything due again at the end of a wake, whoever took a hint away meanwhile', () => {
    const { activate } = activationChange(
      stateAfter(...woken, queued('q', LATER)),
      stateAfter(...woken, queued('q', LATER), wakeEnded('wake_1', 'aborted'), resting),
    );
    expect(activate.map(short)).toEqual(['ingress #2 now', 'wake q +60000']);
  });
});

describe('the order of what is due', () => {
  const activation = (changes: Partial<Activation>): Activation => ({
    sessionId: SESSION_ID,
    agentId: AGENT_ID,
    causeId: 'a',
    kind: 'ingress',
    dueAtMs: 0,
    priority: 'normal',
    ...changes,
  });

  it('is by priority, then messages before wakes before retries, then time', () => {
    const inOrder = [
      activation({ priority: 'high', kind: 'retry', dueAtMs: 9 }),
      activation({ dueAtMs: 8 }),
      activation({ dueAtMs: 9 }),
      activation({ kind: 'wake', dueAtMs: 1 }),
      activation({ kind: 'retry', dueAtMs: 0 }),
      activation({ priority: 'low', dueAtMs: 0 }),
    ];
    expect(inOrder.toReversed().toSorted(compareUrgency)).toEqual(inOrder);
    expect(new Set(inOrder.map(urgencyRank)).size).toBe(5);
  });
});

describe('a session', () => {
  it('is blocked only while a call waits for somebody, and then only answers can be acted upon', () => {
    expect(isBlocked(stateAfter(...waiting))).toBe(true);
    const answeredState = stateAfter(...waiting, message('y'), confirmed('request_c'));
    expect(isBlocked(answeredState)).toBe(false);
    expect(actionableIngress(stateAfter(...waiting, message('y')))).toEqual([]);
    expect(actionableIngress(answeredState).map(({ type }) => type)).toEqual([
      'user.message',
      'user.tool_confirmation',
    ]);
  });

  it('with one of two answers may only go on with that one', () => {
    const two = [
      ...woken,
      asked('c', 's'),
      asked('d', 's'),
      permissionAsked('c'),
      permissionAsked('d'),
      message('y'),
      confirmed('request_d'),
    ];
    expect(isBlocked(stateAfter(...two))).toBe(true);
    expect(actionableIngress(stateAfter(...two)).map(({ type }) => type)).toEqual(['user.tool_confirmation']);
  });

  it.each<[string, readonly SessionEventDraft[], boolean]>([
    ['an open call', [...woken, asked('c', 's')], true],
    ['a call that started', [...woken, asked('c', 's'), toolStarted('c')], true],
    ['results that no step has seen', [...woken, asked('c', 's'), answered('c')], true],
    ['a directive to go on', [...woken, directed('continue'), wakeEnded('wake_1', 'failed')], true],
    ['nothing after a wake that slept', [...woken, asked('c', 's'), answered('c'), wakeEnded('wake_1')], false],
  ])('has left %s', (_name, drafts, expected) => {
    expect(isUnfinished(stateAfter(...drafts))).toBe(expected);
  });
});
