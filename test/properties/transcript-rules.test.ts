/** The checkers find what the providers refuse: without that, a conversation that passes them would prove nothing. */
import { describe, expect, it } from 'vitest';
import type { ProviderMessage } from '../../src/machines/turn/provider-message.ts';
import {
  anthropicProblems,
  chatProblems,
  providerProblems,
  responsesProblems,
  shapeProblems,
  toAnthropicMessages,
  toChatMessages,
  toResponsesItems,
} from '../support/provider-rules.ts';

const user = (text: string): ProviderMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string): ProviderMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const asks = (...ids: string[]): ProviderMessage => ({
  role: 'assistant',
  content: ids.map((callId) => ({ type: 'tool_call', callId, name: 'read', input: {} })),
});
const answers = (...ids: string[]): ProviderMessage => ({
  role: 'tool',
  content: ids.map((callId) => ({ type: 'tool_result', callId, name: 'read', outcome: 'completed', output: 'x' })),
});
const thinks: ProviderMessage = { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }] };
const GOOD = [user('go'), asks('a', 'b'), answers('a', 'b'), user('and'), assistant('done'), user('thanks')];

const chat = (messages: readonly ProviderMessage[]): string[] => chatProblems(toChatMessages(messages));
const responses = (messages: readonly ProviderMessage[]): string[] => responsesProblems(toResponsesItems(messages));
const anthropic = (messages: readonly ProviderMessage[]): string[] => anthropicProblems(toAnthropicMessages(messages));

describe('the checkers of the rules of providers', () => {
  it('find nothing in a sound conversation', () => {
    expect([...providerProblems(GOOD), ...shapeProblems(GOOD)]).toEqual([]);
  });

  const BROKEN: readonly [string, readonly ProviderMessage[]][] = [
    ['no message', []],
    ['a call without a result', [user('go'), asks('a', 'b'), answers('a')]],
    ['a call without a result before somebody speaks', [user('go'), asks('a'), user('well?')]],
    ['a result that nobody asked for', [user('go'), assistant('x'), answers('a')]],
    ['two results for a call', [user('go'), asks('a'), answers('a', 'a')]],
    ['an id twice in a message', [user('go'), asks('a', 'a'), answers('a', 'a')]],
    ['an id that is not accepted', [user('go'), asks('a b'), answers('a b')]],
    ['a blank user text', [user(' \n')]],
    ['a lone surrogate', [user('\ud800')]],
  ];

  it.each(BROKEN)('of every provider find %s', (_, messages) => {
    expect(chat(messages)).not.toEqual([]);
    expect(responses(messages)).not.toEqual([]);
    expect(anthropic(messages)).not.toEqual([]);
  });

  it('find a name and an input that are not accepted', () => {
    const call = (name: string, input: unknown): ProviderMessage[] => [
      user('go'),
      { role: 'assistant', content: [{ type: 'tool_call', callId: 'a', name, input }] },
      answers('a'),
    ];
    expect(providerProblems(call('rm -rf', {}))).toHaveLength(3);
    expect(providerProblems(call('read', [1]))).toHaveLength(3);
  });

  it('of OpenAI find an assistant that says nothing, and an id that is too long', () => {
    expect(chat([user('go'), thinks])).toEqual(['message 1 (assistant) has neither content nor calls']);
    expect(chat([user('go'), asks('x'.repeat(41)), answers('x'.repeat(41))])).not.toEqual([]);
  });

  it('of Anthropic find a wrong beginning, a wrong ending, a nameless thought and an id that comes again', () => {
    expect(anthropic([assistant('hello')])).toContain('does not begin with a user message');
    expect(anthropic([user('go'), assistant('done ')])).toEqual(['ends in white space that the assistant said']);
    expect(anthropic([user('go'), thinks, user('and')])).not.toEqual([]);
    expect(anthropic([user('go'), asks('a'), answers('a'), asks('a'), answers('a')])).toContain(
      'message 3 (assistant) uses a again',
    );
  });

  it('of our own promises find what the providers would forgive', () => {
    expect(shapeProblems([user('go'), user('again')])).not.toEqual([]);
    expect(shapeProblems([user('go'), asks('a', 'b'), answers('b', 'a')])).not.toEqual([]);
    expect(shapeProblems([user('go'), { role: 'assistant', content: [] }])).not.toEqual([]);
    expect(shapeProblems([answers('a')])).not.toEqual([]);
  });
});
