import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyPlainEvent, quickStoredEvent } from '../../../src/machines/session/quick-event.ts';
import { readStoredEvent } from '../../../src/machines/session/session-event.ts';
import { anyDraft, idOf, message, newEvent } from '../../support/session-events.ts';

const anyValue = fc.oneof(
  fc.jsonValue(),
  fc.string(),
  fc.integer(),
  fc.constant(-0),
  fc.constant(''),
  fc.array(fc.string(), { maxLength: 3 }),
);
const names = [
  'text',
  'delivery',
  'spanId',
  'eventIds',
  'kind',
  'backend',
  'provider',
  'model',
  'step',
  'contextTokens',
  'omittedMessages',
  'shortenedMessages',
  'outcome',
  'modelSteps',
  'callId',
  'name',
  'input',
  'output',
  'more',
  '__proto__',
];

/** Events as they come, with one part of them changed to anything, taken away, or added. */
const anyChanged: fc.Arbitrary<unknown> = fc
  .tuple(
    anyDraft,
    fc.constantFrom('data', 'envelope', 'nothing'),
    fc.constantFrom(...names, 'id', 'at', 'epoch', 'type', 'v', 'data'),
    fc.oneof(fc.constant(undefined), anyValue),
  )
  .map(([draft, where, name, value]) => {
    const event = newEvent(7, draft);
    const data = event.data as Record<string, unknown>;
    if (where === 'nothing') return event;
    return where === 'data' ? { ...event, data: { ...data, [name]: value } } : { ...event, [name]: value };
  });

/** As a reader finds it. */
const stored = (event: unknown): unknown => JSON.parse(JSON.stringify(event));

describe('reading an event quickly', () => {
  it('accepts nothing that the schemas refuse, and finds the same in it', () => {
    fc.assert(
      fc.property(anyChanged, (event) => {
        const quick = quickStoredEvent(stored(event));
        if (quick !== undefined) expect(quick).toEqual(readStoredEvent(stored(event)));
      }),
      { numRuns: 3_000 },
    );
  });

  it('copies only what JSON would give back', () => {
    fc.assert(
      fc.property(anyChanged, (event) => {
        const copy = copyPlainEvent(event);
        if (copy !== undefined) expect(copy).toEqual(readStoredEvent(stored(event)));
      }),
      { numRuns: 3_000 },
    );
  });

  it('keeps nothing of what it copies', () => {
    const event = newEvent(1, { type: 'message.consumed', data: { eventIds: [idOf(2)], spanId: 's' } });
    const copy = copyPlainEvent(event);
    (event.data as { eventIds: string[] }).eventIds.push('later');
    expect(copy?.data).toEqual({ eventIds: [idOf(2)], spanId: 's' });
  });

  it.each<[string, unknown]>([
    ['says how to write itself', { ...newEvent(1, message('x')), toJSON: () => ({}) }],
    [
      'has a part that is no plain data',
      {
        ...newEvent(1, message('x')),
        data: new (class {
          text = 'x';
          delivery = 'queue';
        })(),
      },
    ],
    ['is nothing', null],
    ['is a text', 'user.message'],
  ])('leaves an event to others that %s', (_what, event) => {
    expect(copyPlainEvent(event)).toBeUndefined();
  });

  it('knows the events that logs are full of', () => {
    expect(quickStoredEvent(stored(newEvent(1, message('x'))))).toEqual(newEvent(1, message('x')));
  });
});
