/** Holds what a script expects against what came. */
import { beginningOf } from '../../machines/cut-text.ts';
import type { ProviderMessage, ToolMessage, UserMessage } from '../../machines/turn/provider-message.ts';
import type { ScriptExpectation } from './script-schema.ts';

/** Characters of what came that an error shows. */
const MAX_SHOWN_CHARACTERS = 500;

/** What is wrong, in words that show what came, or undefined when everything is as expected. */
export function unmetExpectation(
  expectation: ScriptExpectation,
  messages: readonly ProviderMessage[],
): string | undefined {
  const { lastToolResultIncludes, lastToolResultExcludes, lastToolResultOutcome, lastUserMessageIncludes } =
    expectation;
  const results = lastResults(messages);
  const wantsResults = [lastToolResultIncludes, lastToolResultExcludes, lastToolResultOutcome].some(
    (wanted) => wanted !== undefined,
  );
  if (wantsResults && results === undefined) return 'expected the result of a tool call, and no tool has been called';
  const output = (results ?? []).map((result) => plainText(result.output)).join('\n');
  const said = lastUserText(messages);

  for (const wanted of listOf(lastToolResultIncludes)) {
    if (!output.includes(wanted))
      return `expected the last tool result to include ${JSON.stringify(wanted)}, received: ${shown(output)}`;
  }
  for (const unwanted of listOf(lastToolResultExcludes)) {
    if (output.includes(unwanted))
      return `expected the last tool result not to include ${JSON.stringify(unwanted)}, received: ${shown(output)}`;
  }
  const other = results?.find(
    ({ outcome }) => lastToolResultOutcome !== undefined && outcome !== lastToolResultOutcome,
  );
  if (other !== undefined)
    return `expected the last tool result to be ${lastToolResultOutcome}, received ${other.outcome}: ${shown(output)}`;
  for (const wanted of listOf(lastUserMessageIncludes)) {
    if (!said.includes(wanted))
      return `expected the last user message to include ${JSON.stringify(wanted)}, received: ${shown(said)}`;
  }
  return undefined;
}

/** A tool's output as people read it: every text in it on its own, so that quotes and line breaks need no escaping. */
function plainText(output: unknown): string {
  if (typeof output === 'string') return output;
  if (typeof output !== 'object' || output === null) return JSON.stringify(output) ?? '';
  const texts = Object.entries(output).map(([key, value]) =>
    Array.isArray(output) ? plainText(value) : `${key}: ${plainText(value)}`,
  );
  return texts.join('\n');
}

function lastResults(messages: readonly ProviderMessage[]): ToolMessage['content'] | undefined {
  return messages.findLast((message): message is ToolMessage => message.role === 'tool')?.content;
}

function lastUserText(messages: readonly ProviderMessage[]): string {
  const last = messages.findLast((message): message is UserMessage => message.role === 'user');
  return last?.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? '';
}

/** Whether a conversation began with a message that holds each of the texts. */
export function beginsWith(texts: string | readonly string[], messages: readonly ProviderMessage[]): boolean {
  const first = messages.find((message): message is UserMessage => message.role === 'user');
  const said = first?.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? '';
  return listOf(texts).every((text) => said.includes(text));
}

function listOf(texts: string | readonly string[] | undefined): readonly string[] {
  if (texts === undefined) return [];
  return typeof texts === 'string' ? [texts] : texts;
}

function shown(text: string): string {
  if (text === '') return 'nothing';
  return JSON.stringify(text.length <= MAX_SHOWN_CHARACTERS ? text : `${beginningOf(text, MAX_SHOWN_CHARACTERS)}…`);
}
