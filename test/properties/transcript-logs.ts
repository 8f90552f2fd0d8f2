/**
 * Logs as sessions write them, made from random moves: each is tried against the real rules and left out where they
 * refuse it. What a model step was given is noted beside them.
 */
import fc from 'fast-check';
import { checkDraft } from '../../src/machines/session/session-event.ts';
import type { SessionEvent, SessionEventData, SessionEventDraft } from '../../src/machines/session/session-event.ts';
import { forkedEvents, settlingDrafts } from '../../src/machines/session/session-fork.ts';
import { stateAfter } from '../../src/machines/session/session-rules.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { OpenToolCall, PendingAction, SessionState } from '../../src/machines/session/session-state.ts';
import { readableIngress } from '../../src/machines/wake/wake-decision.ts';
import { lostWakeEvents } from '../../src/machines/wake/wake-repair.ts';
import {
  AGENT_ID,
  IDENTITY,
  SESSION_ID,
  START,
  UNBOUND,
  anyDraft,
  childRested,
  created,
  directed,
  eventAt,
  idOf,
  interrupted,
  message,
  permissionAsked,
  queued,
  resting,
  running,
  toolStarted,
  wakeEnded,
  wakeStarted,
} from '../support/session-events.ts';

type Outcome = SessionEventData<'agent.tool_result'>['outcome'];

const MOVES = [
  'message',
  'blank message',
  'attachment',
  'outcome',
  'child',
  'child rests',
  'queue wake',
  'wake',
  'wake dies',
  'wake ends',
  'interrupt',
  'step',
  'step',
  'step',
  'say',
  'say',
  'call',
  'call',
  'call',
  'think only',
  'say nothing',
  'fail',
  'cut short',
  'continue',
  'misdirect',
  'result',
  'result',
  'result',
  'all results',
  'start call',
  'ask permission',
  'confirm',
  'custom tool',
  'custom call',
  'custom result',
  'subflow',
  'backend call',
  'backend call',
  'compact',
  'unrecognized',
  'fork',
  'anything',
] as const;

interface Move {
  readonly kind: (typeof MOVES)[number];
  readonly number: number;
  readonly text: string;
  readonly output: unknown;
  readonly outcome: Outcome;
  readonly draft: SessionEventDraft;
}

/** A step that answered: what it had been given, and from where to where nothing replaced it. */
export interface AnsweredStep {
  readonly spanId: string;
  /** Sequence number of its `span.started`. */
  readonly startSeq: number;
  readonly reading: readonly string[];
  /** Of the last event that it left. */
  readonly answeredSeq: number;
}

export interface LegalLog {
  readonly events: readonly SessionEvent[];
  readonly answered: readonly AnsweredStep[];
}

const anyText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
  fc.constantFrom(' ', 'done \n', 'a\ud800b', '\udfff', '\n\n'),
);

const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.constantFrom(...MOVES),
  number: fc.nat(7),
  text: anyText,
  output: fc.oneof(
    anyText,
    fc.constant(''),
    fc.jsonValue({ maxDepth: 2 }),
    fc.constant({ type: 'image', mediaType: 'image/png', path: 'a.png' }),
    fc.constant({ '\ud800': ['\\ud800', '\udc00'] }),
  ),
  outcome: fc.constantFrom('completed', 'failed', 'denied', 'cancelled', 'unknown'),
  draft: anyDraft,
});

/** Steps leave their events at once, as a wake stores them. */
export const legalLog: fc.Arbitrary<LegalLog> = fc
  .array(move, { maxLength: 80, size: 'max' })
  .map((moves) => written(moves));

/** Anything that the rules let through, whether a wake would write it or not. */
export const lenientLog: fc.Arbitrary<LegalLog> = fc
  .array(move, { maxLength: 60, size: 'max' })
  .map((moves) => written(moves, { mixesIn: true }));

