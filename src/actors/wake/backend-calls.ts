/**
 * The tools that a backend runs itself during one model step, as the log knows them: asked for, perhaps allowed by a
 * person, started, ended. Each is written as it comes, in order; whatever has no end when the step is over is closed.
 * What comes after that is not heard.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { AgentRunEvent, BackendToolOutcome } from '../../machines/run/run-output.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { OpenToolCall } from '../../machines/session/session-state.ts';
import { abandoned } from '../../machines/wake/wake-repair.ts';
import {
  ALLOWED_NO_MORE,
  NOT_ALLOWED_IN_TIME,
  deniedAfterAll,
  deniedBecause,
  deniedByPerson,
} from '../../machines/permission/denial-text.ts';
import type { Clock } from '../clock/clock.ts';
import type { RunPermissionAnswer, RunPermissionRequest } from '../run/agent-runtime.ts';
import type { Tool } from '../turn/tool.ts';
import { answerAwaited } from './answer-awaited.ts';
import { backendTool } from './backend-tool.ts';
import { asJson, asName, bounded, isShownWhole, questionText } from './backend-values.ts';
import type { CallGate, CheckedCall } from './call-gate.ts';
import { resolved } from './call-plan.ts';
import type { WakeJournal } from './wake-journal.ts';

/** How long a backend may be kept waiting for a person, and the session with it. */
const MAX_WAIT_SECONDS = 600;

export interface BackendCallsOptions {
  readonly spanId: string;
  readonly journal: WakeJournal;
  readonly gate: CallGate;
  /** The managed tools: what a backend does of that kind is judged as if they did it. */
  readonly tools: readonly Tool[];
  readonly workspaceDirectory: string;
  readonly newCallId: () => string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The log cannot be told what the backend does: it must do no more. */
  readonly onTrouble: (error: unknown) => void;
}

/** What is said about the call, as it may be logged. */
function concealed({ conceal }: RunPermissionRequest, text: string): string {
  return conceal === undefined ? text : conceal(text);
}

const STOPPED = { decision: 'deny', message: 'The turn was stopped.' } as const;

interface KnownCall {
  /** Ours. */
  readonly callId: string;
  /** The backend has told it by an event; one that it has only asked about will be told. */
  isTold: boolean;
}

interface Question {
  readonly text: string;
  readonly answer: Promise<RunPermissionAnswer>;
  isPending: boolean;
  /** Its call has ended, though the log may not say so yet: what was answered counts no more. */
  isSpent: boolean;
}

export class BackendCalls {
  readonly #options: BackendCallsOptions;
  /** The newest call of each id of the backend. */
  readonly #known = new Map<string, KnownCall>();
  /** All of them, by our ids. */
  readonly #own = new Set<string>();
  readonly #questions = new Map<string, Question>();
  /** What the model has said since the last tool, and before it. */
  #unsaid = '';
  #said = '';
  /** One append after another. */
  #writing: Promise<void> = Promise.resolve();
  #trouble: { readonly error: unknown } | undefined;
  readonly #over = new AbortController();
  /** The wake is stopped, or the step is over. */
  readonly #signal: AbortSignal;

  constructor(options: BackendCallsOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#over.signal]);
  }

  /** What the model has said before tools of this attempt, and what is in the log by now, as it was streamed. */
  get said(): string {
    return this.#said;
  }

  /** Takes an event of the run; those about tools are written, and what the model has said before each of them. */
  take(event: AgentRunEvent): void {
    if (event.stream === 'attempt' && event.data.phase === 'started') this.#said = this.#unsaid = '';
    if (event.stream === 'assistant' && event.data.kind === 'text') this.#unsaid += event.data.text;
    if (event.stream !== 'tool') return;
    const { data } = event;
    switch (data.phase) {
      case 'requested':
        this.#say();
        return this.#write(() => this.#requested(data.callId, data.name, data.input));
      case 'started':
        return this.#write(() => this.#started(data.callId));
      case 'ended':
        this.#spend(data.callId);
        return this.#write(() => this.#ended(data.callId, data.outcome, data.output));
    }
  }

  /**
   * Whether the backend may run one. Asks a person where the rules say so, and waits as long as the request holds. Who
   * asks the same again about a call that is open gets the same answer; about anything else, it is decided anew.
   */
  requestPermission(request: RunPermissionRequest): Promise<RunPermissionAnswer> {
    const asked = this.#questions.get(request.callId);
    const text = questionText(request);
    if (asked?.text === text && !asked.isSpent && (asked.isPending || this.#callOf(request.callId) !== undefined))
      return asked.answer;
    const answer = this.#decide(request, { isAgain: asked !== undefined }).finally(() => {
      question.isPending = false;
    });
    const question: Question = { text, answer, isPending: true, isSpent: false };
    this.#questions.set(request.callId, question);
    return answer;
  }

