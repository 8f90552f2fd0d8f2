import { describe, expect, it } from 'vitest';
import { foldTurn, hasEnded, parseTurnId, turnId, turnOf } from '../../../src/machines/protocol/turn.ts';
import type { Turn } from '../../../src/machines/protocol/turn.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';

const SESSION = '01a2223b-011f-7000-a31c-f1ddbab5c0bc';
const ref = { sessionId: SESSION, seq: 2 };

type Told = Pick<SessionEvent, 'type'> & { readonly data: object };

/** The turn after its message and these events. */
function after(...events: readonly Told[]): Turn {
  const message = { type: 'user.message', data: { text: 'Hi', delivery: 'queue' } } as const;
  return [message, ...events].reduce<Turn>(
    (turn, event, index) =>
      foldTurn(turn, {
        ...event,
        id: `event-${index}`,
        seq: ref.seq + index,
        at: '2026-01-01T00:00:00.000Z',
        sessionId: SESSION,
        v: 1,
      } as unknown as SessionEvent),
    turnOf(ref),
  );
}

const running: Told = { type: 'session.status_changed', data: { to: 'running' } };
const started: Told = { type: 'wake.started', data: {} };
const read: Told = { type: 'message.consumed', data: { eventIds: ['event-0'] } };
const ended = (outcome: string, more: object = {}): Told => ({
  type: 'wake.ended',
  data: { outcome, summary: `It was ${outcome}.`, ...more },
});
const rests: Told = { type: 'session.status_idle', data: { reason: 'idle', summary: '' } };
const waits = (...blockingEventIds: readonly string[]): Told => ({
  type: 'session.status_idle',
  data: { reason: 'requires_action', summary: '', blockingEventIds },
});
const wake = [running, started, read];

describe('a turn', () => {
  it('is queued until a wake comes to it', () => {
    expect(after().phase).toBe('queued');
    expect(after(running).phase).toBe('working');
  });

  it.each([
    ['sleep', 'completed'],
    ['rescheduled', 'completed'],
    ['budget_reached', 'budget_reached'],
    ['interrupted', 'interrupted'],
    ['failed', 'working'],
    ['aborted', 'working'],
    ['lost', 'working'],
  ])('is, when its session rests after a wake that ended as %s, %s', (outcome, phase) => {
    expect(after(...wake, ended(outcome), rests).phase).toBe(phase);
  });

  it('goes on in the next wake where this one has not read its message', () => {
    expect(after(running, started, ended('sleep'), rests).phase).toBe('queued');
  });

  it('asks while the session waits for a client, and works while it waits for a child', () => {
    expect(after(...wake, ended('requires_action'), waits('request')).phase).toBe('asking');
    expect(after(...wake, ended('requires_action'), waits()).phase).toBe('working');
  });

  it('works while a queued wake is to go on with it', () => {
    const rescheduling: Told = { type: 'session.status_changed', data: { to: 'rescheduling' } };
    expect(after(...wake, ended('rescheduled'), rescheduling).phase).toBe('working');
  });

  it('fails when its session is parked, and says why', () => {
    const parked: Told = { type: 'session.parked', data: { code: 'failures', reason: 'Five in a row.' } };
    expect(after(...wake, ended('failed'), rests, parked)).toMatchObject({ phase: 'failed', note: 'Five in a row.' });
  });

  it('is interrupted at once where no wake runs, and with the wake where one does', () => {
    const interrupt: Told = { type: 'user.interrupt', data: {} };
    expect(after(...wake, ended('requires_action'), waits('request'), interrupt).phase).toBe('interrupted');
    expect(after(...wake, interrupt).phase).toBe('working');
    expect(after(interrupt).phase).toBe('queued');
  });

  it('is over with its session', () => {
    const over: Told = { type: 'session.status_changed', data: { to: 'terminated', reason: 'enough' } };
    expect(after(over)).toMatchObject({ phase: 'terminated', note: 'enough' });
  });

  it('does not change any more once it has ended', () => {
    const turn = after(...wake, ended('sleep'), rests);
    expect(hasEnded(turn)).toBe(true);
    expect(after(...wake, ended('sleep'), rests, running, { type: 'agent.message', data: { text: 'later' } })).toEqual(
      turn,
    );
  });

  it('has a name that can be read back, and nothing else can', () => {
    expect(parseTurnId(turnId(ref))).toEqual(ref);
    for (const text of ['', SESSION, `${SESSION}.0`, `${SESSION}.-1`, `../${SESSION}.1`, `${SESSION}.1.2`])
      expect(parseTurnId(text)).toBeUndefined();
  });
});
