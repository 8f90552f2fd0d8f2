/**
 * Tool calls that another agent answers: each is a child session with its own log and mailbox. The call waits in the
 * log until the child has come to rest, so neither needs the other's process; while a wake of the parent lasts, it
 * wakes its children itself.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { Allowance } from '../../machines/session/event-parts.ts';
import { MAX_CONCURRENT_TOOL_CALLS, MAX_OPEN_SUBFLOWS, MAX_SESSION_DEPTH } from '../../machines/session/limits.ts';
import { delegatedCalls } from '../../machines/session/session-activations.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { WorktreeHandoff } from '../../machines/subagent/worktree-findings.ts';
import { depthOf } from '../../machines/session/session-state.ts';
import type { CallRequest, OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import type { ToolCallResult } from '../../machines/turn/tool-call-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { LineagePorts } from '../session/lineage.ts';
import { ParentBounds, promisedBounds } from '../session/parent-bounds.ts';
import type { BoundsPorts } from '../session/parent-bounds.ts';
import { ensureSubflowSession, interruptSubflows, lastMessageOf } from '../session/subflow-session.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { SubflowWorktrees } from '../subagent/subflow-worktrees.ts';
import type { OutputStore } from '../turn/output-store.ts';
import { storable } from '../turn/tool-executor.ts';
import type { Subflow, PreparedAgent } from '../turn/tool.ts';
import type { WakeOptions } from './wake-ports.ts';

export interface SubflowPorts extends LineagePorts, BoundsPorts {
  readonly agents: AgentCatalog;
  readonly outputs: OutputStore | undefined;
  readonly directories: Pick<SessionDirectories, 'workspaceDirectory'>;
  /** Absent: no child gets a worktree. */
  readonly worktrees: SubflowWorktrees | undefined;
  readonly onListenerError: OnListenerError;
  /** Wakes a session as soon as no other process does. */
  readonly trigger: (sessionId: string, options: WakeOptions) => Promise<WakeOutcome>;
}

export interface SubflowOptions extends SubflowPorts {
  readonly newId: () => string;
}

export interface SubflowRequest extends Subflow {
  /** The agent that asks. */
  readonly agent: PreparedAgent;
}

export class Subflows {
  readonly #options: SubflowOptions;
  /** What the children of this step may use up that are not in the log yet. */
  #planned: Allowance[] = [];

  constructor(options: SubflowOptions) {
    this.#options = options;
  }

  /** What the log has to hold before the child is made, or why there will be none. */
  async plan(
    { callId }: OpenToolCall,
    { agentId, message, agent, run, isolation }: SubflowRequest,
    state: SessionState,
  ): Promise<{ readonly draft: SessionEventDraft } | { readonly reason: string }> {
    const open = delegatedCalls(state).length + this.#planned.length;
    if (open >= MAX_OPEN_SUBFLOWS)
      return {
        reason: `At most ${MAX_OPEN_SUBFLOWS} agents work for a session at the same time; this one was not started.`,
      };
    if (depthOf(state) >= MAX_SESSION_DEPTH)
      return {
        reason: `At most ${MAX_SESSION_DEPTH} generations of agents work for each other; this one was not started.`,
      };
    const missing = await this.#options.agents.get(agentId).then(() => undefined, messageOf);
    if (missing !== undefined) return { reason: `The agent cannot be started: ${missing}` };
    const parent = await ParentBounds.of(state, this.#options, agent);
    const childSessionId = this.#options.newId();
    const place: MadePlace =
      isolation === undefined ? {} : await this.#makeWorktree({ childSessionId, agentId }, state);
    if (place.reason !== undefined) return { reason: place.reason };
    // As many as may still come share what is left and not promised yet, so that all together cannot use up more.
    const { parent: _parent, ...bounds } = parent.bounds(state, { kind: 'call', planned: this.#planned });
    this.#planned.push(bounds.allowance ?? {});
    const data = {
      callId,
      childSessionId,
      agentId,
      message,
      ...bounds,
      ...place,
      ...(run === undefined ? {} : { run }),
    };
    return { draft: { type: 'agent.subflow_started', data } };
  }

  /** Made before the call is stored: one that no call knows of has nothing in it, and the next start removes it. */
  async #makeWorktree(
    { childSessionId, agentId }: { readonly childSessionId: string; readonly agentId: string },
    state: SessionState,
  ): Promise<MadePlace> {
    const { worktrees, directories } = this.#options;
    if (worktrees === undefined)
      return { reason: 'The agent was not started: it is to work in a git worktree, and there are none here.' };
    try {
      const parentWorkspace = await directories.workspaceDirectory(placeOfSession(state));
      return {
        isolation: 'worktree',
        workspace: await worktrees.prepare({
          parentSessionId: state.sessionId,
          childSessionId,
          agentId,
          parentWorkspace,
        }),
      };
    } catch (error) {
      return { reason: `The agent was not started, since it could not be given a worktree: ${messageOf(error)}` };
    }
  }

  /**
   * Makes the children that calls wait for, where that is not done, and wakes them until they rest or the signal
   * aborts. One that waits for an answer, or that fails and is tried again, is left waiting: its call stays open. When
   * the session itself was cut short, they are too.
   */
  async drive(
    state: SessionState,
    options: WakeOptions,
    refresh: () => Promise<SessionState>,
  ): Promise<readonly unknown[]> {
    this.#planned = [];
    const failures = wasTakenBack(await refresh()) ? [] : await this.#driveAll(state, options);
    // The client that cut the session short knew nothing of the children that it has made since.
    if (!wasTakenBack(await refresh())) return failures;
    await interruptSubflows(state, 'the session that it works for was stopped', this.#options);
    if (delegatedCalls(state).some(({ request }) => hasWorktree(request)))
      await this.#options.worktrees?.settleAll(state.sessionId);
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
          // Stopped, ended by a client, or held by another process that was told to stop: its own log says so.
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_TOOL_CALLS }, work));
    return failures;
  }

