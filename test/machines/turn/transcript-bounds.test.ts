import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { conversationCosts, estimateMessages } from '../../../src/machines/turn/conversation-costs.ts';
import { boundTranscript } from '../../../src/machines/turn/transcript-bounds.ts';
import type { BoundedTranscript, TranscriptBounds } from '../../../src/machines/turn/transcript-bounds.ts';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import { providerProblems, shapeProblems } from '../../support/provider-rules.ts';
import { anyLog } from '../../support/session-events.ts';

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word ${index}`).join(' ');
const user = (text: string): ProviderMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string): ProviderMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const step = (callId: string, output: unknown, input: unknown = {}): ProviderMessage[] => [
  { role: 'assistant', content: [{ type: 'tool_call', callId, name: 'shell_run', input }] },
  { role: 'tool', content: [{ type: 'tool_result', callId, name: 'shell_run', outcome: 'completed', output }] },
];

type Fitting = Extract<BoundedTranscript, { kind: 'fits' }>;

function fitting(messages: readonly ProviderMessage[], bounds: TranscriptBounds): Fitting {
  const bounded = boundTranscript(messages, bounds);
  if (bounded.kind !== 'fits') throw new Error(`does not fit: ${bounded.tokens} tokens`);
  expect(bounded.tokens).toBe(estimateMessages(bounded.messages));
  expect(bounded.costs).toEqual(conversationCosts(structuredClone(bounded.messages)));
  expect(bounded.tokens).toBeLessThanOrEqual(bounds.maxTokens);
  expect([...shapeProblems(bounded.messages), ...providerProblems(bounded.messages)]).toEqual([]);
  return bounded;
}

/**
 * Of the messages that are kept, those that are not as they came; what stands in place of older ones is none of them.
 */
function notWhole(given: readonly ProviderMessage[], { messages, omittedMessages }: Fitting): number {
  const kept = given.slice(omittedMessages);
  const made = messages.slice(messages.length - kept.length);
  return kept.filter(
    ({ content }, index) => JSON.stringify(made[index]?.content.slice(-content.length)) !== JSON.stringify(content),
  ).length;
}

const outputs = ({ messages }: Fitting): unknown[] =>
  messages.flatMap((message) => (message.role === 'tool' ? message.content.map(({ output }) => output) : []));

describe('a bounded transcript', () => {
  it('is the whole one while that fits', () => {
    const messages = [user('a'), assistant('b'), user('c')];
    const bounded = fitting(messages, { maxTokens: estimateMessages(messages) });
    expect(bounded.messages).toBe(messages);
    expect([bounded.omittedMessages, bounded.shortenedMessages]).toEqual([0, 0]);
  });

  it('leaves out the outputs of old calls first, and says so where they were', () => {
    const messages = [user('go'), ...Array.from({ length: 12 }, (_, index) => step(`c${index}`, words(200))).flat()];
    const bounded = fitting(messages, { maxTokens: estimateMessages(messages) - 1, keepOutputs: 4 });
    expect([bounded.omittedMessages, bounded.shortenedMessages]).toEqual([0, 8]);
    expect(outputs(bounded).map((output) => output === words(200))).toEqual([
      ...Array<boolean>(8).fill(false),
      ...Array<boolean>(4).fill(true),
    ]);
    expect(outputs(bounded)[0]).toBe(
      `[output of ${words(200).length} characters left out; it is in the log of the session]`,
    );
  });

  it('says in which file an output is kept, and leaves a short one alone', () => {
    const [ask, result] = step('c', words(200));
    const kept = {
      ...result,
      content: result?.content.map((part) => ({ ...part, kept: { path: 'out/c.txt', characters: 9_999 } })),
    } as ProviderMessage;
    const messages = [user('go'), ...(ask === undefined ? [] : [ask]), kept, ...step('d', 'short'), user('next')];
    expect(outputs(fitting(messages, { maxTokens: 300, keepOutputs: 0 }))).toEqual([
      '[output of 9999 characters left out; it is in the log of the session and in the file out/c.txt]',
      'short',
    ]);
  });

  it('leaves out the oldest exchanges then, begins with a user message and says how many are missing', () => {
    const messages = Array.from({ length: 20 }, (_, index) => [
      user(`question ${index} ${words(40)}`),
      assistant(`answer ${index}`),
    ]).flat();
    const { messages: bounded, omittedMessages } = fitting([...messages, user('last')], { maxTokens: 800 });
    expect(omittedMessages).toBeGreaterThan(20);
    expect(omittedMessages % 2).toBe(0);
    expect(bounded[0]?.content[0]).toEqual({
      type: 'text',
      text: `${omittedMessages} earlier messages are left out here; the log of the session keeps them.`,
    });
    expect(bounded.at(-1)).toEqual(user('last'));
    expect(bounded.length).toBeGreaterThan(4);
  });

  it('repeats what a person asked for when only steps of the same turn are left', () => {
    const messages = [
      user('Find the leak in the cellar.'),
      ...Array.from({ length: 30 }, (_, index) => step(`c${index}`, words(30))).flat(),
    ];
    const { messages: bounded } = fitting(messages, { maxTokens: 1_500 });
    expect(JSON.stringify(bounded[0])).toContain('Find the leak in the cellar.');
    expect(bounded.at(-1)).toEqual(messages.at(-1));
  });

  it('begins at the same place for some steps, so that what a provider keeps in its cache is of use', () => {
    const messages = [user('go'), ...Array.from({ length: 60 }, (_, index) => step(`c${index}`, words(20))).flat()];
    const omitted = Array.from(
      { length: 15 },
      (_, taken) => fitting(messages.slice(0, 91 + 2 * taken), { maxTokens: 3_000 }).omittedMessages,
    );
    expect(new Set(omitted).size).toBeLessThan(8);
  });

  it('keeps the summary of what came before', () => {
    const summary: ProviderMessage = {
      role: 'user',
      content: [{ type: 'text', text: 'Summary: a leak.', summarizesThroughSeq: 7 }],
    };
    const messages = [
      summary,
      assistant('ok'),
      ...Array.from({ length: 20 }, (_, index) => [user(`${index} ${words(40)}`), assistant('yes')]).flat(),
    ];
    expect(fitting(messages, { maxTokens: 700 }).messages[0]?.content[0]).toEqual(summary.content[0]);
  });

  it('cuts what has to be answered in the middle when it alone is too large', () => {
    const long = words(5_000);
    const { messages, omittedMessages, shortenedMessages } = fitting([user('a'), assistant('b'), user(long)], {
      maxTokens: 500,
    });
    expect([omittedMessages, shortenedMessages]).toEqual([2, 1]);
    expect(fitting([user(long)], { maxTokens: 500 }).shortenedMessages).toBe(1);
    const text = JSON.stringify(messages.at(-1)?.content);
    expect(text).toMatch(/word 0 word 1 .*\[… \d+ characters left out …\].* word 4999/u);
  });

  it('keeps the results that no step has seen, with the calls and the message after them', () => {
    const messages = [
      user('go'),
      ...step('old', words(100)),
      ...step('c', words(3_000), { content: words(3_000), path: 'a.txt' }),
      user('and now?'),
    ];
    const { messages: bounded } = fitting(messages, { maxTokens: 600 });
    expect(bounded.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(bounded[1]?.content).toMatchObject([{ callId: 'c', input: { path: 'a.txt' } }]);
    expect(bounded.at(-1)).toEqual(user('and now?'));
  });

  it('names files without giving them when there is no room for them', () => {
    const file = {
      type: 'file',
      mediaType: 'image/png',
      name: 'a.png',
      path: 'a.png',
      bytes: 1,
      sha256: 'a'.repeat(64),
    } as const;
    const messages: ProviderMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'Check.' }, file, file] }];
    expect(fitting(messages, { maxTokens: 5_000 }).messages).toBe(messages);
    expect(fitting(messages, { maxTokens: 1_000 }).shortenedMessages).toBe(1);
    expect(fitting(messages, { maxTokens: 1_000 }).messages[0]?.content[1]).toEqual({
      type: 'text',
      text: '[a.png: its content is left out here, since there is no room for it]',
    });
  });

  it('is refused with its size when what has to be answered cannot be made to fit', () => {
    const calls = Array.from({ length: 64 }, (_, index) => step(`c${index}`, words(100)));
    const messages: ProviderMessage[] = [
      { role: 'assistant', content: calls.flatMap(([ask]) => (ask?.role === 'assistant' ? ask.content : [])) },
      { role: 'tool', content: calls.flatMap(([, result]) => (result?.role === 'tool' ? result.content : [])) },
    ];
    expect(boundTranscript([user('go'), ...messages], { maxTokens: 900 })).toEqual({
      kind: 'too_large',
      tokens: expect.any(Number) as number,
      maxTokens: 900,
    });
    expect(boundTranscript([user('go')], { maxTokens: 0 })).toMatchObject({ kind: 'too_large' });
  });

  it('is the same for the same messages, and sound whatever the bound', () => {
    fc.assert(
      fc.property(anyLog, fc.integer({ min: 0, max: 2_000 }), (log, maxTokens) => {
        const messages = assembleTranscript(log);
        const bounded = boundTranscript(messages, { maxTokens });
        expect(boundTranscript(messages, { maxTokens })).toEqual(bounded);
        if (bounded.kind === 'fits' && messages.length > 0)
          expect(fitting(messages, { maxTokens }).shortenedMessages).toBe(notWhole(messages, bounded));
        if (bounded.kind === 'fits') expect(bounded.messages.at(-1)?.role).toBe(messages.at(-1)?.role);
      }),
    );
  });
});
