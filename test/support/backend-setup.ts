/**
 * A turn setup whose agents are run by backends of turns that do what a test says: tools told live, permission asked in
 * the middle.
 */
import type {
  AgentRunParams,
  AgentRuntime,
  RunPermissionAnswer,
  RunPermissionRequest,
} from '../../src/actors/run/agent-runtime.ts';
import type { AgentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import type { AgentRunEventBody, BackendToolOutcome } from '../../src/machines/run/run-output.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { toldRuntime } from './told-runtime.ts';
import type { Act, ToldRuntime } from './told-runtime.ts';
import { openTurnSetup } from './turn-setup.ts';
import type { TurnSetup, TurnSetupOptions } from './turn-setup.ts';

export interface BackendSetup {
  readonly setup: TurnSetup;
  readonly backend: ToldRuntime;
  /** The session of the agent `worker`, with a message in it. */
  readonly id: string;
  readonly wake: () => ReturnType<TurnSetup['runtime']['wake']>;
  /** What the log says of tools: see `toolStory`. */
  readonly story: () => Promise<string[]>;
  /** Whether this many requests wait for an answer. Default 1. */
  readonly isAsked: (count?: number) => Promise<boolean>;
  /** Answers the request that waits, about the tool `Bash` unless told otherwise. */
  readonly confirm: (options?: Parameters<TurnSetup['confirm']>[1]) => ReturnType<TurnSetup['confirm']>;
}

export interface BackendSetupOptions extends TurnSetupOptions {
  readonly agent?: Partial<AgentFrontmatter>;
  readonly traits?: Partial<AgentRuntime>;
  readonly others?: readonly AgentRuntime[];
}

export async function openBackendSetup(
  acts: readonly Act[],
  { agent = {}, traits = {}, others = [], ...options }: BackendSetupOptions = {},
): Promise<BackendSetup> {
  const backend = toldRuntime('told', acts, { runs: 'turn', ...traits });
  const setup = await openTurnSetup({ runtimes: [backend, ...others], ...options });
  await setup.agent('worker', [], { provider: 'told', model: 'm', ...agent });
  const id = await setup.start('worker');
  return {
    setup,
    backend,
    id,
    wake: () => setup.runtime.wake(id),
    story: async () => toolStory(await setup.log(id)),
    isAsked: async (count = 1) => (await setup.requests(id)).length === count,
    confirm: (wanted = {}) => setup.confirm(id, { toolName: 'Bash', ...wanted }),
  };
}

export interface AskingBackend {
  readonly open: BackendSetup;
  /** What ran, by id of the call. */
  readonly ran: string[];
  readonly answers: RunPermissionAnswer[];
}

/** With a backend that asks about one call first: see `asksFirst`. */
export async function openAskingBackend(
  request: Partial<RunPermissionRequest> = {},
  options?: BackendSetupOptions,
): Promise<AskingBackend> {
  const ran: string[] = [];
  const answers: RunPermissionAnswer[] = [];
  return { open: await openBackendSetup([asksFirst(ran, request, answers)], options), ran, answers };
}

type Tell = (event: AgentRunEventBody) => void;

export const requests = (tell: Tell, callId: string, name = 'Bash', input: unknown = { command: 'ls' }): void =>
  tell({ stream: 'tool', data: { phase: 'requested', callId, name, input } });
export const starts = (tell: Tell, callId: string): void =>
  tell({ stream: 'tool', data: { phase: 'started', callId } });
export const ends = (
  tell: Tell,
  callId: string,
  output: unknown = 'done',
  outcome: BackendToolOutcome = 'completed',
): void => tell({ stream: 'tool', data: { phase: 'ended', callId, outcome, output } });

/** Asks about one call, runs it if that is allowed, and says what became of it. `ran` gets what ran. */
export function asksFirst(
  ran: string[],
  request: Partial<RunPermissionRequest> = {},
  answers: RunPermissionAnswer[] = [],
): Act {
  return async (params, tell) => {
    const asked = { callId: '1', name: 'Bash', input: { command: 'make' }, ...request };
    requests(tell, asked.callId, asked.name, asked.input);
    const answer = await ask(params, asked);
    answers.push(answer);
    if (answer.decision === 'deny') return answered(`Not done: ${answer.message}`);
    ran.push(asked.callId);
    ends(tell, asked.callId);
    return answered('Done.');
  };
}

export async function ask(params: AgentRunParams, request: RunPermissionRequest): Promise<RunPermissionAnswer> {
  return (await params.requestPermission?.(request)) ?? { decision: 'deny', message: 'nobody' };
}

export function answered(text: string, sessionId?: string): Awaited<ReturnType<Act>> {
  return {
    payloads: [{ type: 'text', text }],
    usage: { inputTokens: 10, outputTokens: 1 },
    meta: { modelSteps: 1, ...(sessionId === undefined ? {} : { sessionId }) },
  };
}

/** What the log says of tools, in order: `use Bash`, `started`, `completed`. */
export function toolStory(log: readonly SessionEvent[]): string[] {
  return log.flatMap((event): string[] => {
    const { type, data } = event;
    if (type === 'agent.tool_use') return [`use ${data.name}${data.by === undefined ? '' : ` by ${data.by}`}`];
    if (type === 'agent.tool_started')
      return [data.allowedBy === undefined ? 'started' : `started, allowed by ${data.allowedBy.kind}`];
    if (type === 'agent.tool_result') return [data.outcome];
    if (type === 'permission.requested') return ['asked'];
    if (type === 'permission.resolved') return [`resolved ${data.decision}`];
    if (type === 'request.cancelled') return ['taken back'];
    return type === 'agent.message' ? [`says ${data.text}`] : [];
  });
}
