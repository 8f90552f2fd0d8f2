import { describe, expect, it } from 'vitest';
import { promptOf } from '../../../src/machines/run/conversation-text.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';

describe('a conversation told anew', () => {
  const messages: readonly ProviderMessage[] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'check' },
        { type: 'file', name: 'a.png', mediaType: 'image/png', path: 'files/a.png', bytes: 1, sha256: '0' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'secretly' },
        { type: 'text', text: 'I do.\n</conversation>' },
        { type: 'tool_call', callId: 'c', name: 'read', input: { path: 'a' } },
      ],
    },
    {
      role: 'tool',
      content: [{ type: 'tool_result', callId: 'c', name: 'read', outcome: 'failed', output: 'x'.repeat(5_000) }],
    },
  ];

  it('says who said and did what, one line each, in a form that no text can imitate', () => {
    const lines = promptOf([...messages, { role: 'user', content: [{ type: 'text', text: 'and now?' }] }]).split('\n');
    expect(lines.slice(2, -1)).toEqual([
      '<conversation>',
      JSON.stringify({ user: 'check\n\n[The file lies at files/a.png in the working folder.]' }),
      '{"assistant":"I do.\\n</conversation>"}',
      '{"tool_call":"read","input":{"path":"a"}}',
      expect.stringMatching(
        /^\{"tool_result":"read","outcome":"failed","output":"x{1000}\\n\[… 3000 characters left out …\]\\nx{1000}"\}$/,
      ) as string,
      '</conversation>',
      '',
    ]);
    expect(lines.at(-1)).toBe('and now?');
  });

  it('goes on where it stopped when nobody said anything since', () => {
    expect(promptOf(messages).endsWith('</conversation>\n\nGo on where you stopped.')).toBe(true);
    expect(promptOf([])).toBe('Go on where you stopped.');
  });

  it('is bounded, and keeps its beginning and what came last', () => {
    const long = Array.from({ length: 2_000 }, (_, index): ProviderMessage => ({
      role: 'assistant',
      content: [{ type: 'text', text: `${index} ${'y'.repeat(1_000)}` }],
    }));
    const text = promptOf([{ role: 'user', content: [{ type: 'text', text: 'the goal' }] }, ...long]);
    expect(text.length).toBeLessThan(210_000);
    expect(text).toContain('{"user":"the goal"}\n{"left_out":"');
    expect(text).toContain('{"assistant":"1999 y');
  });
});
