/**
 * Turns a session's log into the messages a model reads: a pure function of the events.
 *
 * For every prefix of every log, each tool call is followed at once by a message with exactly one result per call, in the order of
 * the calls. A call without a result gets one that says so. A message from outside stands where a model step first read it
 * (`message.consumed`), not where it arrived: a reply must not seem to answer what its author had not seen.
 */
import { MAX_CONTINUES_IN_A_ROW } from '../session/limits.ts';
import type { SessionEvent, SessionEventOf, SessionEventType } from '../session/session-event.ts';
import type { ProviderMessage, TextPart, ToolCallPart, ToolResultPart, AssistantMessage } from './provider-message.ts';

/** What a model is told about a call whose end is not in the log. */
export const UNKNOWN_RESULT =
  'The runtime stopped while this call ran. Whether it took effect is unknown, and it was not run again. Check before you repeat it.';

type AssistantPart = AssistantMessage['content'][number];

interface OpenTurn {
  readonly spanId: string;
  readonly parts: AssistantPart[];
  readonly results: Map<string, ToolResultPart>;
}

/** What a builder has to know that begins in the middle of a log. */
export interface TranscriptStart {
  readonly queuedWakes?: readonly { readonly queuedWakeId: string; readonly reason: string; readonly note?: string | undefined }[] | undefined;
  /** What comes before the first step that begins is left out. */
  readonly startsMidway?: boolean | undefined;
}

type Ingest = { readonly [Type in SessionEventType]?: (builder: TranscriptBuilder, event: SessionEventOf<Type>) => void };

export class TranscriptBuilder {
  readonly #messages: ProviderMessage[] = [];
  /** Texts from outside that no model step has read yet, by event id. */
  readonly #waiting = new Map<string, TextPart>();
  /** What the runtime has to tell the model before it speaks next. */
  #notes: TextPart[] = [];
  #turn: OpenTurn | undefined = undefined;
  readonly #queuedWakes = new Map<string, { readonly reason: string; readonly note?: string | undefined }>();

