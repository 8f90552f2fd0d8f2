import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundTranscript } from '../../../src/machines/turn/transcript-bounds.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import { anyLog } from '../../support/session-events.ts';

const sizeOf = (messages: readonly ProviderMessage[]): number => messages.reduce((size, { content }) => size + JSON.stringify(content).length, 0);
const user = (text: string): ProviderMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string): ProviderMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });

describe('a bounded transcript', () => {
  it('is the whole one while that fits', () => {
    const messages = [user('a'), assistant('b'), user('c')];
    expect(boundTranscript(messages, { maxCharacters: sizeOf(messages) })).toBe(messages);
  });

  it('leaves out the oldest, begins with a user message and says what is missing', () => {
    const messages = [user('a'.repeat(50)), assistant('b'.repeat(50)), user('c'.repeat(50)), assistant('d'.repeat(50)), user('e')];
    const bounded = boundTranscript(messages, { maxCharacters: 260 });
    expect(bounded.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(bounded[0]?.content).toMatchObject([{ text: '2 earlier messages are left out here; the log of the session keeps them.' }, { text: 'c'.repeat(50) }]);
  });

  it('keeps the last message, however large', () => {
    const last = user('x'.repeat(1_000));
    expect(boundTranscript([user('a'), assistant('b'), last], { maxCharacters: 10 }).at(-1)?.content).toContainEqual({ type: 'text', text: 'x'.repeat(1_000) });
  });

  it('never parts a call from its result, and never ends elsewhere', () => {
    fc.assert(
      fc.property(anyLog, fc.integer({ min: 1, max: 2_000 }), (log, maxCharacters) => {
        const messages = assembleTranscript(log);
        const bounded = boundTranscript(messages, { maxCharacters });
        for (const [index, current] of bounded.entries()) {
          const calls = current.role === 'assistant' ? current.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : [])) : [];
          const next = bounded[index + 1];
          expect(next?.role === 'tool' ? next.content.map(({ callId }) => callId) : []).toEqual(calls);
        }
        if (bounded !== messages) expect(bounded[0]?.role).toBe('user');
        if (messages.length > 0) expect(JSON.stringify(bounded.at(-1))).toContain(JSON.stringify(messages.at(-1)?.content).slice(1, -1));
      }),
    );
  });
});
