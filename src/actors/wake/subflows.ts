/**
 * Tool calls that another agent answers: each is a child session with its own log and mailbox. The call waits in the log until the child
 * has come to rest, so neither needs the other's process; while a wake of the parent lasts, it wakes its children itself.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { delegatedCalls } from '../../machines/session/activation.ts';
import type { Allowance, Restriction } from '../../machines/session/event-schemas.ts';
import { MAX_CONCURRENT_TOOL_CALLS, MAX_OPEN_SUBFLOWS, MAX_SESSION_DEPTH } from '../../machines/session/limits.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { CallRequest, OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import type { ToolCallResult } from '../../machines/turn/tool-call-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { LineagePorts } from '../session/lineage.ts';
import { ensureSubflowSession, interruptSubflows, lastMessageOf } from '../session/subflow-session.ts';
import type { OutputKeeper } from '../turn/output-keeper.ts';
import { storable } from '../turn/tool-executor.ts';
import type { WakeOptions } from './wake-ports.ts';

export interface SubflowPorts extends LineagePorts {
  readonly agents: AgentCatalog;
  readonly outputs: OutputKeeper | undefined;
  /** Wakes a session as soon as nobody else does. */
  readonly trigger: (sessionId: string, options: WakeOptions) => Promise<WakeOutcome>;
}

export interface SubflowOptions extends SubflowPorts {
  readonly newId: () => string;
  /** What the children of one step may use up together. */
  readonly remaining: () => Allowance;
}

export interface SubflowRequest {
  readonly agentId: string;
  readonly message: string;
  /** What the agent that asks may not do. */
  readonly restriction: Restriction;
}

export class Subflows {
  readonly #options: SubflowOptions;
  /** What the children of this step may use up that are not in the log yet. */
  #planned: Allowance[] = [];

  constructor(options: SubflowOptions) {
    this.#options = options;
  }

  /** What the log has to hold before the child is made, or why there will be none. */
  async plan({ callId }: OpenToolCall, { agentId, message, restriction }: SubflowRequest, state: SessionState): Promise<{ readonly draft: SessionEventDraft } | { readonly reason: string }> {
    const open = delegatedCalls(state).length + this.#planned.length;
    if (open >= MAX_OPEN_SUBFLOWS) return { reason: `At most ${MAX_OPEN_SUBFLOWS} agents work for a session at the same time; this one was not started.` };
    if (depthOf(state) > MAX_SESSION_DEPTH) return { reason: `At most ${MAX_SESSION_DEPTH} generations of agents work for each other; this one was not started.` };
    const missing = await this.#options.agents.get(agentId).then(() => undefined, messageOf);
    if (missing !== undefined) return { reason: `The agent cannot be started: ${missing}` };
    const allowance = this.#allowance(state, MAX_OPEN_SUBFLOWS - open);
    this.#planned.push(allowance);
    const data = { callId, childSessionId: this.#options.newId(), agentId, message, restriction, ...(Object.keys(allowance).length === 0 ? {} : { allowance }) };
    return { draft: { type: 'agent.subflow_started', data } };
  }

  /** As many as may still come share what is left and not promised yet, so that all together cannot use up more. */
  #allowance(state: SessionState, share: number): Allowance {
    const { tokens, cost } = this.#options.remaining();
    const promised = [...this.#planned, ...delegatedCalls(state).map(({ request }) => outstanding(request))];
    const free = (left: number, name: keyof Allowance): number => Math.max(0, left - promised.reduce((sum, each) => sum + (each[name] ?? 0), 0));
    return {
      ...(tokens === undefined ? {} : { tokens: Math.floor(free(tokens, 'tokens') / share) }),
      ...(cost === undefined ? {} : { cost: free(cost, 'cost') / share }),
    };
  }

  /**
   * Makes the children that calls wait for, where that is not done, and wakes them until they rest or the signal aborts. One that waits for
   * somebody, or that fails and is tried again, is left waiting: its call stays open. When the session itself was cut short, they are too.
   */
  async drive(state: SessionState, options: WakeOptions, refresh: () => Promise<SessionState>): Promise<readonly unknown[]> {
    this.#planned = [];
    const failures = wasTakenBack(await refresh()) ? [] : await this.#driveAll(state, options);
    // Whoever cut the session short knew nothing of the children that it has made since.
    if (wasTakenBack(await refresh())) await interruptSubflows(state, 'the session that it works for was stopped', this.#options);
    return failures;
  }

  async #driveAll(state: SessionState, options: WakeOptions): Promise<readonly unknown[]> {
    const waiting = delegatedCalls(state).values();
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (const call of waiting) {
        if (options.signal?.aborted === true) return;
        try {
          await this.#driveOne(call, state, options);
        } catch (error) {
          // Stopped, ended by somebody, or held by another process that was told to stop: its own log says so.
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_TOOL_CALLS }, work));
    return failures;
  }

