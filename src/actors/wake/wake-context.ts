/**
 * What a model step needs: the agent with its backend and tools, and the bounded conversation. Everything here is
 * thrown away after the step.
 */
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { narrowedAgent, narrowedTools } from '../../machines/agent/narrowed-agent.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { affordableOutput, priceOf } from '../../machines/run/prices.ts';
import type { ModelPrice, PriceTable } from '../../machines/run/prices.ts';
import { maxToolsOf } from '../../machines/run/provider-settings.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { Allowance } from '../../machines/session/event-parts.ts';
import { DEFAULT_MAX_CONTEXT_TOKENS, DEFAULT_MAX_OUTPUT_TOKENS } from '../../machines/session/limits.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { contextReport, tokensForMessages } from '../../machines/turn/context-report.ts';
import type { ContextReport } from '../../machines/turn/context-report.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import { NAME_THE_TOOLS, countTools, limitedTools } from '../../machines/turn/tool-limit.ts';
import { describeTool } from '../../machines/turn/tool-schema.ts';
import { estimateMessages } from '../../machines/turn/conversation-costs.ts';
import { estimateTools } from '../../machines/turn/token-estimate.ts';
import { boundTranscript } from '../../machines/turn/transcript-bounds.ts';
import { instructionsFor } from '../../machines/wake/instructions.ts';
import type { AgentRunConfig, AgentRunParams, AgentRuntime } from '../run/agent-runtime.ts';
import { placeOfSession } from '../session/session-directories.ts';
import { buildTools } from '../turn/agent-tools.ts';
import type { PreparedAgent, SkippedTool } from '../turn/tool.ts';
import type { WakePorts } from './wake-ports.ts';

/**
 * @param read the definition of its agent
 * @throws RuntimeError AGENT_INVALID, AGENT_RUNTIME_NOT_FOUND, and what entering the environment throws
 */
export async function prepareAgent(
  session: SessionState,
  read: AgentDefinition,
  ports: WakePorts,
  signal: AbortSignal,
): Promise<PreparedAgent> {
  const own = narrowedAgent(read, session.narrowing);
  const workspaceDirectory = await ports.directories.workspaceDirectory(placeOfSession(session));
  const entered = await ports.environments?.enter({ session, agent: own, workspaceDirectory });
  const definition = entered?.agent ?? own;
  // A fallback that no backend could run is found now, not in the middle of an outage.
  const [runtime] = modelsOf(definition).map(({ provider }) => ports.runtimes.resolve(provider, ports.runConfig));
  if (runtime === undefined)
    throw new RuntimeError('AGENT_INVALID', `expected a model for the agent ${session.agentId}`, {
      category: 'validation',
    });
  const agentDirectory = ports.directories.agentDirectory(session.agentId);
  const place = {
    definition,
    workspaceDirectory,
    agentDirectory,
    ...(entered === undefined ? {} : { environment: entered.environment }),
  };
  return {
    ...place,
    runtime,
    ...(await preparedTools(place, session, ports, signal)),
    ...(await rememberedBy(session.agentId, ports)),
  };
}

/**
 * The same agent with the tools that its servers have now, where one of them has said that they are others, and what is
 * not among them any more.
 */
export async function withCurrentTools(
  agent: PreparedAgent,
  session: SessionState,
  ports: WakePorts,
  signal: AbortSignal,
): Promise<{ readonly agent: PreparedAgent; readonly skipped: readonly SkippedTool[] }> {
  if ((ports.toolSource?.changes ?? 0) === agent.toolChanges) return { agent, skipped: [] };
  const prepared = await preparedTools(agent, session, ports, signal);
  const told = new Set(agent.skippedTools.map(({ name, reason }) => `${name}: ${reason}`));
  return {
    agent: { ...agent, ...prepared },
    skipped: prepared.skippedTools.filter(({ name, reason }) => !told.has(`${name}: ${reason}`)),
  };
}

type PreparedTools = Pick<PreparedAgent, 'tools' | 'descriptors' | 'skippedTools' | 'leftOutTools' | 'toolChanges'>;

async function preparedTools(
  { definition, agentDirectory, environment }: Pick<PreparedAgent, 'definition' | 'agentDirectory' | 'environment'>,
  session: SessionState,
  ports: WakePorts,
  signal: AbortSignal,
): Promise<PreparedTools> {
  const read = (): number => ports.toolSource?.changes ?? 0;
  const before = read();
  const box = {
    tools: ports.tools,
    agents: ports.agents,
    source: ports.toolSource,
    agentDirectory,
    environment,
    signal,
  };
  const built = await buildTools(definition, box);
  // Also what was taken from its parents.
  const narrowed = narrowedTools(narrowedTools(built.tools, session.narrowing), session.restriction);
  const { tools, leftOut } = limitedTools(narrowed, toolLimit(definition, ports.runConfig));
  const descriptors = [...tools.values()].map((tool) => describeTool(tool.definition));
  return {
    tools,
    descriptors,
    skippedTools: [...built.skipped, ...leftOut],
    leftOutTools: leftOut,
    toolChanges: before,
  };
}

/** The smallest of all candidates: what is sent to the first may have to be sent to the last. */
function toolLimit(
  definition: AgentDefinition,
  { providers }: AgentRunConfig,
): { readonly provider: string; readonly maxTools: number } | undefined {
  const limits = modelsOf(definition).flatMap(({ provider }) => {
    const maxTools = maxToolsOf(provider, providers);
    return maxTools === undefined ? [] : [{ provider, maxTools }];
  });
  return limits.toSorted((one, other) => one.maxTools - other.maxTools)[0];
}