  /**
   * Waits until all is written, and closes what has no end. Nothing is heard from then on. @throws what kept the log
   * from being written
   */
  async settle(): Promise<void> {
    this.#over.abort('the step is over');
    await this.#writing;
    if (this.#trouble !== undefined) throw this.#trouble.error;
    if (this.#own.size === 0) return;
    const { journal } = this.#options;
    await journal.refresh();
    await journal.appendDecided(({ openToolCalls }) =>
      openToolCalls.filter(({ callId }) => this.#own.has(callId)).flatMap((call) => abandoned(call)),
    );
  }

  #say(): void {
    const text = this.#unsaid.trim();
    this.#said += this.#unsaid;
    this.#unsaid = '';
    const { journal, spanId } = this.#options;
    if (text !== '') this.#write(() => journal.append([{ type: 'agent.message', data: { text, spanId } }]));
  }

  #spend(id: string): void {
    const question = this.#questions.get(id);
    if (question !== undefined) question.isSpent = true;
  }

  async #requested(id: string, name: string, input: unknown): Promise<void> {
    const known = this.#known.get(id);
    const isOpen = known !== undefined && this.#open(known.callId) !== undefined;
    // Told twice, or asked about before it was told.
    if (known !== undefined && (isOpen || !known.isTold)) known.isTold = true;
    else await this.#newCall(id, name, input, { isTold: true });
  }

