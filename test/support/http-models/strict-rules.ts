/**
 * What the documentation of each interface says that it refuses with a status of 400, held against the very request
 * that was sent. The strictest reading counts: a request that passes is taken whichever way a sentence of the
 * documentation is meant.
 */
import { createHash } from 'node:crypto';
import { geminiBody } from './gemini-shapes.ts';
import type { ModelMessage, RequestBody } from './strict-shapes.ts';
import { anthropicBody, chatBody, responsesBody } from './strict-shapes.ts';
import type { ApiName } from './protocol.ts';

/** OpenAI: "array too long. Expected an array with maximum length 128". */
const MAX_OPENAI_TOOLS = 128;
const MIN_THINKING_TOKENS = 1_024;
const MAX_CACHE_HINTS = 4;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const CALL_ID: Readonly<Record<ApiName, RegExp>> = {
  anthropic: /^[a-zA-Z0-9_-]{1,64}$/,
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  'openai-chat': /^[a-zA-Z0-9_-]{1,40}$/,
  gemini: /^[a-zA-Z0-9_-]{1,64}$/,
};

/** What a model signs its reasoning with: another text, another model or another interface, and it is not its own. */
export function sealOf(api: ApiName, model: string, text: string): string {
  return `seal_${createHash('sha256')
    .update(JSON.stringify([api, model, text]))
    .digest('hex')}`;
}

/** What a request says, in one shape. @throws ZodError what the interface does not know */
export function readRequest(api: ApiName, body: Readonly<Record<string, unknown>>): RequestBody {
  return { anthropic: anthropicBody, openai: responsesBody, 'openai-chat': chatBody, gemini: geminiBody }[api](body);
}

/** What is wrong with a request, in words; nothing when the provider would take it. */
export function requestProblems(api: ApiName, body: Readonly<Record<string, unknown>>): string[] {
  const read = readRequest(api, body);
  const problems = [
    ...callProblems(read, api),
    ...textProblems(read),
    ...toolProblems(read, api),
    ...reasoningProblems(read, api),
  ];
  return api === 'anthropic' ? [...problems, ...thinkingProblems(read)] : problems;
}

/** Every call has one result, right after the message that asks, and before anything else that is said there. */
function callProblems({ messages }: RequestBody, api: ApiName): string[] {
  const problems: string[] = [];
  const used = new Set<string>();
  if (messages[0]?.role !== 'user') problems.push('does not begin with a user message');
  for (const [index, { role, blocks }] of messages.entries()) {
    const at = `message ${index} (${role})`;
    if (messages[index - 1]?.role === role && api === 'anthropic') problems.push(`${at} follows one of the same role`);
    const asked = callsOf(messages[index - 1]);
    const answered = blocks.flatMap((block) => (block.kind === 'result' ? [block.id] : []));
    if (role === 'user' && [...asked].toSorted().join() !== [...answered].toSorted().join())
      problems.push(`${at} answers [${answered.join()}] where [${asked.join()}] was asked`);
    if (role === 'user' && blocks.slice(0, answered.length).some(({ kind }) => kind !== 'result'))
      problems.push(`${at} has something before its results`);
    if (role === 'assistant' && answered.length > 0) problems.push(`${at} has results`);
    for (const block of blocks) {
      if (block.kind !== 'call') continue;
      if (used.has(block.id)) problems.push(`${at} uses the id ${block.id} again`);
      used.add(block.id);
      if (!CALL_ID[api].test(block.id) || !TOOL_NAME.test(block.name))
        problems.push(`${at} calls ${block.name} as ${block.id}`);
      if (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input))
        problems.push(`${at} calls ${block.name} with no object`);
    }
  }
  if (messages.at(-1)?.role === 'assistant') problems.push('ends with what the assistant said');
  return problems;
}

