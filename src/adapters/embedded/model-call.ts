/**
 * One call of a model, made from what a run is given: the conversation, the tools, the limits, and where a provider may
 * cache what it read.
 */
import type { AgentRunParams } from '../../actors/run/agent-runtime.ts';
import { messagesOf } from '../../actors/run/agent-runtime.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import type { CheckedProviderSettings } from '../../machines/run/provider-settings.ts';
import { mayThink, readableBy, withoutReasoning } from './given-back.ts';
import type { ModelCall, ModelMessage, ModelTool, ProviderOptions } from './language-model.ts';
import { OPTIONS_NAMES } from './load-models.ts';
import type { HttpInterface } from './load-models.ts';
import { promptOf } from './prompt.ts';
import { requestOptions } from './request-options.ts';
import type { RequestOptions } from './request-options.ts';
import { ShownFiles } from './shown-files.ts';
import type { FileSort } from './shown-files.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

export interface ModelCallOptions {
  readonly params: AgentRunParams;
  readonly api: HttpInterface;
  readonly settings: CheckedProviderSettings;
  readonly files: WorkspaceFiles;
}

const READS: Readonly<Record<HttpInterface, readonly FileSort[]>> = {
  anthropic: ['image', 'pdf'],
  openai: ['image', 'pdf'],
  'openai-chat': ['image'],
};

/** OpenAI takes no longer ones. */
const MAX_CACHE_KEY_CHARACTERS = 64;

export async function modelCall(options: ModelCallOptions): Promise<ModelCall> {
  const { params, api, settings, files } = options;
  const { instructions, workspaceDir, provider, model, tools = [] } = params;
  const readable = readableBy(messagesOf(params), { api, provider, model });
  const request = withinTurn(options, readable);
  // Where nothing is said of thinking, a model may think all the same.
  const messages = thinkingOf(request) === 'disabled' ? withoutReasoning(readable) : readable;
  const shown = await ShownFiles.load(messages, { files, workspaceDir, api, reads: settings.reads ?? READS[api] });
  const prompt = promptOf({ instructions, messages, files: shown, api, provider, model });
  const offered = tools.map((tool) => offeredTool(tool, api));
  const call =
    api === 'anthropic'
      ? withCacheHints({ prompt, tools: offered, ...request })
      : { prompt, tools: offered, ...request };
  const providerOptions = { [OPTIONS_NAMES[api]]: ownOptions(call.options, params, api) };
  return {
    ...call.settings,
    prompt: call.prompt,
    ...(call.tools.length === 0 ? {} : { tools: call.tools }),
    providerOptions,
  };
}

/** Thinking that adapts itself goes on wherever a turn began; what has a budget does not. */
function withinTurn(
  { params, api, settings: { options = {} } }: ModelCallOptions,
  messages: readonly ProviderMessage[],
): RequestOptions {
  const maxOutputTokens = params.budget?.maxOutputTokens;
  const request = requestOptions(api, options, maxOutputTokens);
  if (api !== 'anthropic' || thinkingOf(request) !== 'enabled' || mayThink(messages)) return request;
  return requestOptions(api, { ...options, thinking: { type: 'disabled' } }, maxOutputTokens);
}

function thinkingOf({ options: { thinking } }: RequestOptions): unknown {
  return typeof thinking === 'object' && thinking !== null && !Array.isArray(thinking) ? thinking['type'] : undefined;
}

function offeredTool(
  { name, description, inputSchema }: NonNullable<AgentRunParams['tools']>[number],
  api: HttpInterface,
): ModelTool {
  // The Responses interface is strict where nothing is said, and refuses schemas with anything optional.
  return {
    type: 'function',
    name,
    description,
    inputSchema: { ...inputSchema },
    ...(api === 'openai' ? { strict: false } : {}),
  };
}

function ownOptions(
  options: RequestOptions['options'],
  params: AgentRunParams,
  api: HttpInterface,
): ProviderOptions[string] {
  if (api === 'openai')
    return { promptCacheKey: beginningOf(params.sessionId, MAX_CACHE_KEY_CHARACTERS), ...options, store: false };
  return { ...options };
}

interface CachedCall extends RequestOptions {
  readonly prompt: ModelMessage[];
  readonly tools: ModelTool[];
}

/**
 * Four places, which is as many as Anthropic takes: the end of the tools, of the instructions, of the conversation, and
 * of what the call before this one had read, in case the end lies too far from it to be found.
 */
function withCacheHints({ prompt, tools, options, settings }: CachedCall): CachedCall {
  const { cacheControl = { type: 'ephemeral' }, ...others } = options;
  const hint = { providerOptions: { anthropic: { cacheControl } } };
  const lastAnswer = prompt.findLastIndex(({ role }) => role === 'assistant');
  const places = new Set([prompt.length - 1, lastAnswer - 1, prompt[0]?.role === 'system' ? 0 : -1]);
  return {
    prompt: prompt.map((message, index) => (places.has(index) ? { ...message, ...hint } : message)),
    tools: tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, ...hint } : tool)),
    options: others,
    settings,
  };
}
