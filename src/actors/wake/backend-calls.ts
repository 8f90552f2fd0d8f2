/**
 * The tools that a backend runs itself during one model step, as the log knows them: asked for, perhaps allowed by somebody, started, ended.
 * Each is written as it comes, in order; whatever has no end when the step is over is closed.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import { cutOutput } from '../../machines/turn/output-cut.ts';
import { abandoned } from '../../machines/wake/wake-repair.ts';
import type { Clock } from '../clock/clock.ts';
import type { RunPermissionAnswer, RunPermissionRequest } from '../run/agent-runtime.ts';
import type { Tool } from '../turn/tool.ts';
import { backendTool } from './backend-tool.ts';
import type { CallGate, CheckedCall } from './call-gate.ts';
import { resolved } from './call-plan.ts';

/** Characters of an output in the log. The backend's own session holds all of it. */
const MAX_OUTPUT_CHARACTERS = 30_000;

/** How long a backend may be kept waiting for somebody, and the session with it. */
const MAX_WAIT_SECONDS = 600;

export interface BackendCallsOptions {
  readonly spanId: string;
  readonly gate: CallGate;
  /** The managed tools: what a backend does of that kind is judged as if they did it. */
  readonly tools: readonly Tool[];
  readonly workspaceDirectory: string;
  readonly state: () => SessionState;
  readonly refresh: () => Promise<SessionState>;
  readonly append: (drafts: readonly SessionEventDraft[]) => Promise<void>;
  /** Calls back when something was appended; returns how to stop that. */
  readonly watch: (listener: () => void) => () => void;
  readonly newCallId: () => string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const STOPPED = { decision: 'deny', message: 'The turn was stopped.' } as const;

export class BackendCalls {
  readonly #options: BackendCallsOptions;
  /** Our ids, by the backend's. */
  readonly #ids = new Map<string, string>();
  /** One append after another. */
  #lane: Promise<void> = Promise.resolve();
  #trouble: { readonly error: unknown } | undefined;

  constructor(options: BackendCallsOptions) {
    this.#options = options;
  }

  /** Takes an event of the run; those about tools are written. */
  take(event: AgentRunEvent): void {
    if (event.stream !== 'tool') return;
    const { data } = event;
    switch (data.phase) {
      case 'requested':
        return this.#write(() => this.#requested(data.callId, data.name, data.input));
      case 'started':
        return this.#write(() => this.#started(data.callId));
      case 'ended':
        return this.#write(() => this.#ended(data));
    }
  }

  /** Whether the backend may run one. Asks somebody where the rules say so, and waits as long as the request holds. */
  async requestPermission(request: RunPermissionRequest): Promise<RunPermissionAnswer> {
    this.#write(() => this.#requested(request.callId, request.name, request.input));
    await this.#lane;
    const { signal, gate } = this.#options;
    const open = this.#openCall(request.callId);
    if (signal.aborted || open === undefined) return STOPPED;
    const checked = this.#checked(open, request);
    const decision = await gate.decide(checked, this.#options.state(), { maxSeconds: MAX_WAIT_SECONDS });
    switch (decision.kind) {
      case 'run':
        return this.#allow(request.callId, [{ type: 'agent.tool_started', data: { callId: open.callId, allowedBy: decision.allowedBy } }]);
      case 'deny':
        return { decision: 'deny', message: `The call was denied: ${decision.because}` };
      case 'ask':
        return this.#ask(request, checked, decision.request);
    }
  }

  /** Waits until all is written, and closes what has no end. @throws what kept the log from being written */
  async settle(): Promise<void> {
    await this.#lane;
    if (this.#trouble !== undefined) throw this.#trouble.error;
    const ours = new Set(this.#ids.values());
    const left = (await this.#options.refresh()).openToolCalls.filter(({ callId }) => ours.has(callId));
    if (left.length > 0) await this.#options.append(left.flatMap((call) => abandoned(call)));
  }

  async #requested(id: string, name: string, input: unknown): Promise<void> {
    if (this.#ids.has(id)) return;
    const callId = this.#options.newCallId();
    this.#ids.set(id, callId);
    await this.#options.append([{ type: 'agent.tool_use', data: { callId, name: name.slice(0, 200), input: input ?? {}, spanId: this.#options.spanId, by: 'backend' } }]);
  }

  async #started(id: string): Promise<void> {
    const open = this.#openCall(id);
    if (open?.phase === 'requested') await this.#options.append([{ type: 'agent.tool_started', data: { callId: open.callId } }]);
  }

  async #ended({ callId: id, outcome, output }: { readonly callId: string; readonly outcome: 'completed' | 'failed' | 'denied' | 'cancelled'; readonly output: unknown }): Promise<void> {
    const open = this.#openCall(id);
    // Somebody has cut the turn short, and closed it with that.
    if (open === undefined) return;
    const asked = open.phase === 'waiting' ? abandoned(open).filter(({ type }) => type === 'request.cancelled') : [];
    await this.#options.append([...asked, { type: 'agent.tool_result', data: { callId: open.callId, name: open.name, outcome, output: bounded(output) } }]);
  }

  #openCall(id: string): OpenToolCall | undefined {
    const callId = this.#ids.get(id);
    return this.#options.state().openToolCalls.find((call) => call.callId === callId);
  }

  #checked({ callId, name }: OpenToolCall, { input, means }: RunPermissionRequest): CheckedCall {
    const { tool, subject } = backendTool({ name, means, tools: this.#options.tools, workspaceDirectory: this.#options.workspaceDirectory });
    return { call: { callId, name, input }, tool, subject, question: undefined, subflow: undefined };
  }

  async #ask(request: RunPermissionRequest, checked: CheckedCall, asking: SessionEventDraft): Promise<RunPermissionAnswer> {
    this.#write(async () => {
      if (this.#openCall(request.callId)?.phase === 'requested') await this.#options.append([asking]);
    });
    await this.#lane;
    const open = await this.#answered(request);
    if (open === undefined || this.#options.signal.aborted) return STOPPED;
    if (request.signal?.aborted === true) return this.#withdraw(open);
    const { gate, state } = this.#options;
    if (open.phase === 'waiting') return this.#refuse(open, 'Nobody has allowed the call in time. Ask again only if it is still needed.', 'expired');
    if (open.answer?.kind !== 'permission' || !open.answer.allowed) {
      const note = open.answer?.kind === 'permission' && open.answer.note !== undefined ? ` ${open.answer.note}` : '';
      return this.#refuse(open, `The call was denied.${note}`, 'denied');
    }
    gate.refresh();
    const redeemed = await gate.redeem(checked, open, state());
    if (redeemed.kind === 'deny') return this.#refuse(open, `The call was denied after all: ${redeemed.because}`, 'denied');
    if (redeemed.kind === 'void') return this.#refuse(open, 'What was allowed does not count any more: it has expired, or the call would happen elsewhere now.', 'expired');
    if (open.answer.scope === 'always' && open.request?.kind === 'permission') await gate.keep(open.request.rules ?? [], open.request.requestId);
    return this.#allow(request.callId, [resolved(open), { type: 'agent.tool_started', data: { callId: open.callId, allowedBy: redeemed.allowedBy } }]);
  }

  async #allow(id: string, drafts: readonly SessionEventDraft[]): Promise<RunPermissionAnswer> {
    let isWritten = false;
    this.#write(async () => {
      if (this.#openCall(id) === undefined) return;
      await this.#options.append(drafts);
      isWritten = true;
    });
    await this.#lane;
    // What is not in the log must not happen.
    return isWritten && !this.#options.signal.aborted ? { decision: 'allow' } : STOPPED;
  }