  /** What the model reads of a child that has come to rest. */
  async resultOf({ callId, request, answer }: OpenToolCall, session: SessionState): Promise<ToolCallResult> {
    if (request?.kind !== 'subflow' || answer?.kind !== 'subflow')
      throw new RuntimeError('SUBFLOW_NOT_ANSWERED', `tool call ${callId} was not answered by a child`, {
        category: 'crash',
      });
    const { childSessionId, agentId } = request;
    const { reason, summary } = answer;
    const [text, ending] = await Promise.all([
      lastMessageOf(childSessionId, this.#options),
      endingOf(childSessionId, this.#options),
    ]).catch(() => [undefined, undefined] as const);
    const worktree = hasWorktree(request) ? await this.#settleWorktree(session.sessionId, childSessionId) : undefined;
    const whole = {
      output: text ?? summary,
      summary,
      agent: agentId,
      sessionId: childSessionId,
      ...(worktree === undefined ? {} : { worktree }),
    };
    const { outcome, ...result } = await storable(whole, { outputs: this.#options.outputs, session, callId });
    // One that gave up has not answered, whatever it said last.
    const hasAnswered = reason === 'idle' && (ending === undefined || !GAVE_UP.has(ending));
    return { ...result, outcome: hasAnswered ? outcome : 'failed' };
  }

  /** One that another process made, which is gone, is this one's from here on. */
  async #keepWorktree(
    { childSessionId, agentId }: { readonly childSessionId: string; readonly agentId: string },
    state: SessionState,
  ): Promise<void> {
    const { worktrees, directories } = this.#options;
    const parentWorkspace = await directories.workspaceDirectory(placeOfSession(state));
    await worktrees?.keep({ parentSessionId: state.sessionId, childSessionId, agentId, parentWorkspace });
  }

  /** What could not be settled is there still, and its keeper knows of it: the answer must not be lost over it. */
  async #settleWorktree(
    parentSessionId: string,
    childSessionId: string,
  ): Promise<WorktreeHandoff | { readonly problem: string } | undefined> {
    try {
      return await this.#options.worktrees?.settle({ parentSessionId, childSessionId });
    } catch (error) {
      this.#options.onListenerError(error, 'listener');
      return { problem: `Its worktree was left as it is: ${messageOf(error)}` };
    }
  }

  async #driveOne({ callId, request }: OpenToolCall, state: SessionState, options: WakeOptions): Promise<void> {
    if (request?.kind !== 'subflow') return;
    const [event] = await this.#options.store.read(state.sessionId, { from: request.seq, limit: 1 });
    if (event?.type !== 'agent.subflow_started')
      throw new RuntimeError(
        'TOOL_CALL_LOST',
        `expected the start of child ${request.childSessionId} at event ${request.seq}`,
        { category: 'storage' },
      );
    const { childSessionId: sessionId, agentId, message, workspace, run, isolation } = event.data;
    if (isolation !== undefined) await this.#keepWorktree({ childSessionId: sessionId, agentId }, state);
    const bounds = await promisedBounds(state, event.data, this.#options);
    await ensureSubflowSession({ sessionId, agentId, message, bounds, callId, workspace, runsIn: run }, this.#options);
    await this.#options.trigger(sessionId, options);
  }
}

const GAVE_UP: ReadonlySet<string> = new Set(['budget_reached', 'interrupted', 'failed']);

/** How the last wake of a session ended. */
async function endingOf(sessionId: string, { journals }: SubflowOptions): Promise<string | undefined> {
  return (await journals.open(sessionId)).state.lastWake?.outcome;
}

/** Where a child is to work, or why it cannot be given a place. */
interface MadePlace {
  readonly isolation?: 'worktree';
  readonly workspace?: string;
  readonly reason?: string;
}

function hasWorktree(request: CallRequest | undefined): boolean {
  return request?.kind === 'subflow' && request.isolation === 'worktree';
}

function wasTakenBack({ status, openWake }: SessionState): boolean {
  return status === 'terminated' || openWake?.interruption !== undefined;
}