function textProblems({ messages }: RequestBody): string[] {
  return messages.flatMap(({ role, blocks }, index) => {
    const at = `message ${index} (${role})`;
    const isBlank = blocks.some(
      (block) => (block.kind === 'text' || block.kind === 'result') && block.text.trim() === '',
    );
    return [...(blocks.length === 0 ? [`${at} is empty`] : []), ...(isBlank ? [`${at} has a blank text`] : [])];
  });
}

function toolProblems({ tools, messages, cacheHints }: RequestBody, api: ApiName): string[] {
  const problems = tools.filter((name) => !TOOL_NAME.test(name)).map((name) => `offers a tool named ${name}`);
  if (new Set(tools).size < tools.length) problems.push('offers a tool twice');
  if (api !== 'anthropic' && tools.length > MAX_OPENAI_TOOLS)
    problems.push(`tools: array too long, ${tools.length} instead of at most ${MAX_OPENAI_TOOLS}`);
  if (api === 'anthropic' && tools.length === 0 && messages.some((message) => callsOf(message).length > 0))
    problems.push('has calls and defines no tools');
  if (cacheHints > MAX_CACHE_HINTS) problems.push(`has ${cacheHints} places to cache at`);
  return problems;
}

/** Reasoning is given back as it was said, to the model that said it, and something that came of it follows. */
function reasoningProblems({ model, messages }: RequestBody, api: ApiName): string[] {
  return messages.flatMap(({ blocks }, index) => {
    const foreign = blocks.filter((block) => block.kind === 'thought' && block.seal !== sealOf(api, model, block.text));
    const last = blocks.at(-1)?.kind === 'thought' ? [`message ${index} ends in a thought`] : [];
    return [...foreign.map(() => `message ${index}: invalid signature in a thought`), ...last];
  });
}

/** Of Anthropic alone. A turn that goes on begins with a thought when thinking is on, and has none when it is off. */
function thinkingProblems({ messages, thinking, settings }: RequestBody): string[] {
  const turn = openTurn(messages);
  if (thinking === undefined)
    return turn.some(({ said }) => said.blocks.some(({ kind }) => kind === 'thought'))
      ? ['has thoughts in the turn that goes on, with thinking off']
      : [];
  const { budgetTokens = MIN_THINKING_TOKENS, type } = thinking;
  const problems: string[] = [];
  if (type === 'enabled' && (budgetTokens < MIN_THINKING_TOKENS || budgetTokens >= settings.maxTokens))
    problems.push(`has a thinking budget of ${budgetTokens} of ${settings.maxTokens} tokens`);
  if (settings.temperature !== undefined && settings.temperature !== 1)
    problems.push('has a temperature with thinking on');
  const mustThink = type === 'enabled' ? turn.filter(({ isLast, beginsAnew }) => isLast || beginsAnew) : [];
  for (const { said, at } of mustThink)
    if (said.blocks[0]?.kind !== 'thought')
      problems.push(`messages.${at}.content.0.type: Expected \`thinking\`, but found ${said.blocks[0]?.kind}`);
  return problems;
}

interface OpenSaying {
  readonly said: ModelMessage;
  readonly at: number;
  /** It is the newest of its turn. */
  readonly isLast: boolean;
  /** Somebody has spoken before it, and not only a tool. */
  readonly beginsAnew: boolean;
}

/** What the assistant said in the turn that the last results belong to. */
function openTurn(messages: readonly ModelMessage[]): readonly OpenSaying[] {
  const turn: OpenSaying[] = [];
  for (let at = messages.length - 2; at >= 0; at -= 2) {
    const [said, after, before] = [messages[at], messages[at + 1], messages[at - 1]];
    if (said?.role !== 'assistant' || after?.blocks.some(({ kind }) => kind === 'result') !== true) break;
    turn.push({
      said,
      at,
      isLast: turn.length === 0,
      beginsAnew: before?.blocks.some(({ kind }) => kind !== 'result') ?? true,
    });
  }
  return turn;
}

function callsOf(message: ModelMessage | undefined): string[] {
  return message?.blocks.flatMap((block) => (block.kind === 'call' ? [block.id] : [])) ?? [];
}
