/**
 * Makes the log of a session out of what another runtime's log says. Every event is checked by its schema. Nothing in
 * it happens again: approvals count for what they were given, open calls are closed, and a session that has something
 * to do is parked until a client wakes it.
 */
import { beginningOf } from '../cut-text.ts';
import { RuntimeError } from '../errors.ts';
import { checkDraft, placeEvent } from '../session/session-event.ts';
import type { NewSessionEvent, SessionEventData, SessionEventDraft, StoredEvent } from '../session/session-event.ts';
import { foldSession } from '../session/session-fold.ts';
import { MAX_PENDING_INGRESS } from '../session/limits.ts';
import { activationsOf } from '../session/session-activations.ts';
import { initialSessionState } from '../session/session-state.ts';
import type { SessionState } from '../session/session-state.ts';
import { EventIds, firstEventId } from './imported-ids.ts';
import type { Digest, SourceMark } from './imported-ids.ts';
import { ImportedCalls } from './imported-calls.ts';
import type { ImportedCall } from './imported-calls.ts';
import { boundedInput, boundedOutput, boundedText } from './imported-text.ts';
import { plannedWakeDrafts } from './planned-wakes.ts';
import type { PlannedWake, SourceFact, SourceRuntime } from './source-fact.ts';

export interface ImportedLogOptions {
  readonly from: SourceRuntime;
  readonly mark: SourceMark;
  readonly sessionId: string;
  readonly agentId: string;
  readonly title: string | undefined;
  readonly model: string | undefined;
  readonly digest: Digest;
  /** Times after it are none. Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** `cut`: as much of it as fits. A text says why it has no place. */
export type Taken = 'taken' | 'cut' | 'repeated' | { readonly leftOver: string };

export interface FactPlace {
  readonly id?: string | undefined;
  readonly atMs?: number | undefined;
}

export interface ImportedLogResult {
  readonly events: readonly [NewSessionEvent, ...NewSessionEvent[]];
  readonly state: SessionState;
  /** Calls without an end, which were closed. */
  readonly closedCalls: number;
  readonly ids: EventIds;
}

type Told = Extract<SourceFact, { readonly kind: 'user_message' | 'outcome' | 'custom_tool_result' }>;
type Fact<Kind extends SourceFact['kind']> = Extract<SourceFact, { readonly kind: Kind }>;

/** Messages that an imported session may have unread; it must be able to take more. */
const MAX_UNREAD = MAX_PENDING_INGRESS / 2;

const NO_END =
  'The log that this session was imported from ends before this call did. Whether it took effect is unknown. Check before you repeat it.';
const NOBODY_ANSWERED =
  'This had no answer where the session was before it was imported, and none will come. Ask again if it still matters.';

export class ImportedLog {
  readonly #options: ImportedLogOptions;
  readonly #ids: EventIds;
  readonly #calls = new ImportedCalls();
  readonly #customRequests = new Map<string, string>();
  readonly #events: StoredEvent[] = [];
  /** What came from outside and no step has read yet. */
  #unread: string[] = [];
  #spanId: string | undefined;
  #steps = 0;
  #atMs: number;
  #termination: Fact<'terminated'> | undefined;

  /** @param fallbackAtMs the time of what has none, until something has one */
  constructor(options: ImportedLogOptions, fallbackAtMs: number) {
    this.#options = options;
    const { from, mark, agentId, title, digest, nowMs } = options;
    this.#ids = new EventIds(mark.source, digest);
    this.#atMs = Math.min(mark.createdAtMs > 0 ? mark.createdAtMs : fallbackAtMs, nowMs);
    const id = this.#ids.take(firstEventId(mark, digest));
    const shown = beginningOf((title ?? `Imported from ${from}`).trim() || `Imported from ${from}`, 200);
    this.#append({ type: 'session.created', data: { agentId, title: shown } }, { kind: 'given', id });
  }

