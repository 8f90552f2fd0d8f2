/**
 * Turns a session's log into the messages a model reads: a pure function of the events.
 *
 * For every prefix of every log, each tool call is followed at once by a message with exactly one result per call, in
 * the order of the calls. A call without a result gets one that says so. A message from outside stands where a model
 * step first read it (`message.consumed`), not where it arrived: a reply must not seem to answer what its author had
 * not seen.
 *
 * What a step was given stays as it was: when one begins, everything before it is settled, and what is learned later
 * comes later. Providers keep what they have read in a cache, which a change further up would void. Only a compaction
 * replaces what is settled.
 */
import { restoredText } from '../workspace-copy/copy-notes.ts';
import { MAX_CONTINUES_IN_A_ROW } from '../session/limits.ts';
import type { SessionEvent, SessionEventData, SessionEventOf, SessionEventType } from '../session/session-event.ts';
import type {
  AssistantMessage,
  ProviderMessage,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from './provider-message.ts';
import { estimateMessage, estimatePart } from './token-estimate.ts';
import { TranscriptRows } from './transcript-entries.ts';
import type { TranscriptEntry, TranscriptRow } from './transcript-entries.ts';
import { AcceptedCallIds, acceptedInput, acceptedName } from './transcript-names.ts';
import {
  childText,
  customResultText,
  dueText,
  isBlank,
  jobText,
  lateResultText,
  messageParts,
  outputOf,
  saidPart,
  summaryPart,
  textPart,
  wellFormed,
  wellFormedJson,
} from './transcript-text.ts';

/** What a model is told about a call whose end is not in the log. */
export const UNKNOWN_RESULT =
  'The runtime stopped while this call ran. Whether it took effect is unknown, and it was not run again. Check before you repeat it.';

type AssistantPart = AssistantMessage['content'][number];
type UserPart = UserMessage['content'][number];

interface OpenTurn {
  readonly spanId: string;
  readonly parts: AssistantPart[];
  /** By the id that the log gives a call. */
  readonly calls: Map<string, ToolCallPart>;
  readonly results: Map<string, ToolResultPart>;
  /** Of its last event. */
  seq: number;
}

/** Where the entries of the newest step begin. */
interface StepStart {
  readonly spanId: string;
  readonly at: number;
}

/** What a builder has to know that begins in the middle of a log. */
export interface TranscriptStart {
  readonly queuedWakes?:
    | readonly { readonly queuedWakeId: string; readonly reason: string; readonly note?: string | undefined }[]
    | undefined;
  /** What comes before the first step that begins is left out. */
  readonly startsMidway?: boolean | undefined;
}

type Ingest = {
  readonly [Type in SessionEventType]?: (builder: TranscriptBuilder, event: SessionEventOf<Type>) => void;
};

interface EntrySize {
  readonly whole: number;
  /** At least so much of it is told when outputs of old calls are left out. */
  readonly told: number;
}

const NO_SIZE: EntrySize = { whole: 0, told: 0 };

export class TranscriptBuilder {
  #entries: TranscriptEntry[] = [];
  readonly #rows = new TranscriptRows();
  /** Of how many of the entries the size is known, and that. */
  #sized = 0;
  #size = NO_SIZE;
  /** What came from outside and no model step has read yet, by event id. */
  readonly #waiting = new Map<string, readonly UserPart[]>();
  /** Of these, what a tool call waits for: a model reads it in the result of the call. */
  readonly #answersToCalls = new Set<string>();
  /** What the runtime has to tell the model before it speaks next. */
  #notes: TextPart[] = [];
  #turn: OpenTurn | undefined = undefined;
  #stepStart: StepStart | undefined;
  /** Calls that were settled without a result, by the id that the log gives them. */
  readonly #unanswered = new Map<string, ToolCallPart>();
  readonly #callIds = new AcceptedCallIds();
  readonly #queuedWakes = new Map<string, { readonly reason: string; readonly note?: string | undefined }>();
  /** Queued wakes that the model has been told of and has not spoken since: a wake that failed is due again. */
  readonly #announced = new Set<string>();
  /** Calls that wait for a person, a client or a child, by the request or the child. */
  readonly #callsWaitingFor = new Map<string, string>();
  #head = 0;
  #compactedThroughSeq: number | undefined;
  /** Whether a whole step has begun since the builder began: what comes before may be the rest of one. */
  #isWhole: boolean;

  static readonly #ingest: Ingest = {
    'user.message': (builder, { id, data }) => builder.#waiting.set(id, messageParts(data)),
    'user.custom_tool_result': (builder, { id, data }) => builder.#wait(id, customResultText(data), data.requestId),
    'user.define_outcome': (builder, { id, data }) => builder.#wait(id, `The outcome to achieve is now: ${data.title}`),
    // One that waits for an answer itself has not answered the call that gave it its work.
    'session.child_idle': (builder, { id, data }) =>
      builder.#wait(id, childText(data), data.reason === 'requires_action' ? undefined : data.childSessionId),
    'subagent.ended': (builder, { id, data }) => builder.#wait(id, jobText(data)),
    'message.consumed': (builder, { data, seq }) => builder.#consume(data, seq),
    'wake.queued': (builder, { data }) => builder.#queuedWakes.set(data.queuedWakeId, data),
    'wake.cancelled': (builder, { data }) => builder.#queuedWakes.delete(data.queuedWakeId),
    'wake.started': (builder, { data }) => builder.#announceDue(data.queuedWakeIds),
    'wake.ended': (builder, { data }) => builder.#endWake(data),
    'span.started': (builder, { data, seq }) => {
      if (data.kind === 'model_step') builder.#beginStep(data.spanId, seq);
    },
    'agent.thinking': (builder, { data, seq }) => builder.#say(data.spanId, seq, reasoningPart(data)),
    'agent.message': (builder, { data, seq }) => builder.#say(data.spanId, seq, saidPart(data.text)),
    'agent.tool_use': (builder, { data, seq }) => builder.#call(data, seq),
    'agent.tool_result': (builder, { data, seq }) => builder.#answer(data, seq),
    'agent.custom_tool_use': (builder, { data }) => builder.#waitFor(data.requestId, data.callId),
    'agent.subflow_started': (builder, { data }) => builder.#waitFor(data.childSessionId, data.callId),
    'context.compacted': (builder, { data, seq }) => builder.#compact(data, seq),
    'directive.accepted': (builder, { data }) => {
      if (data.directive.outcome === 'continue')
        builder.#note(`You asked to continue (at most ${MAX_CONTINUES_IN_A_ROW} times in a row). Go on.`);
    },
    'workspace.restored': (builder, { data }) => builder.#note(restoredText(data)),
    'log.loss_accepted': (builder) =>
      builder.#note(
        'A part of the record of this session was lost, so what you read here may not be all that happened: what seems undone may have been done. Check before you repeat anything.',
      ),
    'directive.rejected': (builder, { data }) =>
      builder.#note(`Your directive was not understood and counted as sleep: ${data.reason}`),
  };

  constructor({ queuedWakes = [], startsMidway = false }: TranscriptStart = {}) {
    this.#isWhole = !startsMidway;
    for (const queued of queuedWakes) this.#queuedWakes.set(queued.queuedWakeId, queued);
  }

  /** Sequence number of the last event that it holds; 0 before the first. */
  get head(): number {
    return this.#head;
  }

  /** Up to where a summary stands for the conversation, if one does. */
  get compactedThroughSeq(): number | undefined {
    return this.#compactedThroughSeq;
  }

  /** Adds the next event of the log. One that it holds already changes nothing. */
  ingest(event: SessionEvent): void {
    if (event.seq <= this.#head) return;
    this.#head = event.seq;
    if (!this.#isWhole && event.type.startsWith('agent.')) return;
    // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
    const handler = TranscriptBuilder.#ingest[event.type] as
      | ((builder: TranscriptBuilder, event: SessionEvent) => void)
      | undefined;
    handler?.(this, event);
  }

  /**
   * The conversation so far, as a model that speaks next would read it. The builder can go on afterwards.
   * @param reading ids of the ingress events that it reads; all that wait when absent
   */
  messages(reading?: readonly string[]): readonly ProviderMessage[] {
    return this.#rows.messages(this.#entries, this.#open(reading));
  }

  /** The same messages, each with the place in the log through which it is settled. */
  rows(reading?: readonly string[]): readonly TranscriptRow[] {
    return this.#rows.rows(this.#entries, this.#open(reading));
  }

  /** What is not settled yet: the turn that is open, and what the model is told before it speaks next. */
  #open(reading?: readonly string[]): readonly TranscriptEntry[] {
    const eventIds = reading ?? [...this.#waiting.keys()].filter((eventId) => !this.#answersToCalls.has(eventId));
    const parts = [...this.#notes, ...eventIds.flatMap((eventId) => this.#waiting.get(eventId) ?? [])];
    return [...settled(this.#turn), { kind: 'told', seq: this.#head, parts }];
  }

  /**
   * Leaves out the oldest of what is settled, once it is far more than a model of `maxTokens` can be told. A summary
   * stays, and what was told last: where what is left is the work on it alone, the model is reminded of that.
   * @returns tokens of what is left, by estimate
   */
  dropOldest(maxTokens: number): number {
    for (; this.#sized < this.#entries.length; this.#sized += 1)
      this.#size = sum(this.#size, sizeOf(this.#entries[this.#sized]));
    if (!isBeyond(this.#size, maxTokens, MOST)) return this.#size.whole;
    let [start, kept] = [this.#entries.length, NO_SIZE];
    while (start > 0 && !isBeyond(kept, maxTokens, KEPT)) {
      start -= 1;
      kept = sum(kept, sizeOf(this.#entries[start]));
    }
    const summary = this.#compactedThroughSeq === undefined ? [] : this.#entries.slice(0, 1);
    const left = this.#entries.slice(start);
    const asked = left.some(isTold) ? undefined : this.#entries.slice(summary.length, start).findLast(isTold);
    if (start > summary.length) this.#replace([...summary, ...(asked === undefined ? [] : [asked]), ...left]);
    this.#stepStart = undefined;
    return kept.whole;
  }

  /** Puts others in the place of the entries: what was made of those, and counted, holds no more. */
  #replace(entries: TranscriptEntry[]): void {
    this.#entries = entries;
    this.#rows.forget();
    [this.#sized, this.#size] = [0, NO_SIZE];
  }

  #wait(eventId: string, text: string, source?: string): void {
    this.#waiting.set(eventId, [textPart(text)]);
    const callId = source === undefined ? undefined : this.#callsWaitingFor.get(source);
    if (callId !== undefined && this.#isOpen(callId)) this.#answersToCalls.add(eventId);
  }

  #waitFor(source: string, callId: string | undefined): void {
    if (callId !== undefined) this.#callsWaitingFor.set(source, callId);
  }

  #isOpen(callId: string): boolean {
    return this.#unanswered.has(callId) || (this.#turn?.calls.has(callId) === true && !this.#turn.results.has(callId));
  }

  #consume({ eventIds, spanId }: SessionEventData<'message.consumed'>, seq: number): void {
    const parts = eventIds.flatMap((eventId) => this.#waiting.get(eventId) ?? []);
    for (const eventId of eventIds) {
      this.#waiting.delete(eventId);
      this.#answersToCalls.delete(eventId);
    }
    const start = this.#stepStart;
    if (start?.spanId === spanId && this.#hasSpoken(start)) return this.#tellBefore(start, parts);
    // What the runtime has noted since the step began is for the next one.
    if (this.#turn?.spanId !== spanId || this.#turn.parts.length > 0) this.#beginTurn(spanId, seq);
    if (parts.length > 0) this.#entries.push({ kind: 'told', seq, parts });
  }

  /**
   * Whether the step has said or done something already: a backend that runs tools itself has, when the log tells what
   * the step had read.
   */
  #hasSpoken({ at }: StepStart): boolean {
    return this.#entries.length > at || (this.#turn?.parts.length ?? 0) > 0;
  }

  /** What a step was given stands before whatever it says. */
  #tellBefore({ at }: StepStart, parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    const seq = this.#entries[at]?.seq ?? this.#turn?.seq ?? this.#head;
    this.#replace(this.#entries.toSpliced(at, 0, { kind: 'told', seq, parts }));
  }

  #announceDue(queuedWakeIds: readonly string[]): void {
    for (const queuedWakeId of queuedWakeIds) {
      const queued = this.#queuedWakes.get(queuedWakeId);
      if (queued === undefined || this.#announced.has(queuedWakeId)) continue;
      this.#announced.add(queuedWakeId);
      this.#note(dueText(queued));
    }
  }

  #endWake({ outcome, completedWakeIds }: SessionEventData<'wake.ended'>): void {
    for (const queuedWakeId of completedWakeIds) this.#queuedWakes.delete(queuedWakeId);
    if (outcome === 'interrupted')
      this.#note('You were interrupted here. What you had planned does not hold any more unless you are asked again.');
  }

  #note(text: string): void {
    this.#notes.push(textPart(text));
  }

  #beginStep(spanId: string, seq: number): void {
    this.#isWhole = true;
    this.#beginTurn(spanId, seq);
    this.#stepStart = { spanId, at: this.#entries.length };
  }

  #say(spanId: string, seq: number, part: AssistantPart): void {
    if (part.type !== 'tool_call' && isBlank(part.text) && !(part.type === 'reasoning' && part.opaque !== undefined))
      return;
    if (this.#turn?.spanId !== spanId || this.#isAnswered(this.#turn)) this.#beginTurn(spanId, seq);
    this.#turn?.parts.push(part);
    if (this.#turn !== undefined) this.#turn.seq = seq;
    this.#announced.clear();
  }

  /** Of a backend that runs tools itself: what it says after their results is another message. */
  #isAnswered({ calls, results }: OpenTurn): boolean {
    return calls.size > 0 && calls.size === results.size;
  }

  #call({ callId, name, input, spanId }: SessionEventData<'agent.tool_use'>, seq: number): void {
    if (this.#turn?.spanId === spanId && this.#turn.calls.has(callId)) return;
    const part: ToolCallPart = {
      type: 'tool_call',
      callId: this.#callIds.next(callId),
      name: acceptedName(name),
      input: wellFormedJson(acceptedInput(input)),
    };
    this.#say(spanId, seq, part);
    this.#turn?.calls.set(callId, part);
  }

  /** The first result counts. */
  #answer({ callId, outcome, output, kept }: SessionEventData<'agent.tool_result'>, seq: number): void {
    const turn = this.#turn;
    const call = turn?.calls.get(callId);
    if (turn !== undefined && call !== undefined) {
      if (turn.results.has(callId)) return;
      turn.results.set(callId, resultOf(call, { outcome, output, kept }));
      turn.seq = seq;
      return;
    }
    const late = this.#unanswered.get(callId);
    if (late === undefined) return;
    this.#unanswered.delete(callId);
    this.#note(lateResultText(resultOf(late, { outcome, output, kept })));
  }

  /** Settles all that came before. */
  #beginTurn(spanId: string, seq: number): void {
    const turn = this.#turn;
    this.#entries.push(...settled(turn));
    for (const [callId, part] of turn?.calls ?? [])
      if (turn?.results.has(callId) !== true) this.#unanswered.set(callId, part);
    if (this.#notes.length > 0) this.#entries.push({ kind: 'told', seq, parts: this.#notes });
    this.#notes = [];
    this.#turn = { spanId, parts: [], calls: new Map(), results: new Map(), seq };
  }

  /** What is not settled yet, and what no step has read, stays beside the summary. */
  #compact({ throughSeq, summary }: SessionEventData<'context.compacted'>, seq: number): void {
    const through = Math.min(throughSeq, seq);
    if (isBlank(summary) || through < (this.#compactedThroughSeq ?? 0)) return;
    this.#compactedThroughSeq = through;
    const kept = this.#entries.filter((entry) => entry.seq > through);
    this.#stepStart = undefined;
    this.#replace([{ kind: 'told', seq: through, parts: [summaryPart({ summary, throughSeq: through })] }, ...kept]);
  }
}

/** The messages of a whole log. */
export function assembleTranscript(events: Iterable<SessionEvent>): readonly ProviderMessage[] {
  const builder = new TranscriptBuilder();
  for (const event of events) builder.ingest(event);
  return builder.messages();
}

/**
 * A turn as it stands: what the assistant said, then one result for each call. Nothing when it only thought, which no
 * provider takes alone.
 */
function settled(turn: OpenTurn | undefined): TranscriptEntry[] {
  if (turn === undefined || turn.parts.every(({ type }) => type === 'reasoning')) return [];
  const { seq, calls, results } = turn;
  const said: AssistantMessage = { role: 'assistant', content: [...turn.parts] };
  if (calls.size === 0) return [{ kind: 'turn', seq, said }];
  const content = [...calls].map(
    ([callId, call]) => results.get(callId) ?? resultOf(call, { outcome: 'unknown', output: UNKNOWN_RESULT }),
  );
  return [{ kind: 'turn', seq, said, results: { role: 'tool', content } }];
}

/** In contexts of the model: a conversation of more than MOST is cut to KEPT, so that this is seldom done. */
const MOST: EntrySize = { whole: 6, told: 2 };
const KEPT: EntrySize = { whole: 4, told: 1.25 };

/** What is told of an output that is left out, with its frame, in tokens. */
const LEFT_OUT_TOKENS = 64;

function isBeyond({ whole, told }: EntrySize, maxTokens: number, contexts: EntrySize): boolean {
  return whole > contexts.whole * maxTokens || told > contexts.told * maxTokens;
}

function sizeOf(entry: TranscriptEntry | undefined): EntrySize {
  if (entry === undefined) return NO_SIZE;
  if (entry.kind === 'told') return alike(entry.parts.reduce((tokens, part) => tokens + estimatePart(part), 0));
  const said = estimateMessage(entry.said);
  const results = (entry.results?.content ?? []).map(estimatePart);
  const told = results.reduce((tokens, each) => tokens + Math.min(each, LEFT_OUT_TOKENS), said);
  return { whole: results.reduce((tokens, each) => tokens + each, said), told };
}

/** Whether it says more than a summary. */
function isTold(entry: TranscriptEntry): boolean {
  return (
    entry.kind === 'told' && entry.parts.some((part) => part.type !== 'text' || part.summarizesThroughSeq === undefined)
  );
}

function sum(one: EntrySize, other: EntrySize): EntrySize {
  return { whole: one.whole + other.whole, told: one.told + other.told };
}

function alike(tokens: number): EntrySize {
  return { whole: tokens, told: tokens };
}

function reasoningPart({ text, opaque }: SessionEventData<'agent.thinking'>): AssistantPart {
  return { type: 'reasoning', text: wellFormed(text), ...(opaque === undefined ? {} : { opaque }) };
}

function resultOf(
  { callId, name }: ToolCallPart,
  { outcome, output, kept }: Pick<ToolResultPart, 'outcome' | 'output' | 'kept'>,
): ToolResultPart {
  return {
    type: 'tool_result',
    callId,
    name,
    outcome,
    output: outputOf(output),
    ...(kept === undefined ? {} : { kept }),
  };
}
