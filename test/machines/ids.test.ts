import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentId, formatUuidV7, isUuidV7, sessionId } from '../../src/machines/ids.ts';

const random = fc.uint8Array({ minLength: 8, maxLength: 8 });

describe('a UUIDv7', () => {
  it('has the form of RFC 9562, whatever the time and the random bytes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        fc.integer({ min: 0, max: 0xfff }),
        random,
        (unixMs, counter, bytes) => {
          expect(isUuidV7(formatUuidV7({ unixMs, counter, random: bytes }))).toBe(true);
        },
      ),
    );
  });

  it('sorts as text by time, then by counter', () => {
    const moment = fc.tuple(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.integer({ min: 0, max: 0xfff }));
    fc.assert(
      fc.property(moment, moment, random, random, ([time, counter], [otherTime, otherCounter], one, other) => {
        fc.pre(time !== otherTime || counter !== otherCounter);
        const isEarlier = time < otherTime || (time === otherTime && counter < otherCounter);
        expect(
          formatUuidV7({ unixMs: time, counter, random: one }) <
            formatUuidV7({ unixMs: otherTime, counter: otherCounter, random: other }),
        ).toBe(isEarlier);
      }),
    );
  });

  it('carries its time in the first 48 bits', () => {
    expect(formatUuidV7({ unixMs: 0x0123456789ab, counter: 0xcde, random: new Uint8Array(8).fill(0xff) })).toBe(
      '01234567-89ab-7cde-bfff-ffffffffffff',
    );
  });
});

describe('a session id', () => {
  it.each([
    '',
    '../etc',
    '0192f0c1-2345-4abc-8def-0123456789ab',
    '0192F0C1-2345-7ABC-8DEF-0123456789AB',
    '0'.repeat(36),
  ])('is not %j', (text) => {
    expect(sessionId.safeParse(text).success).toBe(false);
  });
});

describe('an agent id', () => {
  it.each(['a', 'code-reviewer', 'a_b', '7', 'a'.repeat(64)])('may be %j', (text) => {
    expect(agentId.safeParse(text).success).toBe(true);
  });

  it.each(['', '.', '..', 'a/b', 'a\\b', 'Reviewer', '-a', 'a-', 'a b', 'a.md', 'a\0', 'ä', 'a'.repeat(65)])(
    'is never %j, which could climb out of its folder or clash',
    (text) => {
      expect(agentId.safeParse(text).success).toBe(false);
    },
  );
});
