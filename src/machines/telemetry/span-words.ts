/**
 * The words of the spans: names and attributes of the semantic conventions for generative AI where they have one,
 * `wakechart.*` where not.
 */
import type { RunUsage } from '../run/run-output.ts';
import type { SessionEventData } from '../session/session-event.ts';
import type { SpanAttributes } from './span-operation.ts';

/** Providers whose name in the conventions is another than the one they usually have here. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  'claude-code': 'anthropic',
  codex: 'openai',
  gemini: 'gcp.gemini',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
};

type Attribute = string | number | boolean | undefined;

/** Without those that are not known. */
function known(attributes: Readonly<Record<string, Attribute>>): SpanAttributes {
  const entries = Object.entries(attributes).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== undefined,
  );
  return Object.fromEntries(entries);
}

export function providerName(provider: string): string {
  return Object.hasOwn(PROVIDER_NAMES, provider) ? (PROVIDER_NAMES[provider] ?? provider) : provider;
}

export function wakeAttributes(
  sessionId: string,
  agentId: string | undefined,
  {
    wakeId,
    epoch,
    trigger,
  }: Pick<SessionEventData<'wake.started'>, 'wakeId'> & Partial<SessionEventData<'wake.started'>>,
): SpanAttributes {
  return known({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': agentId,
    'gen_ai.agent.name': agentId,
    'gen_ai.conversation.id': sessionId,
    'wakechart.wake.id': wakeId,
    'wakechart.wake.epoch': epoch,
    'wakechart.wake.trigger': trigger,
  });
}

export function stepAttributes(
  sessionId: string,
  { kind, backend, provider, model, step, contextTokens }: SessionEventData<'span.started'>,
): SpanAttributes {
  return known({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(provider),
    'gen_ai.request.model': model,
    'gen_ai.conversation.id': sessionId,
    'wakechart.step.kind': kind,
    'wakechart.step.number': step,
    'wakechart.backend': backend,
    'wakechart.context_tokens': contextTokens,
  });
}

/** Without an operation of the conventions: what counts calls of models would count a step and its attempts. */
export function attemptAttributes({
  attempt,
  provider,
  model,
}: {
  readonly attempt: number;
  readonly provider: string;
  readonly model: string;
}): SpanAttributes {
  return {
    'gen_ai.provider.name': providerName(provider),
    'gen_ai.request.model': model,
    'wakechart.attempt.number': attempt,
  };
}

export function toolAttributes(
  sessionId: string,
  {
    callId,
    name,
    attempt,
    ranBy,
  }: {
    readonly callId: string;
    readonly name: string;
    readonly attempt?: number | undefined;
    readonly ranBy?: string | undefined;
  },
): SpanAttributes {
  return known({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': callId,
    'gen_ai.tool.type': 'function',
    'gen_ai.conversation.id': sessionId,
    'wakechart.tool.attempt': attempt,
    'wakechart.tool.ran_by': ranBy,
  });
}

export function usageAttributes(usage: RunUsage = {}): SpanAttributes {
  return known({
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    'wakechart.usage.cost': usage.cost,
    'wakechart.usage.is_estimate': usage.isEstimate,
  });
}