function written(moves: readonly Move[], { mixesIn = false } = {}): LegalLog {
  const writer = new LogWriter();
  for (const each of moves) {
    if (each.kind !== 'anything') writer.make(each);
    else if (mixesIn) writer.append([each.draft]);
  }
  return { events: writer.events, answered: writer.answered };
}

class LogWriter {
  events: SessionEvent[] = [];
  state: SessionState = initialSessionState(IDENTITY);
  answered: AnsweredStep[] = [];
  #step: Omit<AnsweredStep, 'answeredSeq'> | undefined;

  constructor() {
    this.append([created]);
  }

  append(drafts: readonly SessionEventDraft[]): boolean {
    const events = drafts.map((draft, index) =>
      eventAt(this.state.head + 1 + index, draft, this.state.openWake?.epoch),
    );
    return this.#take(events);
  }

  make(made: Move): void {
    const handler = LogWriter.#moves[made.kind];
    if (handler === undefined) this.#finish(made);
    else handler(this, made);
  }

  /** The moves that are no ending of a step. */
  static readonly #moves: Partial<Record<Move['kind'], (writer: LogWriter, move: Move) => unknown>> = {
    message: (writer, { text, number }) =>
      writer.append([message(text, number === 0 ? 'interrupt' : number < 4 ? 'queue' : 'steer')]),
    'blank message': (writer) => writer.append([message(' \n ')]),
    attachment: (writer, { text, number }) => writer.append([attached(text, number)]),
    outcome: (writer, { text }) => writer.append([{ type: 'user.define_outcome', data: { title: text } }]),
    child: (writer, { number }) =>
      writer.append([
        { type: 'session.child_created', data: { childSessionId: idOf(900 + number), agentId: AGENT_ID } },
      ]),
    'child rests': (writer, { number }) => writer.append([childRested(idOf(900 + number), writer.state.head)]),
    'queue wake': (writer) => writer.append([queued(`queued_${writer.state.head}`)]),
    wake: (writer, { number }) => writer.#wake(number),
    'wake dies': (writer) => writer.append(lostWakeEvents(writer.state)) && writer.#wake(1),
    'wake ends': (writer, { number }) => writer.#endWake(number),
    interrupt: (writer) => writer.append([interrupted()]),
    step: (writer, { number }) => writer.#begin(number),
    'backend call': (writer, { text, number }) => writer.#callByBackend(text, number),
    compact: (writer, { text, number }) =>
      writer.append([
        {
          type: 'context.compacted',
          data: {
            throughSeq: Math.max(1, writer.state.head - number * 3),
            summary: text,
            tokensBefore: 10,
            tokensAfter: 1,
          },
        },
      ]),
    unrecognized: (writer) => writer.#take([unrecognized(writer.state.head + 1)]),
    fork: (writer) => writer.#fork(),
    result: (writer, made) => writer.#withCall(made, (call) => resultOf(call, made)),
    'all results': (writer) => writer.#answerAll(),
    'start call': (writer, made) => writer.#withCall(made, ({ callId }) => toolStarted(callId)),
    'ask permission': (writer, made) =>
      writer.#withCall(made, ({ callId }) => permissionAsked(callId, `request_${writer.state.head}`)),
    confirm: (writer, { number }) =>
      writer.#withRequest(({ requestId, toolName }) => ({
        type: 'user.tool_confirmation',
        data: { requestId, toolName, allowed: number % 2 === 0 },
      })),
    'custom tool': (writer) =>
      writer.append([
        { type: 'agent.custom_tool_use', data: { requestId: `request_${writer.state.head}`, name: 'ask', input: {} } },
      ]),
    'custom call': (writer, made) =>
      writer.#withCall(made, ({ callId }) => ({
        type: 'agent.custom_tool_use',
        data: { requestId: `request_${writer.state.head}`, name: 'ask', input: {}, callId },
      })),
    'custom result': (writer, { text }) =>
      writer.#withRequest(({ requestId, toolName }) => ({
        type: 'user.custom_tool_result',
        data: { requestId, toolName, output: text },
      })),
    subflow: (writer, made) =>
      writer.#withCall(made, ({ callId }) => ({
        type: 'agent.subflow_started',
        data: {
          callId,
          childSessionId: idOf(900 + made.number),
          agentId: AGENT_ID,
          message: 'do it',
          restriction: UNBOUND,
        },
      })),
  };

  #withCall({ number }: Move, draftOf: (call: OpenToolCall) => SessionEventDraft): void {
    const { openToolCalls } = this.state;
    const call = openToolCalls[number % Math.max(1, openToolCalls.length)];
    if (call !== undefined) this.append([draftOf(call)]);
  }

  #withRequest(draftOf: (request: PendingAction) => SessionEventDraft): void {
    const request = this.state.pendingActions[0];
    if (request !== undefined) this.append([draftOf(request)]);
  }

  #endWake(number: number): void {
    const { openWake } = this.state;
    if (openWake !== undefined)
      this.append([
        wakeEnded(
          openWake.wakeId,
          number < 2 ? 'interrupted' : 'sleep',
          number % 2 === 0 ? [...openWake.queuedWakeIds] : [],
        ),
        resting,
      ]);
  }

  #wake(number: number): void {
    const { epoch, queuedWakes } = this.state;
    this.append([
      wakeStarted(
        epoch + 1,
        `wake_${epoch + 1}`,
        number % 2 === 1 ? queuedWakes.map(({ queuedWakeId }) => queuedWakeId) : [],
      ),
      running,
    ]);
  }

  #begin(number: number): void {
    const spanId = `span_${this.state.head}`;
    const readable = readableIngress(this.state).map(({ eventId }) => eventId);
    const began = this.append([
      {
        type: 'span.started',
        data: {
          spanId,
          kind: number === 0 ? 'compaction' : 'model_step',
          backend: 'script',
          provider: 'p',
          model: 'm',
          step: 1,
        },
      },
    ]);
    if (began && number === 0)
      this.append([
        { type: 'span.completed', data: { spanId, kind: 'compaction', outcome: 'completed', modelSteps: 0 } },
      ]);
    else if (began)
      this.#step = { spanId, startSeq: this.state.head, reading: number === 1 ? readable.slice(1) : readable };
  }

  /** A backend that runs tools itself leaves each as it comes, in the middle of its step. */
  #callByBackend(text: string, number: number): void {
    if (this.state.openSpanId === undefined) this.#begin(2);
    const { openSpanId: spanId, head } = this.state;
    if (spanId === undefined) return;
    const callId = `call_backend_${head}`;
    const began = this.append([
      { type: 'agent.tool_use', data: { callId, name: text, input: { text }, spanId, by: 'backend' } },
    ]);
    if (began && number > 2)
      this.append([
        { type: 'agent.tool_result', data: { callId, name: text, outcome: 'completed', output: `<output ${head}>` } },
      ]);
  }

  /** A step leaves all of what came of it at once, or nothing. */
  #finish({ kind, number, text }: Move): void {
    if (this.state.openSpanId === undefined) this.#begin(2);
    const step = this.#step;
    if (step === undefined || this.state.openSpanId !== step.spanId) return;
    const { spanId, reading } = step;
    const read: SessionEventDraft[] =
      reading.length === 0 ? [] : [{ type: 'message.consumed', data: { eventIds: [...reading], spanId } }];
    const said: SessionEventDraft = {
      type: 'agent.message',
      data: { text, spanId, ...(kind === 'cut short' ? { partial: true } : {}) },
    };
    const thought: SessionEventDraft = { type: 'agent.thinking', data: { text, spanId } };
    const calls = Array.from({ length: number % 4 }, (_, index) => callOf(spanId, number, index, text));
    const left = {
      say: [...read, said],
      call: [...read, ...(number > 3 ? [thought, said] : []), ...calls],
      'think only': [...read, thought],
      'say nothing': read,
      fail: [],
      'cut short': [...read, said],
      continue: [...read, said, directed('continue', spanId)],
      misdirect: [...read, said, { type: 'directive.rejected', data: { reason: 'not JSON', received: text, spanId } }],
    } as Partial<Record<Move['kind'], SessionEventDraft[]>>;
    const drafts = left[kind];
    if (drafts === undefined) return;
    const outcome = kind === 'fail' ? 'failed' : kind === 'cut short' ? 'aborted' : 'completed';
    const isStored = this.append([
      ...drafts,
      { type: 'span.completed', data: { spanId, kind: 'model_step', outcome, modelSteps: 1 } },
    ]);
    if (isStored && kind !== 'fail') this.answered.push({ ...step, answeredSeq: this.state.head });
    if (isStored) this.#step = undefined;
  }

  /** Every open call gets its result, the last one first, each with words that no other has. */
  #answerAll(): void {
    for (const { callId, name } of this.state.openToolCalls.toReversed()) {
      this.append([
        {
          type: 'agent.tool_result',
          data: { callId, name, outcome: 'completed', output: `<output ${this.state.head}>` },
        },
      ]);
    }
  }

  #fork(): void {
    const made = eventAt(1, {
      type: 'session.created',
      data: { agentId: AGENT_ID, forkOf: { sessionId: SESSION_ID, seq: this.state.head } },
    });
    const events = forkedEvents(this.events).map((event, index) =>
      recognized({ ...event, seq: index + 2, sessionId: SESSION_ID } as SessionEvent),
    );
    try {
      const state = stateAfter(initialSessionState(IDENTITY), [made, ...events]);
      const settling = settlingDrafts(state).map((draft, index) => eventAt(state.head + 1 + index, draft));
      this.state = stateAfter(state, settling);
      this.events = [made, ...events, ...settling];
      this.answered = [];
      this.#step = undefined;
    } catch {
      // The session goes on as it was: not every log can be forked by folding it again.
    }
  }

  #take(events: readonly SessionEvent[]): boolean {
    try {
      this.state = stateAfter(this.state, events);
      this.events = [...this.events, ...events];
      return true;
    } catch {
      return false;
    }
  }
}