  /** Adds what comes next. Never throws for what a source says. */
  add(fact: SourceFact, place: FactPlace = {}): Taken {
    const { atMs } = place;
    if (atMs !== undefined && atMs <= this.#options.nowMs) this.#atMs = atMs;
    try {
      return this.#take(fact, place.id);
    } catch (error) {
      if (RuntimeError.is(error) && error.category === 'validation') return { leftOver: error.message };
      throw error;
    }
  }

  /** Closes what is open. @param wakes what the source had planned and not done */
  finish(wakes: readonly PlannedWake[]): ImportedLogResult {
    this.#endStep();
    const closedCalls = this.#closeCalls();
    for (const draft of plannedWakeDrafts(wakes)) this.#append(draft, { kind: 'source' });
    const reason = this.#termination?.reason ?? 'It had been terminated where it was before.';
    if (this.#termination !== undefined)
      this.#append(
        {
          type: 'session.status_changed',
          data: { to: 'terminated', stopReason: 'terminated', reason: beginningOf(reason, 2_000) },
        },
        { kind: 'source' },
      );
    const before = this.#fold();
    if (activationsOf(before).length > 0)
      this.#append(
        { type: 'session.parked', data: { code: 'imported', reason: parkedBecause(before, this.#options.from) } },
        { kind: 'source' },
      );
    const [first, ...rest] = this.#events;
    if (first === undefined) throw new RuntimeError('IMPORT_EMPTY', 'expected a first event', { category: 'crash' });
    return { events: [first, ...rest], state: this.#fold(), closedCalls, ids: this.#ids };
  }

  #take(fact: SourceFact, own: string | undefined): Taken {
    switch (fact.kind) {
      case 'user_message':
      case 'outcome':
      case 'custom_tool_result':
        return this.#tell(fact, own);
      case 'thinking':
      case 'agent_message':
        return this.#say(fact, own);
      case 'tool_call':
        return this.#call(fact, own);
      case 'tool_result':
        return this.#answerCall(fact, own);
      case 'permission_request':
      case 'question':
      case 'custom_tool':
        return this.#request(fact, own);
      case 'permission_answer':
      case 'answer':
        return this.#answerRequest(fact, own);
      case 'interrupt':
        this.#endStep();
        return this.#append(
          {
            type: 'user.interrupt',
            data: fact.reason === undefined ? {} : { reason: beginningOf(fact.reason, 2_000) },
          },
          { kind: 'source', id: own },
        );
      case 'learning':
        this.#endStep();
        return this.#append(
          { type: 'learning.captured', data: learningData(fact, this.#ids.fresh(this.#atMs)) },
          { kind: 'source', id: own },
        );
      case 'step_end':
        this.#endStep();
        return 'taken';
      case 'terminated':
        this.#termination = fact;
        return 'taken';
      case 'wake_planned':
      case 'wake_done':
        // The queue is read as a whole, when the log is.
        return 'taken';
    }
  }

  #tell(fact: Told, own: string | undefined): Taken {
    this.#endStep();
    // A session takes no more messages than it can hold unread: what was read in silence was read.
    if (this.#unread.length >= MAX_UNREAD) this.#step();
    this.#endStep();
    if (fact.kind === 'custom_tool_result') return this.#tellResult(fact, own);
    if (fact.kind === 'user_message') {
      const { text, isCut } = boundedText(fact.text);
      this.#unread.push(this.#id({ type: 'user.message', data: { text, delivery: 'queue' } }, own));
      return isCut ? 'cut' : 'taken';
    }
    const { title, detail, criteria = [] } = fact;
    const data = {
      title: beginningOf(title, 200),
      ...(detail === undefined ? {} : { detail: beginningOf(detail, 2_000) }),
      ...(criteria.length === 0 ? {} : { criteria: criteria.slice(0, 20).map((each) => beginningOf(each, 500)) }),
    };
    this.#unread.push(this.#id({ type: 'user.define_outcome', data }, own));
    return title.length > 200 ||
      (detail?.length ?? 0) > 2_000 ||
      criteria.length > 20 ||
      criteria.some((each) => each.length > 500)
      ? 'cut'
      : 'taken';
  }

  #tellResult({ requestId = '', output }: Fact<'custom_tool_result'>, own: string | undefined): Taken {
    const toolName = this.#customRequests.get(requestId);
    if (toolName === undefined) return { leftOver: 'the result of a tool that no call asked for' };
    this.#customRequests.delete(requestId);
    const bounded = boundedOutput(output);
    this.#unread.push(
      this.#id({ type: 'user.custom_tool_result', data: { requestId, toolName, output: bounded.output } }, own),
    );
    return bounded.isCut ? 'cut' : 'taken';
  }

  #say(fact: Fact<'thinking' | 'agent_message'>, own: string | undefined): Taken {
    const { text, isCut } = boundedText(fact.text);
    const spanId = this.#step();
    this.#append(
      fact.kind === 'thinking'
        ? { type: 'agent.thinking', data: { text, spanId } }
        : { type: 'agent.message', data: { text, spanId } },
      { kind: 'source', id: own },
    );
    return isCut ? 'cut' : 'taken';
  }