/** A memory that cannot be read keeps no wake from going on. */
async function rememberedBy(
  agentId: string,
  { memory, onListenerError }: WakePorts,
): Promise<Pick<PreparedAgent, 'memory'>> {
  try {
    return { memory: await memory?.brief(agentId) };
  } catch (error) {
    onListenerError(error, 'listener');
    return {};
  }
}

export interface StepSource {
  readonly agent: PreparedAgent;
  readonly state: SessionState;
  readonly messages: readonly ProviderMessage[];
  /** The ingress events that the messages hold and no step has answered. */
  readonly consumed: readonly string[];
  readonly runId: string;
  readonly runConfig: AgentRunConfig;
  /** What is left of the budgets; no bound where absent. */
  readonly remaining: Allowance;
  readonly prices: PriceTable;
}

export interface AssembledStep {
  readonly runtime: AgentRuntime;
  readonly params: AgentRunParams;
  /** The same as in the source. */
  readonly consumed: readonly string[];
  readonly context: ContextReport;
  /** Tokens that the step may write, where a budget bounds it. */
  readonly maxOutputTokens: number | undefined;
}

/** @throws RuntimeError CONTEXT_TOO_LARGE when what the model has to answer cannot be made to fit */
export function assembleStep({
  agent,
  state,
  messages,
  consumed,
  runId,
  runConfig,
  remaining,
  prices,
}: StepSource): AssembledStep {
  const { definition, runtime, descriptors: tools, workspaceDirectory, agentDirectory } = agent;
  const instructions = instructionsFor(definition.instructions, state.outcome, agent.memory, agent.leftOutTools);
  const space = {
    instructions,
    tools,
    maxTokens: maxContextTokens(definition),
    reservedForOutput: outputReserve(definition),
  };
  const bounded = boundTranscript(messages, { maxTokens: tokensForMessages(space) });
  if (bounded.kind === 'too_large') throw tooLarge(bounded, agent);
  const context = contextReport({ ...space, ...bounded });
  const maxOutputTokens = outputBound(remaining, inputTokensOf(context), priceOf(definition, prices));
  return {
    runtime,
    consumed,
    context,
    maxOutputTokens,
    params: {
      runId,
      sessionId: state.sessionId,
      instructions,
      messages: bounded.messages,
      provider: definition.provider,
      model: definition.model,
      config: runConfig,
      workspaceDir: workspaceDirectory,
      agentDir: agentDirectory,
      modelStepsTaken: state.modelSteps,
      tools,
      ...(maxOutputTokens === undefined ? {} : { budget: { maxOutputTokens } }),
    },
  };
}

/** The share of a conversation that is given to a model which could not read all of it. */
const SHRUNK_SHARE = 0.5;

export interface ShrunkMessages {
  readonly messages: readonly ProviderMessage[];
  readonly omittedMessages: number;
  readonly shortenedMessages: number;
  /** Of the messages, by estimate. */
  readonly tokens: number;
}

/** The same conversation with less of what came first; undefined when there is nothing to leave out. */
export function shrunkMessages({ params }: AssembledStep): ShrunkMessages | undefined {
  const { messages } = params;
  if (messages === undefined) return undefined;
  const before = estimateMessages(messages);
  const bounded = boundTranscript(messages, { maxTokens: Math.floor(before * SHRUNK_SHARE) });
  if (bounded.kind === 'too_large') return undefined;
  const tokens = estimateMessages(bounded.messages);
  return tokens < before ? { ...bounded, tokens } : undefined;
}

/** Tokens that a step may write which reads `input` tokens; undefined where no budget bounds it. */
function outputBound({ tokens, cost }: Allowance, input: number, price: ModelPrice | undefined): number | undefined {
  const bounds = [
    tokens === undefined ? undefined : tokens - input,
    cost === undefined ? undefined : affordableOutput(cost, input, price),
  ].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? undefined : Math.max(1, Math.min(DEFAULT_MAX_OUTPUT_TOKENS, ...bounds));
}

/** Tokens that the model is given to read, by estimate. */
export function inputTokensOf({ total, reserved }: ContextReport): number {
  return total - reserved;
}

export function maxContextTokens({ context }: AgentDefinition): number {
  return context.maxTokens ?? DEFAULT_MAX_CONTEXT_TOKENS;
}

/** Room that is kept for the answer: a quarter of a small context at most. */
function outputReserve(definition: AgentDefinition): number {
  return Math.min(DEFAULT_MAX_OUTPUT_TOKENS, Math.floor(maxContextTokens(definition) / 4));
}

function tooLarge(
  { tokens, maxTokens }: { readonly tokens: number; readonly maxTokens: number },
  agent: PreparedAgent,
): RuntimeError {
  const kind: RunFailure['kind'] = 'context_overflow';
  const words = toolShare(agent);
  const raise = 'Raise context.maxTokens in the agent file, or send less at once.';
  return new RuntimeError(
    'CONTEXT_TOO_LARGE',
    `what the model has to answer takes about ${tokens} tokens, and there is room for ${maxTokens}${words === undefined ? '' : `: ${words}`}`,
    {
      category: 'capacity',
      hint: words === undefined ? raise : `${NAME_THE_TOOLS} ${raise}`,
      details: { kind, tokens, maxTokens },
    },
  );
}

/** The share of a context from which on its tools are why it is full. */
const LARGE_TOOL_SHARE = 0.25;

/** What the definitions of tools take of a context, where that is much. */
export function toolShare({ definition, descriptors, tools }: PreparedAgent): string | undefined {
  const [taken, of] = [estimateTools(descriptors), maxContextTokens(definition)];
  if (taken <= of * LARGE_TOOL_SHARE) return undefined;
  return `the definitions of its ${countTools([...tools.values()])} take about ${taken} of the ${of} tokens of its context`;
}