  /** What the model reads of a child that has come to rest. */
  async resultOf({ callId, request, answer }: OpenToolCall, session: SessionState): Promise<ToolCallResult> {
    if (request?.kind !== 'subflow' || answer?.kind !== 'subflow') throw new RuntimeError('SUBFLOW_NOT_ANSWERED', `tool call ${callId} was not answered by a child`, { category: 'crash' });
    const { childSessionId, agentId } = request;
    const { reason, summary } = answer;
    const [text, ending] = await Promise.all([lastMessageOf(childSessionId, this.#options), endingOf(childSessionId, this.#options)]).catch(() => [undefined, undefined] as const);
    const whole = { output: text ?? summary, summary, agent: agentId, sessionId: childSessionId };
    const { outcome, ...result } = await storable(whole, { outputs: this.#options.outputs, session, callId });
    // One that gave up has not answered, whatever it said last.
    const hasAnswered = reason === 'idle' && (ending === undefined || !GAVE_UP.has(ending));
    return { ...result, outcome: hasAnswered ? outcome : 'failed' };
  }

  async #driveOne({ callId, request }: OpenToolCall, state: SessionState, options: WakeOptions): Promise<void> {
    if (request?.kind !== 'subflow') return;
    const [event] = await this.#options.store.read(state.sessionId, { from: request.seq, limit: 1 });
    if (event?.type !== 'agent.subflow_started') throw new RuntimeError('TOOL_CALL_LOST', `expected the start of child ${request.childSessionId} at event ${request.seq}`, { category: 'storage' });
    const { childSessionId: sessionId, agentId, message, allowance, restriction } = event.data;
    await ensureSubflowSession({ sessionId, agentId, message, allowance, restriction, parent: { sessionId: state.sessionId, depth: depthOf(state), callId } }, this.#options);
    await this.#options.trigger(sessionId, options);
  }
}

const GAVE_UP: ReadonlySet<string> = new Set(['budget_reached', 'interrupted', 'failed']);

/** How the last wake of a session ended. */
async function endingOf(sessionId: string, { journals }: SubflowOptions): Promise<string | undefined> {
  return (await journals.open(sessionId)).state.lastWake?.outcome;
}

function wasTakenBack({ status, openWake }: SessionState): boolean {
  return status === 'terminated' || openWake?.interruption !== undefined;
}

/** What a child may still use up of what it was given. */
function outstanding(request: CallRequest | undefined): Allowance {
  if (request?.kind !== 'subflow') return {};
  const { allowance = {}, used } = request;
  return { tokens: Math.max(0, (allowance.tokens ?? 0) - (used.tokens ?? 0)), cost: Math.max(0, (allowance.cost ?? 0) - (used.cost ?? 0)) };
}

/** How deep a child of this session stands. */
function depthOf({ parent }: SessionState): number {
  return (parent?.depth ?? 0) + 1;
}
