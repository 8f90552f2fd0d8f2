import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { decideNext, dueWakeIds, hasWork } from '../../../src/machines/wake/wake-decision.ts';
import type { WakeProgress } from '../../../src/machines/wake/wake-decision.ts';
import type { Directive } from '../../../src/machines/wake/directive.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import {
  START,
  START_MS,
  answered,
  asked,
  created,
  directed,
  message,
  queued,
  running,
  spanCompleted,
  spanStarted,
  stateAfter,
  wakeStarted,
} from '../../support/session-events.ts';

const LIMITS = { maxModelStepsPerWake: 10, maxIdenticalCalls: 3, maxStepsWithoutProgress: 4 };

const FRESH: WakeProgress = {
  modelSteps: 0,
  elapsedMs: 0,
  limits: LIMITS,
  hasDriven: false,
  identicalCalls: 0,
  stepsWithoutProgress: 0,
  nextStep: {},
  now: new Date(START_MS).toISOString(),
  mustSpeak: false,
};
const open = [created, wakeStarted(1), running] as const;
const accept = (directive: Partial<Directive>): SessionEventDraft => ({
  type: 'directive.accepted',
  data: { directive: { outcome: 'sleep', summary: 'done', queuedWakes: [], learnings: [], ...directive }, spanId: 's' },
});
const error = new RuntimeError('X', 'x', { category: 'provider' }).toJSON();
const terminate = { type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated' } } as const;

describe('a wake', () => {
  it.each<[string, SessionEventDraft[], Partial<WakeProgress>, object]>([
    ['takes a step for a message', [message('x')], {}, { act: 'step' }],
    ['takes a step for tool results', [asked('c', 's'), answered('c')], {}, { act: 'step' }],
    ['takes a step when something is due', [], { mustSpeak: true }, { act: 'step' }],
    ['goes on when told to continue', [directed('continue')], {}, { act: 'step' }],
    ['sleeps when nothing is left', [], {}, { act: 'end', end: { outcome: 'sleep', summary: undefined } }],
    ['sleeps when told to', [directed('sleep')], {}, { act: 'end', end: { outcome: 'sleep', summary: 'done' } }],
    [
      'sleeps when told to, over results of that very step',
      [asked('c', 's'), directed('sleep'), answered('c')],
      {},
      { act: 'end', end: { outcome: 'sleep' } },
    ],
    ['sees a message that came after it was told to sleep', [directed('sleep'), message('x')], {}, { act: 'step' }],
    [
      'is rescheduled when told to continue later',
      [accept({ outcome: 'continue', followUpSeconds: 5 })],
      {},
      { act: 'end', end: { outcome: 'rescheduled' } },
    ],
    [
      'waits for an answer it asks for',
      [accept({ customToolRequest: { name: 'ask', input: {} } })],
      {},
      { act: 'end', end: { outcome: 'requires_action' } },
    ],
    [
      'waits for an answer that was asked for before',
      [{ type: 'agent.custom_tool_use', data: { requestId: 'r', name: 'ask', input: {} } }],
      {},
      { act: 'end', end: { outcome: 'requires_action' } },
    ],
    [
      'ends at its limit of steps',
      [message('x')],
      { modelSteps: 10 },
      { act: 'end', end: { outcome: 'budget_reached', budget: { name: 'maxModelStepsPerWake', value: 10 } } },
    ],
    [
      'ends when the same call comes to the same again and again',
      [message('x')],
      { identicalCalls: 3 },
      { act: 'end', end: { outcome: 'budget_reached', budget: { name: 'maxIdenticalCalls', value: 3 } } },
    ],
    [
      'ends when nothing new comes of its steps',
      [message('x')],
      { stepsWithoutProgress: 4 },
      { act: 'end', end: { outcome: 'budget_reached', budget: { name: 'maxStepsWithoutProgress', value: 4 } } },
    ],
    ['goes on one before that', [message('x')], { identicalCalls: 2, stepsWithoutProgress: 3 }, { act: 'step' }],
    [
      'does not take a step that could use up more than is left',
      [message('x')],
      { limits: { ...LIMITS, maxTokensPerWake: 100 }, nextStep: { tokens: 101 } },
      { act: 'end', end: { outcome: 'budget_reached', budget: { name: 'maxTokensPerWake', value: 100 } } },
    ],
    [
      'takes one that uses up what is left',
      [message('x')],
      { limits: { ...LIMITS, maxTokensPerWake: 100, maxCostPerWake: 2 }, nextStep: { tokens: 100, cost: 2 } },
      { act: 'step' },
    ],
    [
      'does not spend money when the price is not known',
      [message('x')],
      { limits: { ...LIMITS, maxCostPerSession: 5 }, nextStep: { cost: Infinity } },
      {
        act: 'end',
        end: {
          outcome: 'budget_reached',
          budget: { name: 'maxCostPerSession', because: expect.stringContaining('price') as string },
        },
      },
    ],
    ['may continue three times in a row', Array.from({ length: 3 }, () => directed('continue')), {}, { act: 'step' }],
    [
      'may not continue a fourth time',
      Array.from({ length: 4 }, () => directed('continue')),
      {},
      { act: 'end', end: { outcome: 'budget_reached', budget: { value: 3 } } },
    ],
    [
      'ends when a step failed, though messages wait',
      [message('x')],
      { failure: error },
      { act: 'end', end: { outcome: 'failed' } },
    ],
    [
      'ends when it was stopped, though messages wait',
      [message('x')],
      { abortReason: 'enough' },
      { act: 'end', end: { outcome: 'aborted', reason: 'enough' } },
    ],
    [
      'ends when the session was terminated, above all',
      [message('x'), terminate],
      { failure: error, abortReason: 'x' },
      { act: 'end', end: { outcome: 'terminated' } },
    ],
  ])('%s', (_name, events, progress, expected) => {
    expect(decideNext(stateAfter(...open, ...events), { ...FRESH, ...progress })).toMatchObject(expected);
  });
});

describe('a session has work', () => {
  const later = new Date(START_MS + 60_000).toISOString();

  it.each<[string, SessionEventDraft[], boolean]>([
    ['not when it is new', [created], false],
    ['when a message waits', [created, message('x')], true],
    ['when a queued wake is due', [created, queued('q', START)], true],
    ['not before a queued wake is due', [created, queued('q', later)], false],
    ['when results wait for the model', [...open, asked('c', 's'), answered('c')], true],
    [
      'not when the model has seen them',
      [...open, asked('c', 's'), answered('c'), spanStarted('t'), spanCompleted('t')],
      false,
    ],
    ['when a call was left open', [...open, asked('c', 's')], true],
    ['when a directive was not carried out', [...open, directed('sleep')], true],
  ])('%s', (_name, events, expected) => {
    expect(hasWork(stateAfter(...events), START)).toBe(expected);
  });

  it('with due wakes in the order of their times', () => {
    const state = stateAfter(
      queued('late', later),
      queued('second', START),
      queued('first', new Date(START_MS - 1).toISOString()),
    );
    expect(dueWakeIds(state, START)).toEqual(['first', 'second']);
  });
});