  #call({ callId, name, input }: Fact<'tool_call'>, own: string | undefined): Taken {
    if (callId !== undefined && this.#calls.isSame(callId, { name, input })) return 'repeated';
    const bounded = boundedInput(input);
    const spanId = this.#step();
    const call = this.#calls.make({ source: callId, name: beginningOf(name, 200), input }, () =>
      this.#ids.fresh(this.#atMs),
    );
    this.#append(
      {
        type: 'agent.tool_use',
        data: { callId: call.callId, name: call.name, input: bounded.output, spanId, mayHaveStarted: true },
      },
      { kind: 'source', id: own },
    );
    this.#calls.begin(call);
    return bounded.isCut ? 'cut' : 'taken';
  }

  #answerCall(fact: Fact<'tool_result'>, own: string | undefined): Taken {
    const call = this.#calls.find(fact);
    if (call === undefined)
      return fact.callId !== undefined && this.#calls.hasEnded(fact.callId)
        ? 'repeated'
        : { leftOver: 'the result of a call that is not in the log before it' };
    this.#endStep();
    this.#withdraw(call);
    const bounded = boundedOutput(fact.output);
    const outcome = fact.outcome === 'completed' && call.isDenied ? 'denied' : fact.outcome;
    this.#append(
      { type: 'agent.tool_result', data: { callId: call.callId, name: call.name, outcome, output: bounded.output } },
      { kind: 'source', id: own },
    );
    this.#calls.close(call);
    return bounded.isCut ? 'cut' : 'taken';
  }

  #request(fact: Fact<'permission_request' | 'question' | 'custom_tool'>, own: string | undefined): Taken {
    const requestId = beginningOf(fact.requestId ?? this.#ids.fresh(this.#atMs), 200);
    this.#endStep();
    if (fact.kind === 'custom_tool') {
      if (this.#customRequests.has(requestId)) return 'repeated';
      const bounded = boundedInput(fact.input);
      const taken = this.#append(
        {
          type: 'agent.custom_tool_use',
          data: { requestId, name: beginningOf(fact.name, 200), input: bounded.output },
        },
        { kind: 'source', id: own },
      );
      this.#customRequests.set(requestId, beginningOf(fact.name, 200));
      return bounded.isCut ? 'cut' : taken;
    }
    const call = this.#calls.find(fact);
    if (call === undefined || call.request !== undefined)
      return { leftOver: 'asks a person about a call that is not open' };
    const { callId, name: toolName } = call;
    if (fact.kind === 'question') {
      const { text: question, isCut } = boundedText(fact.question);
      this.#append(
        {
          type: 'agent.question_asked',
          data: { requestId, callId, question, ...(fact.choices === undefined ? {} : { choices: [...fact.choices] }) },
        },
        { kind: 'source', id: own },
      );
      this.#calls.ask(call, { requestId, kind: 'question', source: fact.requestId });
      return isCut ? 'cut' : 'taken';
    }
    this.#append(
      {
        type: 'permission.requested',
        data: {
          requestId,
          callId,
          toolName,
          input: boundedInput(call.input).output,
          because: beginningOf(fact.because, 2_000),
        },
      },
      { kind: 'source', id: own },
    );
    this.#calls.ask(call, { requestId, kind: 'permission', source: fact.requestId });
    return 'taken';
  }

  /** What was allowed is allowed there: no rule comes of it here. */
  #answerRequest(fact: Fact<'permission_answer' | 'answer'>, own: string | undefined): Taken {
    const call = this.#calls.asking(fact);
    const kind = fact.kind === 'answer' ? 'question' : 'permission';
    if (call?.request?.kind !== kind || call.request.isAnswered === true)
      return { leftOver: 'answers what is not asked in the log before it' };
    const { requestId } = call.request;
    call.request.isAnswered = true;
    if (fact.kind === 'answer') {
      const { text: response, isCut } = boundedText(fact.response);
      this.#append({ type: 'user.answer', data: { requestId, response } }, { kind: 'source', id: own });
      call.response = response;
      return isCut ? 'cut' : 'taken';
    }
    const { allowed, note } = fact;
    const said = note === undefined ? {} : { note: beginningOf(note, 2_000) };
    this.#append(
      { type: 'user.tool_confirmation', data: { requestId, toolName: call.name, allowed, ...said } },
      { kind: 'source', id: own },
    );
    this.#append(
      {
        type: 'permission.resolved',
        data: { requestId, callId: call.callId, decision: allowed ? 'allowed' : 'denied', ...said },
      },
      { kind: 'source' },
    );
    call.isDenied = !allowed;
    return 'taken';
  }

  /** The step that speaks; it has read what came before it. */
  #step(): string {
    if (this.#spanId !== undefined) return this.#spanId;
    const spanId = this.#ids.fresh(this.#atMs);
    this.#spanId = spanId;
    this.#steps += 1;
    const { from, model } = this.#options;
    this.#append(
      {
        type: 'span.started',
        data: {
          spanId,
          kind: 'model_step',
          backend: 'import',
          provider: from,
          model: beginningOf(model ?? 'unknown', 200),
          step: this.#steps,
        },
      },
      { kind: 'source' },
    );
    if (this.#unread.length > 0)
      this.#append({ type: 'message.consumed', data: { eventIds: this.#unread, spanId } }, { kind: 'source' });
    this.#unread = [];
    return spanId;
  }

  #endStep(): void {
    const spanId = this.#spanId;
    this.#spanId = undefined;
    // It moves no model and no script of ours on.
    if (spanId !== undefined)
      this.#append(
        { type: 'span.completed', data: { spanId, kind: 'model_step', outcome: 'completed', modelSteps: 0 } },
        { kind: 'source' },
      );
  }

  #closeCalls(): number {
    let closed = 0;
    for (const requestId of this.#customRequests.keys())
      this.#append({ type: 'request.cancelled', data: { requestId, because: 'ended' } }, { kind: 'source' });
    for (const call of this.#calls.stillOpen()) {
      closed += 1;
      const { callId, name } = call;
      this.#withdraw(call);
      this.#append({ type: 'agent.tool_result', data: { callId, name, ...endOf(call) } }, { kind: 'source' });
    }
    return closed;
  }

  /** A call that has ended needs no answer. */
  #withdraw({ request }: ImportedCall): void {
    if (request !== undefined && request.isAnswered !== true)
      this.#append(
        { type: 'request.cancelled', data: { requestId: request.requestId, because: 'ended' } },
        { kind: 'source' },
      );
  }

  #id(draft: SessionEventDraft, own: string | undefined): string {
    this.#append(draft, { kind: 'source', id: own });
    return this.#events.at(-1)?.id ?? '';
  }

  #append(
    draft: SessionEventDraft,
    { kind, id }: { readonly kind: 'given' | 'source'; readonly id?: string | undefined },
  ): 'taken' {
    const { type, v, data } = checkDraft(draft);
    this.#events.push({
      id: kind === 'given' && id !== undefined ? id : this.#ids.next(id, this.#atMs),
      at: new Date(this.#atMs).toISOString(),
      type,
      v,
      data,
    });
    return 'taken';
  }

  #fold(): SessionState {
    const { sessionId, agentId } = this.#options;
    return this.#events.reduce(
      (state, event, index) => foldSession(state, placeEvent(event, sessionId, index + 1)),
      initialSessionState({ sessionId, agentId }),
    );
  }
}

