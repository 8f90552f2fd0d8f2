/** What the bytes of a stream of events tell, however they are cut. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventLines, MAX_EVENT_BYTES } from '../../../src/adapters/embedded/event-lines.ts';
import type { Heard } from '../../../src/adapters/embedded/event-lines.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the bytes of a stream', () => {
  it.each<readonly [string, Heard]>([
    [': OPENROUTER PROCESSING, which is a comment that is longer than what is checked\n\n', 'nothing'],
    [':\n', 'nothing'],
    ['\n\r\n', 'nothing'],
    ['event: ping\ndata: {"type": "ping", "padding": "longer than what is checked of a line"}\n\n', 'ping'],
    ['event:ping\r\ndata: {}\r\n\r\n', 'ping'],
    ['event: pings\ndata: {}\n\n', 'said'],
    ['data: x\n\n', 'said'],
    ['event: ping\ndata: {}\n\ndata: x\n\n', 'said'],
  ])('%j tells %s, also byte by byte', (text, heard) => {
    expect(new EventLines().add(bytes(text))).toBe(heard);
    const slowly = new EventLines();
    const all = [...bytes(text)].map((byte) => slowly.add(Uint8Array.of(byte)));
    expect(all.includes('said') ? 'said' : all.includes('ping') ? 'ping' : 'nothing').toBe(heard);
  });

  it('are measured by the event, whichever way they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3 * 1024 * 1024 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        const whole = new EventLines();
        for (const size of sizes) {
          whole.add(new Uint8Array(size).fill(120));
          whole.add(bytes('\n\n'));
        }
        expect(whole.isEndless).toBe(false);
      }),
      { numRuns: 20 },
    );
    const endless = new EventLines();
    for (let sent = 0; sent <= MAX_EVENT_BYTES; sent += 1024 * 1024) endless.add(new Uint8Array(1024 * 1024).fill(120));
    expect(endless.isEndless).toBe(true);
  });
});
