import { describe, expect, it } from 'vitest';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { explainModel } from '../../../src/machines/session/why-model.ts';
import { created, logOf, message, said, spanCompleted, wakeStarted } from '../../support/session-events.ts';

const first = { provider: 'anthropic', model: 'big', profile: 'work' } as const;
const second = { provider: 'openai', model: 'other' } as const;
const rests = {
  candidate: first,
  because: 'anthropic/big (work) cools down until 2026-01-01T00:01:00.000Z (overloaded)',
} as const;
const busy = { kind: 'overloaded', message: 'busy' } as const;

const began = (spanId: string, more: object = {}): SessionEventDraft => ({
  type: 'span.started',
  data: { spanId, kind: 'model_step', backend: 'embedded', ...first, step: 1, because: 'The first choice.', ...more },
});
const failed: SessionEventDraft = {
  type: 'run.attempt_failed',
  data: {
    spanId: 's',
    attempt: 1,
    candidate: first,
    error: busy,
    next: 'fall_back',
    because: 'Another model is tried.',
  },
};
const selected: SessionEventDraft = {
  type: 'run.candidate_selected',
  data: { spanId: 's', attempt: 2, candidate: second, backend: 'cli-agent', because: 'Fallback 1.', skipped: [rests] },
};
const waiting: SessionEventDraft = {
  type: 'run.waiting',
  data: { spanId: 's', because: 'Every candidate rests.', waitMs: 5_000, skipped: [rests] },
};
const reduced: SessionEventDraft = {
  type: 'run.context_reduced',
  data: { spanId: 's', contextTokens: 10, omittedMessages: 2, shortenedMessages: 1 },
};
const awake = [created, message('Go.'), wakeStarted(1)];
const modelAfter = (...drafts: readonly SessionEventDraft[]): ReturnType<typeof explainModel> =>
  explainModel(logOf(...awake, ...drafts));

describe('why a model speaks', () => {
  it('is not told before one was asked', () => {
    expect(modelAfter()).toBeUndefined();
  });

  it('is told of the first choice, which is asked', () => {
    expect(modelAfter(began('s'))).toMatchObject({
      state: 'running',
      candidate: first,
      backend: 'embedded',
      because: 'The first choice.',
      passedOver: [],
      decisions: [],
      step: 1,
    });
  });

  it('is told of the one that came after a failure, with what was decided and who was passed over', () => {
    const model = modelAfter(began('s'), failed, reduced, selected, said('x', 's'), spanCompleted('s'));
    expect(model).toMatchObject({
      state: 'completed',
      candidate: second,
      backend: 'cli-agent',
      because: 'Fallback 1.',
      passedOver: [rests],
    });
    expect(model?.decisions.map(({ kind }) => kind)).toEqual(['failed', 'reduced', 'selected']);
    expect(model?.decisions[0]).toMatchObject({
      error: busy,
      next: 'fall_back',
      because: 'Another model is tried.',
      at: expect.stringMatching(/^2026-/) as string,
    });
  });

  it('says while all candidates rest what is waited for, and not any more once one is asked again', () => {
    expect(modelAfter(began('s'), failed, waiting)).toMatchObject({ state: 'waiting', passedOver: [rests] });
    expect(modelAfter(began('s'), failed, waiting, selected)).toMatchObject({ state: 'running' });
  });

  it('says how the step failed', () => {
    const broken: SessionEventDraft = {
      type: 'span.completed',
      data: { spanId: 's', kind: 'model_step', outcome: 'failed', modelSteps: 0, error: busy },
    };
    expect(modelAfter(began('s'), broken)).toMatchObject({ state: 'failed', error: busy });
  });

  it('says why the backend was given the whole conversation anew', () => {
    const bound: SessionEventDraft = {
      type: 'backend.session_bound',
      data: {
        spanId: 's',
        backend: 'cli-agent',
        provider: 'claude-code',
        sessionId: 'x',
        generation: 2,
        reseeded: 'The session is gone.',
      },
    };
    expect(modelAfter(began('s'), bound)).toMatchObject({ reseeded: 'The session is gone.' });
  });

  it('is about the newest model step: none before it, no summary, nothing of another span', () => {
    const summary: SessionEventDraft = {
      type: 'span.started',
      data: { spanId: 'c', kind: 'compaction', backend: 'embedded', provider: 'p', model: 'm', step: 2 },
    };
    expect(
      modelAfter(
        began('old'),
        spanCompleted('old'),
        began('s', { step: 2 }),
        spanCompleted('s'),
        summary,
        spanCompleted('c', 'failed'),
      ),
    ).toMatchObject({ spanId: 's', step: 2, state: 'completed' });
    expect(modelAfter(began('new'), failed, selected, waiting, reduced)).toMatchObject({
      state: 'running',
      decisions: [],
      candidate: first,
    });
  });
});