/** A forked event that this version does not know is stored as it came and wrapped when it is read. */
function recognized(event: SessionEvent): SessionEvent {
  const type: string = event.type;
  return type === 'of.tomorrow' ? unrecognized(event.seq) : event;
}

function unrecognized(seq: number): SessionEvent {
  return {
    id: idOf(seq),
    seq,
    at: START,
    sessionId: SESSION_ID,
    type: 'event.unrecognized',
    v: 1,
    data: { type: 'of.tomorrow', v: 1, data: {} },
  };
}

function attached(text: string, number: number): SessionEventDraft {
  const attachment = {
    kind: 'image' as const,
    name: text,
    mediaType: number % 2 === 0 ? 'image/png' : 'text/plain',
    bytes: number * 1_000,
    sha256: 'a'.repeat(64),
    path: `in/${number}.png`,
  };
  const draft: SessionEventDraft = {
    type: 'user.message',
    data: { text, delivery: 'queue', attachments: [attachment, attachment] },
  };
  return { ...draft, data: checkDraft(draft).data } as SessionEventDraft;
}

/** Ids that meet, and ids and names that no provider takes. */
function callOf(spanId: string, number: number, index: number, text: string): SessionEventDraft {
  const callId =
    number > 5
      ? `again ${index}`
      : number > 4
        ? `call_0199a0b0-1234-7abc-8def-0123456789${10 + index}`
        : `call_${spanId}_${index}`;
  const input: unknown = number % 2 === 0 ? { text } : [text];
  return { type: 'agent.tool_use', data: { callId, name: number > 3 ? `${text} tool` : 'shell_run', input, spanId } };
}

function resultOf({ callId, name }: OpenToolCall, { output, outcome }: Move): SessionEventDraft {
  return {
    type: 'agent.tool_result',
    data: {
      callId,
      name,
      outcome,
      output: output ?? 'nothing',
      ...(outcome === 'completed' ? { kept: { path: 'out/1.txt', characters: 9 } } : {}),
    },
  };
}