  async #refuse(open: OpenToolCall, message: string, decision: 'denied' | 'expired'): Promise<RunPermissionAnswer> {
    this.#write(() => this.#options.append([resolved(open, decision), { type: 'agent.tool_result', data: { callId: open.callId, name: open.name, outcome: 'denied', output: message } }]));
    await this.#lane;
    return { decision: 'deny', message };
  }

  /** The backend does not want to know any more. */
  async #withdraw({ callId }: OpenToolCall): Promise<RunPermissionAnswer> {
    this.#write(async () => {
      const open = this.#options.state().openToolCalls.find((call) => call.callId === callId);
      if (open !== undefined) await this.#options.append(abandoned(open));
    });
    await this.#lane;
    return { decision: 'deny', message: 'The question was withdrawn.' };
  }

  /** The call once it waits no more, or has waited too long; undefined when it was closed. */
  async #answered({ callId: id, signal: withdrawn }: RunPermissionRequest): Promise<OpenToolCall | undefined> {
    const { watch, refresh, clock } = this.#options;
    const signal = withdrawn === undefined ? this.#options.signal : AbortSignal.any([this.#options.signal, withdrawn]);
    for (;;) {
      const open = this.#openCall(id);
      const { request } = open ?? {};
      const expiresAt = request?.kind === 'permission' && request.expiresAt !== undefined ? Date.parse(request.expiresAt) : Infinity;
      if (open?.phase !== 'waiting' || signal.aborted || clock.now() >= expiresAt) return open;
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(expiresAt) ? clock.setTimeout(() => done(), expiresAt - clock.now()) : undefined;
        const unwatch = watch(() => done());
        const done = (): void => {
          clock.clearTimeout(timer);
          unwatch();
          signal.removeEventListener('abort', done);
          resolve();
        };
        signal.addEventListener('abort', done, { once: true });
      });
      await refresh();
    }
  }

  #write(work: () => Promise<void>): void {
    this.#lane = this.#lane.then(async () => {
      if (this.#trouble !== undefined) return;
      try {
        await work();
      } catch (error) {
        this.#trouble = { error: RuntimeError.is(error) ? error : new RuntimeError('BACKEND_CALL_LOST', `what the backend did could not be written: ${messageOf(error)}`, { category: 'storage' }) };
      }
    });
  }
}

/** An output as the log keeps it: text that is too long is cut, with a mark. */
function bounded(output: unknown): unknown {
  const text = typeof output === 'string' ? output : (JSON.stringify(output ?? null) ?? 'null');
  return text.length <= MAX_OUTPUT_CHARACTERS ? (output ?? null) : cutOutput(text, { maxCharacters: MAX_OUTPUT_CHARACTERS });
}
