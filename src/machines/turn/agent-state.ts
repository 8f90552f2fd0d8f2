/**
 * Where an agent's run stands, folded event by event: what was said, which calls are open, what a person or client has
 * to answer, and the same for every agent that works for it. A session is a run; an event costs the same at the tenth
 * and at the hundred thousandth.
 */
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { foldSession } from '../session/session-fold.ts';
import { initialSessionState } from '../session/session-state.ts';
import type { OpenToolCall, PendingAction, SessionState } from '../session/session-state.ts';
import type { AssistantMessage, ProviderMessage } from './provider-message.ts';
import { TranscriptBuilder } from './transcript.ts';

type ToolCallOutcome = SessionEventData<'agent.tool_result'>['outcome'];

export interface ToolCallRecord {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  /** Absent while the call is open. */
  readonly outcome?: ToolCallOutcome | undefined;
  /** The child session that answers it, for a call of another agent. */
  readonly childSessionId?: string | undefined;
}

export class AgentState {
  #session: SessionState;
  readonly #transcript = new TranscriptBuilder();
  /** By call id. */
  readonly #calls = new Map<string, ToolCallRecord>();
  readonly #allowed = new Set<string>();
  readonly #denied = new Set<string>();
  /** By the id of the child session. */
  readonly #children = new Map<string, { readonly callId: string; readonly state: AgentState }>();

  constructor(identity: { readonly sessionId: string; readonly agentId: string }) {
    this.#session = initialSessionState(identity);
  }

  /**
   * Takes the next event of the run, or of any run that works for it, however deep. Each event of a log counts once and
   * in order; one that was taken before changes nothing.
   * @returns false for an event of a session that this run does not know
   */
  ingest(event: SessionEvent): boolean {
    if (event.sessionId !== this.#session.sessionId)
      return [...this.#children.values()].some(({ state }) => state.ingest(event));
    if (event.seq <= this.#session.head) return true;
    this.#session = foldSession(this.#session, event);
    this.#transcript.ingest(event);
    this.#note(event);
    return true;
  }

  get runId(): string {
    return this.#session.sessionId;
  }

  get agentId(): string {
    return this.#session.agentId;
  }

  /** What the log adds up to. */
  get session(): SessionState {
    return this.#session;
  }

  /** The conversation, as a model that speaks next would read it. */
  get messages(): readonly ProviderMessage[] {
    return this.#transcript.messages();
  }

  get lastAssistantMessage(): AssistantMessage | undefined {
    return this.messages.findLast((message): message is AssistantMessage => message.role === 'assistant');
  }

  /** Every call, in the order in which they were asked for. */
  get toolCalls(): ReadonlyMap<string, ToolCallRecord> {
    return this.#calls;
  }

  /** Calls without a result. */
  get pendingToolCalls(): readonly OpenToolCall[] {
    return this.#session.openToolCalls;
  }

  get pendingPermissionRequests(): readonly PendingAction[] {
    return this.#session.pendingActions.filter(({ kind }) => kind === 'permission');
  }

  get pendingQuestions(): readonly PendingAction[] {
    return this.#session.pendingActions.filter(({ kind }) => kind === 'answer');
  }

  /** Ids of the calls that a person has allowed, and denied. */
  get allowedCallIds(): ReadonlySet<string> {
    return this.#allowed;
  }

  get deniedCallIds(): ReadonlySet<string> {
    return this.#denied;
  }

  /** What a person has allowed until the session ends, as rules. */
  get sessionRules(): readonly string[] {
    return this.#session.sessionRules;
  }

  /** The agents that work for this one, by the id of the call that they answer. */
  get subflows(): ReadonlyMap<string, AgentState> {
    return new Map([...this.#children.values()].map(({ callId, state }) => [callId, state]));
  }

  #note({ type, data }: SessionEvent): void {
    if (type === 'agent.tool_use') this.#ask(data);
    else if (type === 'agent.tool_result')
      this.#change(data.callId, (call) => (call.outcome === undefined ? { ...call, outcome: data.outcome } : call));
    else if (type === 'permission.resolved')
      (data.decision === 'allowed' ? this.#allowed : this.#denied).add(data.callId);
    else if (type === 'agent.subflow_started') this.#delegate(data);
  }

  #ask({ callId, name, input }: SessionEventData<'agent.tool_use'>): void {
    if (!this.#calls.has(callId)) this.#calls.set(callId, { callId, name, input });
  }

  #delegate({ callId, childSessionId, agentId }: SessionEventData<'agent.subflow_started'>): void {
    this.#change(callId, (call) => ({ ...call, childSessionId }));
    if (!this.#children.has(childSessionId))
      this.#children.set(childSessionId, { callId, state: new AgentState({ sessionId: childSessionId, agentId }) });
  }

  #change(callId: string, change: (call: ToolCallRecord) => ToolCallRecord): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) this.#calls.set(callId, change(call));
  }
}
