/** What a model step needs: the agent with its backend and tools, and the bounded conversation. Everything here is thrown away after the step. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { MAX_TRANSCRIPT_CHARACTERS } from '../../machines/session/limits.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { ToolDescriptor } from '../../machines/turn/tool-definition.ts';
import { describeTool } from '../../machines/turn/tool-schema.ts';
import { boundTranscript } from '../../machines/turn/transcript-bounds.ts';
import { instructionsFor } from '../../machines/wake/instructions.ts';
import type { AgentRunConfig, AgentRunParams, AgentRuntime } from '../run/agent-runtime.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { Tool } from '../turn/tool.ts';
import type { WakePorts } from './wake-ports.ts';

export interface PreparedAgent {
  readonly definition: AgentDefinition;
  readonly runtime: AgentRuntime;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly descriptors: readonly ToolDescriptor[];
  /** Tools that the agent names and nobody has. */
  readonly unavailableTools: readonly string[];
  readonly workspaceDirectory: string;
  readonly agentDirectory: string;
}

/** @throws RuntimeError AGENT_NOT_FOUND, AGENT_INVALID, AGENT_RUNTIME_NOT_FOUND */
export async function prepareAgent(identity: SessionIdentity, ports: WakePorts): Promise<PreparedAgent> {
  const definition = await ports.agents.get(identity.agentId);
  const runtime = ports.runtimes.resolve(definition.provider, ports.runConfig);
  const offered = definition.permission === 'deny' ? [] : ports.tools;
  const named = definition.tools === undefined ? undefined : new Set(definition.tools);
  const tools = new Map(offered.filter(({ definition: { name } }) => named?.has(name) ?? true).map((tool) => [tool.definition.name, tool]));
  return {
    definition,
    runtime,
    tools,
    descriptors: [...tools.values()].map((tool) => describeTool(tool.definition)),
    unavailableTools: [...(named ?? [])].filter((name) => !ports.tools.some((tool) => tool.definition.name === name)),
    workspaceDirectory: await ports.directories.workspaceDirectory(identity),
    agentDirectory: ports.directories.agentDirectory(identity.agentId),
  };
}

export interface StepSource {
  readonly agent: PreparedAgent;
  readonly state: SessionState;
  readonly messages: readonly ProviderMessage[];
  /** The ingress events that the messages hold and no step has answered. */
  readonly consumed: readonly string[];
  readonly runId: string;
  readonly runConfig: AgentRunConfig;
}

export interface AssembledStep {
  readonly runtime: AgentRuntime;
  readonly params: AgentRunParams;
  /** The same as in the source. */
  readonly consumed: readonly string[];
}

export function assembleStep({ agent, state, messages, consumed, runId, runConfig }: StepSource): AssembledStep {
  const { definition, runtime, descriptors, workspaceDirectory, agentDirectory } = agent;
  return {
    runtime,
    consumed,
    params: {
      runId,
      sessionId: state.sessionId,
      instructions: instructionsFor(definition.instructions, state.outcome),
      messages: boundTranscript(messages, { maxCharacters: MAX_TRANSCRIPT_CHARACTERS }),
      provider: definition.provider,
      model: definition.model,
      config: runConfig,
      workspaceDir: workspaceDirectory,
      agentDir: agentDirectory,
      modelStepsTaken: state.modelSteps,
      tools: descriptors,
    },
  };
}