/** How a call ended that the log leaves open. */
function endOf({
  request,
  response,
  isDenied,
}: ImportedCall): Pick<SessionEventData<'agent.tool_result'>, 'outcome' | 'output'> {
  if (response !== undefined) return { outcome: 'completed', output: response };
  if (request !== undefined && request.isAnswered !== true) return { outcome: 'cancelled', output: NOBODY_ANSWERED };
  return isDenied ? { outcome: 'denied', output: 'Permission was denied.' } : { outcome: 'unknown', output: NO_END };
}

function learningData(
  { learning, title, detail, dedupeKey }: Fact<'learning'>,
  learningId: string,
): Extract<SessionEventDraft, { readonly type: 'learning.captured' }>['data'] {
  // What all sessions share is for people to say.
  return {
    learningId,
    kind: learning,
    title,
    detail,
    promoteToMemory: false,
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  };
}

function parkedBecause({ pending, queuedWakes }: SessionState, from: SourceRuntime): string {
  const held = [
    ...(pending.length === 0 ? [] : [`${pending.length} unread`]),
    ...(queuedWakes.length === 0 ? [] : [`${queuedWakes.length} queued wakes`]),
  ];
  return `It was imported from ${from} with ${held.join(' and ') || 'something to do'}. It goes on when a client wakes it or sends to it.`;
}
