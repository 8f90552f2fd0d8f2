import { describe, expect, it } from 'vitest';
import { contextOutlook } from '../../../src/machines/turn/context-outlook.ts';
import { contextPressure } from '../../../src/machines/turn/context-pressure.ts';
import { contextReport } from '../../../src/machines/turn/context-report.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { estimateMessages } from '../../../src/machines/turn/conversation-costs.ts';
import { boundTranscript, protectedStart } from '../../../src/machines/turn/transcript-bounds.ts';

const report = {
  ...contextReport({ instructions: '', tools: [], messages: [], maxTokens: 1_000, reservedForOutput: 0 }),
  messages: 1,
};
const user = (text: string): ProviderMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string): ProviderMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const words = (count: number): string => Array.from({ length: count }, (_, index) => `word ${index}`).join(' ');

describe('the pressure of a context', () => {
  it.each([
    [0, 'low'],
    [499, 'low'],
    [500, 'moderate'],
    [749, 'moderate'],
    [750, 'high'],
    [899, 'high'],
    [900, 'critical'],
    [5_000, 'critical'],
  ])('at %i of 1000 tokens is %s', (total, level) => {
    expect(contextPressure({ ...report, total })).toMatchObject({ level, share: total / 1_000 });
  });

  it('says what most is spent on and what is left out', () => {
    expect(contextPressure({ ...report, total: 600, tools: 300, omittedMessages: 2 }).because).toBe(
      'About 60 % of the context is spent, 50 % of that on the tools. Earlier messages are left out (2) or shortened (0); the log keeps them.',
    );
  });
});

describe('the newest exchanges', () => {
  const messages = [
    ...Array.from({ length: 20 }, (_, index) => [
      user(`question ${index} ${words(40)}`),
      assistant(`answer ${index}`),
    ]).flat(),
    user('a'),
    assistant(words(400)),
    user('b'),
    assistant(words(400)),
    user('and now?'),
  ];

  it('are cut before any of them is left out, and what has to be answered stays whole', () => {
    const bounded = boundTranscript(messages, { maxTokens: 700 });
    if (bounded.kind !== 'fits') throw new Error('does not fit');
    const kept = JSON.stringify(bounded.messages);
    expect(kept).toContain('question 19');
    expect(kept).toContain('left out');
    expect(bounded.messages.at(-1)).toEqual(user('and now?'));
    expect(bounded.tokens).toBe(estimateMessages(bounded.messages));
    expect(bounded.omittedMessages).toBe(protectedStart(messages));
  });

  it('are named with what would go next', () => {
    const outlook = contextOutlook(messages);
    expect(outlook.protected).toMatchObject({ exchanges: 4, messages: 7 });
    expect(outlook.next).toMatchObject([{ what: 'oldest_exchanges', messages: protectedStart(messages) }]);
    expect(contextOutlook(messages, 'summarize').next[0]).toMatchObject({ what: 'summary' });
  });
});
