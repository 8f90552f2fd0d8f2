import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conversationCosts, estimateMessages } from '../../../src/machines/turn/conversation-costs.ts';
import {
  IMAGE_TOKENS,
  estimateTokens,
  estimateTools,
  messageCosts,
} from '../../../src/machines/turn/token-estimate.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';

/**
 * Texts with the number of tokens that a byte-pair vocabulary of 100,000 entries makes of them, as its publisher
 * documents.
 */
const KNOWN = [
  ['Hello, world!', 4],
  ['The quick brown fox jumps over the lazy dog.', 10],
  ['antidisestablishmentarianism', 6],
  ['2 + 2 = 4', 7],
  ['お誕生日おめでとう', 9],
] as const;

/** The same characters in every run. */
function repeated(alphabet: string, length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return alphabet[state % alphabet.length] ?? '';
  }).join('');
}

describe('the estimate of a text', () => {
  it.each(KNOWN)('%j is not less than its %d tokens and not twice as many', (text, tokens) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(tokens);
    expect(estimateTokens(text)).toBeLessThan(2 * tokens);
  });

  it('goes by kinds of characters: words are cheap; digits, base64 and CJK are dear', () => {
    const perCharacter = (text: string): number => estimateTokens(text) / text.length;
    expect(
      perCharacter('The runtime keeps a log of everything that has happened in a session. '.repeat(20)),
    ).toBeGreaterThan(0.2);
    expect(
      perCharacter('The runtime keeps a log of everything that has happened in a session. '.repeat(20)),
    ).toBeLessThan(0.33);
    expect(perCharacter(repeated('0123456789', 900))).toBeGreaterThanOrEqual(1 / 3);
    expect(
      perCharacter(repeated('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', 900)),
    ).toBeGreaterThan(0.6);
    expect(perCharacter(repeated('0123456789abcdef', 900))).toBeGreaterThan(0.5);
    expect(perCharacter('会话的日志保存了一切'.repeat(20))).toBeGreaterThan(1);
    expect(estimateTokens('🙂')).toBe(3);
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens(' '.repeat(800))).toBeLessThanOrEqual(101);
  });

  it('of two texts joined is near the sum of both', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (one, other) => {
        expect(Math.abs(estimateTokens(one + other) - estimateTokens(one) - estimateTokens(other))).toBeLessThanOrEqual(
          4,
        );
      }),
    );
  });
});

describe('the estimate of messages', () => {
  const image = { type: 'file', mediaType: 'image/png', name: 'a', path: 'a', bytes: 9, sha256: 'a' } as const;
  const messages: ProviderMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'Check.' }, image] },
    { role: 'assistant', content: [{ type: 'tool_call', callId: 'c', name: 'read', input: { path: 'b' } }] },
    {
      role: 'tool',
      content: [
        {
          type: 'tool_result',
          callId: 'c',
          name: 'read',
          outcome: 'completed',
          output: { pages: [{ type: 'image', mediaType: 'image/png', path: 'b' }] },
        },
      ],
    },
  ];

  it('is the sum of each', () => {
    expect(estimateMessages(messages)).toBe(
      messages.reduce((tokens, message) => tokens + estimateMessages([message]), 0),
    );
  });

  it('counts images by a constant, wherever they are referred to', () => {
    expect(messages.map((message) => messageCosts(message).attachments)).toEqual([IMAGE_TOKENS, 0, IMAGE_TOKENS]);
  });

  it('counts other files by their bytes', () => {
    const cost = (mediaType: string): number =>
      messageCosts({ role: 'user', content: [{ ...image, mediaType, bytes: 4_800 }] }).attachments;
    expect([cost('text/plain'), cost('application/pdf')]).toEqual([1_600, 300]);
  });

  it('counts a tool with its schema', () => {
    const tool = { name: 'read', description: 'Reads a file.', inputSchema: { type: 'object' } };
    expect(estimateTools([tool, tool])).toBe(2 * estimateTools([tool]));
    expect(
      estimateTools([{ ...tool, inputSchema: { type: 'object', description: 'Some more words.' } }]),
    ).toBeGreaterThan(estimateTools([tool]));
  });
});

describe('the costs of a conversation that is counted again and again', () => {
  const said = (text: string, summarizesThroughSeq?: number): ProviderMessage => ({
    role: 'user',
    content: [{ type: 'text', text, ...(summarizesThroughSeq === undefined ? {} : { summarizesThroughSeq }) }],
  });
  const messages = [said('first'), said('a'), said('of two words'), said('summary', 3), said('d'), said('later', 7)];

  it('are those of the same words counted once, whatever was added, changed or taken off in between', () => {
    const place = fc.nat({ max: messages.length - 1 });
    fc.assert(
      fc.property(fc.array(fc.array(place, { maxLength: 8 }), { minLength: 1, maxLength: 12 }), (conversations) => {
        const first = said('first');
        for (const places of conversations) {
          const conversation = [first, ...places.flatMap((at) => messages[at] ?? [])];
          expect(conversationCosts(conversation)).toEqual(conversationCosts(structuredClone(conversation)));
        }
      }),
    );
  });
});
