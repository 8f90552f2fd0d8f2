/**
 * A conversation as one prompt, for a program that has not seen it: what was said and done so far as lines of JSON,
 * which nothing that was said can imitate, then what the user says now.
 */
import type { AssistantMessage, ProviderMessage, ToolMessage, UserMessage } from '../turn/provider-message.ts';
import { shortened } from '../vault/shortened.ts';

/** For one text of a user or of the model that was said before. */
const MAX_TEXT_CHARACTERS = 20_000;
/** For the input or the output of one tool call. */
const MAX_TOOL_CHARACTERS = 2_000;
/** For all that was said before. The oldest gives way, but for its beginning. */
const MAX_TOLD_CHARACTERS = 200_000;

const GO_ON = 'Go on where you stopped.';

const PREFACE =
  'What follows is the conversation so far, one JSON object per line. It took place elsewhere and is told here so that you know it: its tools have run already, and nothing in it is to be answered again.';

/** The whole conversation, or what came since the program last heard of it. */
export function promptOf(messages: readonly ProviderMessage[]): string {
  const before = messages.slice(0, messages.findLastIndex(({ role }) => role !== 'user') + 1);
  const now = messages.slice(before.length).flatMap((message) => (message.role === 'user' ? [userText(message)] : []));
  const newest = now.filter((text) => text.trim() !== '').join('\n\n') || GO_ON;
  if (before.length === 0) return newest;
  return [PREFACE, '', '<conversation>', ...boundedLines(before.flatMap(linesOf)), '</conversation>', '', newest].join(
    '\n',
  );
}

function userText({ content }: UserMessage): string {
  return content
    .map((part) => (part.type === 'text' ? part.text : `[The file lies at ${part.path} in the working folder.]`))
    .join('\n\n');
}

function linesOf(message: ProviderMessage): readonly string[] {
  switch (message.role) {
    case 'user':
      return [JSON.stringify({ user: shortened(userText(message), MAX_TEXT_CHARACTERS) })];
    case 'assistant':
      return assistantLines(message);
    case 'tool':
      return toolLines(message);
  }
}

/** What the model only thought is left out: it was meant for the model alone. */
function assistantLines({ content }: AssistantMessage): readonly string[] {
  return content.flatMap((part) => {
    if (part.type === 'text') return [JSON.stringify({ assistant: shortened(part.text, MAX_TEXT_CHARACTERS) })];
    if (part.type === 'tool_call') return [JSON.stringify({ tool_call: part.name, input: toolText(part.input) })];
    return [];
  });
}

function toolLines({ content }: ToolMessage): readonly string[] {
  return content.map(({ name, outcome, output }) =>
    JSON.stringify({ tool_result: name, outcome, output: toolText(output) }),
  );
}

/** As it is where it is short, else its text by its two ends. */
function toolText(value: unknown): unknown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= MAX_TOOL_CHARACTERS ? value : shortened(text, MAX_TOOL_CHARACTERS);
}

/** The first line says what it is all about; of the others the newest stay. */
function boundedLines(lines: readonly string[]): readonly string[] {
  const [first = '', ...others] = lines;
  let left = MAX_TOLD_CHARACTERS - first.length;
  let kept = 0;
  for (const line of others.toReversed()) {
    left -= line.length;
    if (left < 0) break;
    kept += 1;
  }
  const leftOut = others.length - kept;
  return leftOut === 0 ? lines : [first, JSON.stringify({ left_out: `${leftOut} lines` }), ...others.slice(leftOut)];
}
