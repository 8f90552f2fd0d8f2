import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { sessionEventDefinitions } from '../../../src/machines/session/event-schemas.ts';
import { checkDraft, placeEvent, readStoredEvent } from '../../../src/machines/session/session-event.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { quickStoredEvent } from '../../../src/machines/session/quick-event.ts';
import { SESSION_ID, START, anyDraft, idOf, newEvent } from '../../support/session-events.ts';

const stored = { id: idOf(1), at: START, type: 'user.message', v: 1, data: { text: 'hello' } };

describe('a stored event', () => {
  it('is read back as it was checked', () => {
    fc.assert(
      fc.property(anyDraft, (draft) => {
        const event = newEvent(1, draft, 3);
        const read = readStoredEvent(JSON.parse(JSON.stringify(event)));
        expect(read === undefined ? undefined : placeEvent(read, SESSION_ID, 7)).toEqual({
          ...event,
          sessionId: SESSION_ID,
          seq: 7,
        });
      }),
    );
  });

  it('is wrapped when its type is of a later version', () => {
    expect(readStoredEvent({ ...stored, type: 'moon.risen', v: 1, data: { full: true } })).toMatchObject({
      type: 'event.unrecognized',
      data: { type: 'moon.risen', v: 1, data: { full: true } },
    });
    expect(readStoredEvent({ ...stored, v: 3, data: { parts: [] } })).toMatchObject({
      type: 'event.unrecognized',
      data: { type: 'user.message', v: 3 },
    });
  });

  it('of an earlier version is brought to the one of today, and read so by the quick way too', () => {
    const today = { type: 'user.message', v: 2, data: { text: 'hello', delivery: 'queue' } };
    expect(readStoredEvent(stored)).toMatchObject(today);
    expect(quickStoredEvent(stored)).toBeUndefined();
    expect(readStoredEvent({ ...stored, ...today })).toMatchObject(today);
    expect(quickStoredEvent({ ...stored, ...today })).toEqual(readStoredEvent({ ...stored, ...today }));
  });

  it('under the name that its type had in an earlier version is read as one of today', () => {
    const restored = { host: 'two', files: 1, bytes: 2, fetchedBytes: 2, mayHaveLost: false };
    expect(readStoredEvent({ ...stored, type: 'hand.restored', data: restored })).toEqual({
      ...stored,
      epoch: undefined,
      type: 'workspace.restored',
      data: restored,
    });
    const codes = ['HAND_TOO_LARGE', 'HAND_COPY_DAMAGED', 'STORAGE_FAILED'].map(
      (code) =>
        readStoredEvent({ ...stored, type: 'hand.not_copied', data: { code, reason: 'r', staysHere: true } })?.data,
    );
    expect(codes).toEqual(
      ['WORKSPACE_COPY_TOO_LARGE', 'WORKSPACE_COPY_DAMAGED', 'STORAGE_FAILED'].map((code) => ({
        code,
        reason: 'r',
        staysHere: true,
      })),
    );
    expect(readStoredEvent({ ...stored, type: 'hand.not_copied', data: { code: 5 } })).toBeUndefined();
    expect(readStoredEvent({ ...stored, type: 'hand.restored', v: 9 })).toMatchObject({
      type: 'event.unrecognized',
      data: { type: 'hand.restored', v: 9 },
    });
  });

  it('is the same read quickly and by its schema, wherever the quick way dares to', () => {
    fc.assert(
      fc.property(anyDraft, (draft) => {
        const event: unknown = JSON.parse(JSON.stringify(newEvent(1, draft, 3)));
        const quick = quickStoredEvent(event);
        if (quick !== undefined) expect(quick).toEqual(readStoredEvent(event));
      }),
    );
  });

  it('of an earlier version that is damaged is none', () => {
    expect(readStoredEvent({ ...stored, data: { text: 5 } })).toBeUndefined();
    expect(readStoredEvent({ ...stored, data: [] })).toBeUndefined();
    expect(readStoredEvent({ ...stored, v: 0 })).toMatchObject({ type: 'event.unrecognized' });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'user.message'],
    ['an event without an id', { ...stored, id: undefined }],
    ['an event whose id is no UUIDv7', { ...stored, id: 'x' }],
    ['an event without data', { ...stored, data: null }],
    ['an event whose data is not that of its type', { ...stored, data: { text: 5 } }],
    ['an event with a broken epoch', { ...stored, epoch: -1 }],
    ['an event with a broken version', { ...stored, v: 1.5 }],
  ])('is not %s', (_name, value) => {
    expect(readStoredEvent(value)).toBeUndefined();
  });

  it('is never anything that happens to be in JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(readStoredEvent(value)).toBeUndefined();
      }),
    );
  });
});

describe('a draft', () => {
  it.each<[string, unknown, RegExp]>([
    ['of an unknown type', { type: 'moon.risen', data: {} }, /"moon.risen" is not a type of session event/],
    ['that names a property of every object', { type: 'constructor', data: {} }, /is not a type/],
    ['of the wrapper type', { type: 'event.unrecognized', data: { type: 'x', v: 1, data: 1 } }, /is not a type/],
    ['with an empty message', { type: 'user.message', data: { text: '' } }, /event user\.message is not valid: text: /],
    [
      'with a function for output',
      { type: 'agent.tool_result', data: { callId: 'c', name: 'n', outcome: 'completed', output: () => 1 } },
      /output: expected a JSON value/,
    ],
    [
      'without its output',
      { type: 'agent.tool_result', data: { callId: 'c', name: 'n', outcome: 'completed' } },
      /output: /,
    ],
  ])('%s is refused', (_name, draft, pattern) => {
    expect(() => checkDraft(draft as SessionEventDraft)).toThrow(pattern);
    try {
      checkDraft(draft as SessionEventDraft);
    } catch (error) {
      expect(RuntimeError.is(error) && error.category).toBe('validation');
    }
  });
});

describe('the catalogue of events', () => {
  it('has dotted names and a description for each', () => {
    for (const [type, { description, v }] of Object.entries(sessionEventDefinitions)) {
      expect(type).toMatch(/^[a-z]+\.[a-z_]+$/);
      expect(description).toMatch(/\.$/);
      expect(v).toBeGreaterThanOrEqual(1);
    }
  });
});