  static readonly #ingest: Ingest = {
    'user.message': (builder, { id, data }) => builder.#waiting.set(id, { type: 'text', text: data.text }),
    'user.custom_tool_result': (builder, { id, data }) =>
      builder.#waiting.set(id, {
        type: 'text',
        text: `Result of the custom tool "${data.toolName}" (request ${data.requestId}): ${JSON.stringify(data.output)}`,
      }),
    'user.define_outcome': (builder, { id, data }) => builder.#waiting.set(id, { type: 'text', text: `The outcome to achieve is now: ${data.title}` }),
    'session.child_idle': (builder, { id, data }) =>
      builder.#waiting.set(id, { type: 'text', text: `The child session ${data.childSessionId} (${data.agentId}) rests (${data.reason}): ${data.summary}` }),
    'message.consumed': (builder, { data }) => builder.#consume(data.eventIds),
    'wake.queued': (builder, { data }) => builder.#queuedWakes.set(data.queuedWakeId, data),
    'wake.started': (builder, { data }) => builder.#announceDue(data.queuedWakeIds),
    'wake.ended': (builder, { data }) => {
      if (data.outcome === 'interrupted') builder.#note('You were interrupted here. What you had planned does not hold any more unless you are asked again.');
    },
    'span.started': (builder) => {
      builder.#isWhole = true;
    },
    'agent.thinking': (builder, { data }) => builder.#say(data.spanId, { type: 'reasoning', text: data.text }),
    'agent.message': (builder, { data }) => builder.#say(data.spanId, { type: 'text', text: data.text }),
    'agent.tool_use': (builder, { data }) => builder.#call(data.spanId, { type: 'tool_call', callId: data.callId, name: data.name, input: data.input }),
    'agent.tool_result': (builder, { data }) => builder.#answer({ type: 'tool_result', ...data }),
    'directive.accepted': (builder, { data }) => {
      if (data.directive.outcome === 'continue') builder.#note(`You asked to continue (at most ${MAX_CONTINUES_IN_A_ROW} times in a row). Go on.`);
    },
    'directive.rejected': (builder, { data }) => builder.#note(`Your directive was not understood and counted as sleep: ${data.reason}`),
  };

  /** Whether a whole step has begun since the builder began: what comes before may be the rest of one. */
  #isWhole: boolean;

  constructor({ queuedWakes = [], startsMidway = false }: TranscriptStart = {}) {
    this.#isWhole = !startsMidway;
    for (const queued of queuedWakes) this.#queuedWakes.set(queued.queuedWakeId, queued);
  }

  /** Adds the next event of the log. */
  ingest(event: SessionEvent): void {
    if (!this.#isWhole && event.type.startsWith('agent.')) return;
    // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
    const handler = TranscriptBuilder.#ingest[event.type] as ((builder: TranscriptBuilder, event: SessionEvent) => void) | undefined;
    handler?.(this, event);
  }

  /**
   * The conversation so far, as a model that speaks next would read it. The builder can go on afterwards.
   * @param reading ids of the ingress events that it reads; all that wait when absent
   */
  messages(reading?: readonly string[]): ProviderMessage[] {
    const shown = [...this.#messages, ...closed(this.#turn)];
    const texts = reading === undefined ? [...this.#waiting.values()] : reading.flatMap((eventId) => this.#waiting.get(eventId) ?? []);
    addUserText(shown, [...this.#notes, ...texts]);
    return shown;
  }

  #consume(eventIds: readonly string[]): void {
    const texts = eventIds.flatMap((eventId) => this.#waiting.get(eventId) ?? []);
    for (const eventId of eventIds) this.#waiting.delete(eventId);
    this.#closeTurn(texts);
  }

  #announceDue(queuedWakeIds: readonly string[]): void {
    for (const queuedWakeId of queuedWakeIds) {
      const queued = this.#queuedWakes.get(queuedWakeId);
      if (queued !== undefined) this.#note(`A wake that you queued is due: ${queued.reason}${queued.note === undefined ? '' : `\n${queued.note}`}`);
    }
  }

  #note(text: string): void {
    this.#notes.push({ type: 'text', text });
  }

  #say(spanId: string, part: AssistantPart): void {
    this.#turnOf(spanId).parts.push(part);
  }

  #call(spanId: string, part: ToolCallPart): void {
    const turn = this.#turnOf(spanId);
    const isRepeated = turn.parts.some((other) => other.type === 'tool_call' && other.callId === part.callId);
    if (!isRepeated) turn.parts.push(part);
  }

  #answer(result: ToolResultPart): void {
    const turn = this.#turn;
    // The first result counts, and only while the turn that asked is the last one.
    const isAsked = turn?.parts.some((part) => part.type === 'tool_call' && part.callId === result.callId) === true;
    if (turn !== undefined && isAsked && !turn.results.has(result.callId)) turn.results.set(result.callId, result);
  }

  #turnOf(spanId: string): OpenTurn {
    if (this.#turn?.spanId === spanId) return this.#turn;
    this.#closeTurn([]);
    this.#turn = { spanId, parts: [], results: new Map() };
    return this.#turn;
  }

  #closeTurn(texts: readonly TextPart[]): void {
    this.#messages.push(...closed(this.#turn));
    this.#turn = undefined;
    addUserText(this.#messages, [...this.#notes, ...texts]);
    this.#notes = [];
  }
}

/** The messages of a whole log. */
export function assembleTranscript(events: Iterable<SessionEvent>): ProviderMessage[] {
  const builder = new TranscriptBuilder();
  for (const event of events) builder.ingest(event);
  return builder.messages();
}

/** A turn as messages: what the assistant said, then one result for each call. */
function closed(turn: OpenTurn | undefined): ProviderMessage[] {
  if (turn === undefined || turn.parts.length === 0) return [];
  const results = turn.parts.flatMap((part) => (part.type === 'tool_call' ? [turn.results.get(part.callId) ?? unknownResult(part)] : []));
  const said: AssistantMessage = { role: 'assistant', content: [...turn.parts] };
  return results.length === 0 ? [said] : [said, { role: 'tool', content: results }];
}

function unknownResult({ callId, name }: ToolCallPart): ToolResultPart {
  return { type: 'tool_result', callId, name, outcome: 'unknown', output: UNKNOWN_RESULT };
}

/** Adds texts from outside, joined to the user message that stands last, since some providers refuse two in a row. */
function addUserText(messages: ProviderMessage[], texts: readonly TextPart[]): void {
  if (texts.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === 'user') messages[messages.length - 1] = { role: 'user', content: [...last.content, ...texts] };
  else messages.push({ role: 'user', content: texts });
}
