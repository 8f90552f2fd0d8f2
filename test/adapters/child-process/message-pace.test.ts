/** How many long messages of one worker are read. */
import { describe, expect, it } from 'vitest';
import { LONG_MESSAGES_AT_ONCE, MessagePace } from '../../../src/adapters/child-process/talking-worker.ts';

describe('long messages', () => {
  it('are read in a row up to a limit, and then as time goes by', () => {
    let now = 0;
    const pace = new MessagePace(() => now);
    const read = (count: number): number =>
      Array.from({ length: count }, () => pace.refusal()).filter((refusal) => refusal === undefined).length;
    expect(read(1_000)).toBe(LONG_MESSAGES_AT_ONCE);
    now += 1_000;
    expect(read(1_000)).toBe(10);
    now += 1_000_000;
    expect(read(1_000)).toBe(LONG_MESSAGES_AT_ONCE);
    expect(pace.refusal()).toMatch(/long messages in a row/);
  });
});
