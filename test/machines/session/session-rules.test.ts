import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { MAX_OPEN_QUEUED_WAKES, MAX_PENDING_INGRESS } from '../../../src/machines/session/limits.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { stateAfter as checkedStateAfter } from '../../../src/machines/session/session-rules.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import {
  answered,
  asked,
  consumed,
  created,
  following,
  idOf,
  message,
  queued,
  resting,
  running,
  spanCompleted,
  spanStarted,
  stateAfter,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const terminate = {
  type: 'session.status_changed',
  data: { to: 'terminated', stopReason: 'terminated', reason: 'enough' },
} as const;
const answer = (requestId: string, toolName = 'ask'): SessionEventDraft => ({
  type: 'user.custom_tool_result',
  data: { requestId, toolName, output: 1 },
});
const request: SessionEventDraft = { type: 'agent.custom_tool_use', data: { requestId: 'r', name: 'ask', input: {} } };

function refusalCode(state: SessionState, ...drafts: SessionEventDraft[]): string | undefined {
  try {
    checkedStateAfter(state, following(state, drafts));
    return undefined;
  } catch (error) {
    return RuntimeError.is(error) ? error.code : 'not a RuntimeError';
  }
}

const open = [created, wakeStarted(1), running] as const;

describe('an event is refused', () => {
  it.each<[string, SessionEventDraft[], SessionEventDraft, string]>([
    ['a second creation', [created], created, 'SESSION_EXISTS'],
    ['a message to a terminated session', [created, terminate], message('x'), 'SESSION_TERMINATED'],
    ['an answer to a terminated session', [created, request, terminate], answer('r'), 'SESSION_TERMINATED'],
    ['a wake of a terminated session', [created, terminate], wakeStarted(1), 'SESSION_TERMINATED'],
    ['a second end', [created, terminate], terminate, 'SESSION_TERMINATED'],
    ['going to rest without running', [created], resting, 'SESSION_ILLEGAL_TRANSITION'],
    ['an answer nobody asked for', [created], answer('r'), 'REQUEST_NOT_PENDING'],
    ['a second answer', [created, request, answer('r')], answer('r'), 'REQUEST_NOT_PENDING'],
    ['an answer for another tool', [created, request], answer('r', 'other'), 'REQUEST_TOOL_MISMATCH'],
    [
      'reading a message twice',
      [...open, message('x'), consumed([idOf(4)], 's')],
      consumed([idOf(4)], 's'),
      'MESSAGE_NOT_PENDING',
    ],
    ['a wake over an open one', [...open], wakeStarted(2), 'WAKE_EPOCH_STALE'],
    ['a wake with a passed epoch', [...open, wakeEnded('wake_1'), resting], wakeStarted(1), 'WAKE_EPOCH_STALE'],
    ['the end of another wake', [...open], wakeEnded('wake_9'), 'WAKE_NOT_OPEN'],
    ['a second span at once', [...open, spanStarted('a')], spanStarted('b'), 'SPAN_OPEN'],
    ['the end of a span that is not open', [...open], spanCompleted('a'), 'SPAN_NOT_OPEN'],
    ['a tool call under a used id', [...open, asked('c', 's')], asked('c', 's'), 'TOOL_CALL_OPEN'],
    ['a second result', [...open, asked('c', 's'), answered('c')], answered('c'), 'TOOL_CALL_NOT_OPEN'],
  ])('%s', (_name, before, draft, code) => {
    const state = stateAfter(...before);
    expect(refusalCode(state, draft)).toBe(code);
  });

  it('a message when too many wait', () => {
    const state = stateAfter(...Array.from({ length: MAX_PENDING_INGRESS }, () => message('x')));
    expect(refusalCode(state, message('x'))).toBe('SESSION_QUEUE_FULL');
  });

  it('a queued wake when too many are queued', () => {
    const state = stateAfter(...Array.from({ length: MAX_OPEN_QUEUED_WAKES }, (_, index) => queued(`q${index}`)));
    expect(refusalCode(state, queued('one more'))).toBe('WAKE_QUEUE_FULL');
  });
});

describe('events appended together', () => {
  it('are checked against each other', () => {
    expect(
      refusalCode(
        stateAfter(created),
        wakeStarted(1),
        running,
        asked('c', 's'),
        answered('c'),
        wakeEnded('wake_1'),
        resting,
      ),
    ).toBeUndefined();
    expect(refusalCode(stateAfter(created), wakeStarted(1), running, answered('c'))).toBe('TOOL_CALL_NOT_OPEN');
  });

  it('may end a dead wake and begin the next', () => {
    expect(refusalCode(stateAfter(...open), wakeEnded('wake_1', 'lost'), wakeStarted(2), running)).toBeUndefined();
  });
});
