/** How an actor has ended is told by its outcome, not by the status that every final state has. */
import { describe, expect, it } from 'vitest';
import { outcomeOf, reasonIn } from '../../../src/machines/inspection-log/actor-outcome.ts';
import { recordsOfSession } from '../../../src/machines/inspection-log/session-records.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectedActorState } from '../../../src/machines/inspection-log/inspection-world.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { WakeOutput } from '../../../src/machines/wake/wake-machine.ts';
import { logOf } from '../../support/session-events.ts';

const wakeOutput = (outcome: WakeOutput['outcome']): WakeOutput => ({ isRecorded: true, outcome, modelSteps: 1 });

/** Every word that a wake can end with: the compiler asks for a new one here. */
const WAKES: Readonly<Record<WakeOutput['outcome'], string>> = {
  completed: 'completed',
  sleep: 'completed',
  requires_action: 'completed',
  rescheduled: 'completed',
  terminated: 'completed',
  budget_reached: 'refused',
  failed: 'failed',
  interrupted: 'cancelled',
  aborted: 'cancelled',
};

describe('how an actor has ended', () => {
  it.each(Object.entries(WAKES))('a wake that is done with "%s" has %s', (outcome, expected) => {
    const output = wakeOutput(outcome as WakeOutput['outcome']);
    expect(outcomeOf({ status: 'done', value: 'ended', output })).toBe(expected);
  });

  it('a command that exits with 1 has failed, though the call of its tool has completed', () => {
    const ended = (exitCode: number | null): unknown => ({ outcome: 'completed', output: { exitCode, output: 'no' } });
    expect(outcomeOf({ status: 'done', value: 'completed', output: ended(1) })).toBe('failed');
    expect(outcomeOf({ status: 'done', value: 'completed', output: ended(0) })).toBe('completed');
    expect(outcomeOf({ status: 'done', value: 'completed', output: ended(null) })).toBe('completed');
    const killed = { outcome: 'completed', output: { exitCode: null, signalCode: 'SIGKILL', output: '' } };
    expect(outcomeOf({ status: 'done', value: 'completed', output: killed })).toBe('failed');
  });

  it('charts of others are told by the names of their final states', () => {
    const outcomes = ['paid', 'paymentFailed', 'payment_failed', 'timedOut', 'canceled', 'rejected'].map((value) =>
      outcomeOf({ status: 'done', value }),
    );
    expect(outcomes).toEqual(['completed', 'failed', 'failed', 'failed', 'cancelled', 'failed']);
  });

  it('what runs has not ended, and what its maker stopped was cancelled', () => {
    expect(outcomeOf({ status: 'active', value: 'failed' })).toBeUndefined();
    expect(outcomeOf({ status: 'stopped', value: 'running' })).toBe('cancelled');
    expect(outcomeOf({ status: 'stopped', value: 'running', output: { outcome: 'lost' } })).toBe('unknown');
  });

  it('why it failed is read from what it gives back', () => {
    expect(reasonIn({ outcome: 'failed', error: { message: 'no key', code: 'RUN_FAILED' } })).toEqual({
      message: 'no key',
      code: 'RUN_FAILED',
    });
    expect(reasonIn({ outcome: 'denied', output: 'A person said no.' })).toEqual({ message: 'A person said no.' });
    expect(reasonIn({ outcome: 'completed', output: { exitCode: 1, output: 'ok 1\n3 tests failed\n' } })).toEqual({
      message: '3 tests failed',
    });
    expect([undefined, null, 'x', {}, { output: '' }, { output: { output: '\n' } }].map(reasonIn)).toEqual(
      Array.from({ length: 6 }, () => undefined),
    );
  });
});

describe('a stored session', () => {
  const error = {
    code: 'RUN_FAILED',
    category: 'external',
    message: 'the key is not valid',
    recoverable: true,
  } as const;
  const drafts: readonly SessionEventDraft[] = [
    {
      type: 'wake.started',
      data: { wakeId: 'wake_1', epoch: 1, owner: 'host:1', trigger: 'ingress', queuedWakeIds: [] },
    },
    {
      type: 'wake.ended',
      data: { wakeId: 'wake_1', outcome: 'failed', summary: 'It failed.', modelSteps: 1, completedWakeIds: [], error },
    },
  ] as unknown as readonly SessionEventDraft[];

  it('shows a failed wake as failed, with its error', () => {
    const timeline = new InspectionTimeline();
    timeline.append([...recordsOfSession(logOf(...drafts))]);
    const wake = timeline
      .at(Infinity)
      .actors({ limit: 10 })
      .find(({ kind }) => kind === 'wake') as InspectedActorState;
    expect(wake).toMatchObject({
      status: 'done',
      outcome: 'failed',
      error: { message: 'the key is not valid', code: 'RUN_FAILED' },
    });
  });
});