  async #newCall(id: string, name: string, input: unknown, { isTold }: { readonly isTold: boolean }): Promise<string> {
    const callId = this.#options.newCallId();
    this.#known.set(id, { callId, isTold });
    this.#own.add(callId);
    await this.#options.journal.append([
      {
        type: 'agent.tool_use',
        data: { callId, name: asName(name), input: asJson(input) ?? {}, spanId: this.#options.spanId, by: 'backend' },
      },
    ]);
    return callId;
  }

  async #started(id: string): Promise<void> {
    const open = this.#callOf(id);
    if (open?.phase === 'requested')
      await this.#options.journal.append([{ type: 'agent.tool_started', data: { callId: open.callId } }]);
  }

  async #ended(id: string, outcome: BackendToolOutcome, output: unknown): Promise<void> {
    const callId = this.#known.get(id)?.callId;
    // It was not asked for; or it was denied, or the turn was cut short, and it was closed with that.
    if (callId === undefined) return;
    await this.#appendFor(callId, (open) => [
      ...(open.phase === 'waiting' ? abandoned(open).filter(({ type }) => type === 'request.cancelled') : []),
      { type: 'agent.tool_result', data: { callId, name: open.name, outcome, output: bounded(output) } },
    ]);
  }

  /** Says of a call what `draftsFor` does, as long as it is open: an interruption may end it first. */
  async #appendFor(callId: string, draftsFor: (open: OpenToolCall) => readonly SessionEventDraft[]): Promise<void> {
    const { journal } = this.#options;
    await journal.appendDecided(() => {
      const open = this.#open(callId);
      return open === undefined ? [] : draftsFor(open);
    });
  }

  #callOf(id: string): OpenToolCall | undefined {
    const known = this.#known.get(id);
    return known === undefined ? undefined : this.#open(known.callId);
  }

  #open(callId: string): OpenToolCall | undefined {
    return this.#options.journal.state.openToolCalls.find((call) => call.callId === callId);
  }

  async #decide(
    request: RunPermissionRequest,
    { isAgain }: { readonly isAgain: boolean },
  ): Promise<RunPermissionAnswer> {
    const open = await this.#told(request, isAgain);
    if (open === undefined || this.#isStopped(request)) return STOPPED;
    const { gate, journal } = this.#options;
    // A turn may last for hours, and the policy be changed meanwhile.
    gate.refresh();
    const decision = await gate.decide(this.#checked(open, request), journal.state, { maxSeconds: MAX_WAIT_SECONDS });
    switch (decision.kind) {
      case 'run':
        return this.#allow(open, () => [
          { type: 'agent.tool_started', data: { callId: open.callId, allowedBy: decision.allowedBy } },
        ]);
      case 'deny':
        return this.#refuse(open, concealed(request, deniedBecause(decision.because)));
      case 'ask':
        if (!isShownWhole(request.input))
          return this.#refuse(
            open,
            deniedBecause(
              'a person would have to allow it, and its input is too long to be shown whole. Do it in smaller steps.',
            ),
          );
        return this.#ask(open, request, decision.request);
    }
  }

  /** The call in the log, before anything is decided about it. */
  async #told({ callId: id, name, input }: RunPermissionRequest, isAgain: boolean): Promise<OpenToolCall | undefined> {
    let callId: string | undefined;
    await this.#written(async () => {
      const known = isAgain ? undefined : this.#callOf(id);
      callId = known?.callId ?? (await this.#newCall(id, name, input, { isTold: false }));
    });
    return callId === undefined ? undefined : this.#open(callId);
  }

  #isStopped({ signal }: RunPermissionRequest): boolean {
    return this.#signal.aborted || signal?.aborted === true;
  }

  #checked({ callId, name }: OpenToolCall, { input, means, conceal }: RunPermissionRequest): CheckedCall {
    const {
      tools,
      journal: { identity: session },
      workspaceDirectory,
    } = this.#options;
    const { tool, subject, ...judgedAs } = backendTool({ name, means, tools, session, workspaceDirectory });
    return {
      call: { callId, name, input: asJson(input) ?? {} },
      tool,
      subject,
      judgedAs: { ...judgedAs, conceal },
      question: undefined,
      subflow: undefined,
    };
  }

  async #ask(
    { callId }: OpenToolCall,
    request: RunPermissionRequest,
    asking: SessionEventDraft,
  ): Promise<RunPermissionAnswer> {
    await this.#written(() => this.#appendFor(callId, () => [asking]));
    const signals = [this.#signal, ...(request.signal === undefined ? [] : [request.signal])];
    const open = await answerAwaited({
      ...this.#options,
      signal: AbortSignal.any(signals),
      call: () => this.#open(callId),
    });
    if (open === undefined || this.#signal.aborted) return STOPPED;
    if (request.signal?.aborted === true) return this.#withdraw(callId);
    if (open.phase === 'waiting') return this.#refuse(open, NOT_ALLOWED_IN_TIME, 'expired');
    if (open.answer?.kind !== 'permission' || !open.answer.allowed) {
      const note = open.answer?.kind === 'permission' ? open.answer.note : undefined;
      return this.#refuse(open, deniedByPerson(note), 'denied');
    }
    return this.#redeem(open, request);
  }

  /** A person has allowed it: for what was asked, and where that leads now. */
  async #redeem(open: OpenToolCall, request: RunPermissionRequest): Promise<RunPermissionAnswer> {
    const { gate, journal } = this.#options;
    gate.refresh();
    const redeemed = await gate.redeem(this.#checked(open, request), open, journal.state);
    if (redeemed.kind === 'deny')
      return this.#refuse(open, concealed(request, deniedAfterAll(redeemed.because)), 'denied');
    if (redeemed.kind !== 'run') return this.#refuse(open, ALLOWED_NO_MORE, 'expired');
    if (open.answer?.kind === 'permission' && open.answer.scope === 'always' && open.request?.kind === 'permission')
      await gate.keep(open.request.rules ?? [], open.request.requestId);
    return this.#allow(open, (now) => [
      resolved(now),
      { type: 'agent.tool_started', data: { callId: open.callId, allowedBy: redeemed.allowedBy } },
    ]);
  }

  async #allow(
    { callId }: OpenToolCall,
    draftsFor: (open: OpenToolCall) => readonly SessionEventDraft[],
  ): Promise<RunPermissionAnswer> {
    let isOpen = false;
    await this.#written(async () => {
      // One that the backend says has started needs no second beginning.
      await this.#appendFor(callId, (open) => (open.phase === 'started' ? [] : draftsFor(open)));
      isOpen = this.#open(callId) !== undefined;
    });
    // What is not in the log must not happen.
    return isOpen && !this.#signal.aborted ? { decision: 'allow' } : STOPPED;
  }

  /** @param asked what became of the request, where a person was asked */
  async #refuse({ callId }: OpenToolCall, message: string, asked?: 'denied' | 'expired'): Promise<RunPermissionAnswer> {
    await this.#written(() =>
      this.#appendFor(callId, (open) => [
        ...(asked === undefined ? [] : [resolved(open, asked)]),
        { type: 'agent.tool_result', data: { callId, name: open.name, outcome: 'denied', output: message } },
      ]),
    );
    return { decision: 'deny', message };
  }

  /** The backend does not want to know any more. */
  async #withdraw(callId: string): Promise<RunPermissionAnswer> {
    await this.#written(() => this.#appendFor(callId, abandoned));
    return { decision: 'deny', message: 'The question was withdrawn.' };
  }

  /** Waits until it is in the log, or cannot be any more. */
  async #written(work: () => Promise<void>): Promise<void> {
    this.#write(work);
    await this.#writing;
  }

  #write(work: () => Promise<void>): void {
    if (this.#over.signal.aborted) return;
    this.#writing = this.#writing.then(async () => {
      if (this.#trouble !== undefined) return;
      try {
        await work();
      } catch (error) {
        this.#trouble = {
          error: RuntimeError.is(error)
            ? error
            : new RuntimeError('BACKEND_CALL_LOST', `what the backend did could not be written: ${messageOf(error)}`, {
                category: 'storage',
                hint: 'Check the store and its disk; the session goes on from what its log holds.',
              }),
        };
        this.#options.onTrouble(this.#trouble.error);
      }
    });
  }
}
