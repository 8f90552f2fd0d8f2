/**
 * A session's log as documents, made event by event: what was said, what was done, and what was summed up. Goes on from
 * where it stopped, and gives the same documents however the log is cut into pieces.
 */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { passagesOf } from './passages.ts';
import { bounded } from './retrieval-document.ts';
import type { RetrievalDocument, RetrievalKind } from './retrieval-document.ts';
import { MAX_DOCUMENT_CHARACTERS, MAX_REMEMBERED_CALLS } from './retrieval-limits.ts';
import { callWords, outputWords } from './trace-text.ts';

const rememberedCall = z.strictObject({
  callId: z.string().max(200),
  seq: z.number().int().positive(),
  tool: z.string().max(200),
  title: z.string().max(400),
  input: z.string().max(1_000),
});

/** How far a log has been read, and what the next events need of it. Plain data. */
export const sessionCursor = z.strictObject({
  /** Of the last event that was read; 0 before the first. */
  seq: z.number().int().nonnegative(),
  /** Its id. A log that holds another one there is not the one that was read. */
  eventId: z.string().max(200).optional(),
  /** Its time, ISO-8601. */
  at: z.string().max(40).optional(),
  title: z.string().max(400).optional(),
  /** The beginning of the first message. */
  opening: z.string().max(1_000).optional(),
  summary: z.string().max(2_500).optional(),
  calls: z.array(rememberedCall).max(MAX_REMEMBERED_CALLS),
});

export type SessionCursor = Readonly<z.output<typeof sessionCursor>>;

export const CURSOR_AT_START: SessionCursor = { seq: 0, calls: [] };

const MAX_OPENING_CHARACTERS = 300;
const MAX_TOOL_NAME_CHARACTERS = 200;

/** What retrieval itself puts out is not found again: it would be found before what it found. */
const OWN_TOOLS = /^(?:retrieval|session|memory|learning)_/;

export class SessionDocuments {
  readonly #sessionId: string;
  readonly #changed = new Map<string, RetrievalDocument>();
  readonly #calls: Map<string, SessionCursor['calls'][number]>;
  #cursor: SessionCursor;

  constructor(sessionId: string, cursor: SessionCursor = CURSOR_AT_START) {
    this.#sessionId = sessionId;
    this.#cursor = cursor;
    this.#calls = new Map(cursor.calls.map((call) => [call.callId, call]));
  }

  get cursor(): SessionCursor {
    return { ...this.#cursor, calls: [...this.#calls.values()] };
  }

  /** Documents that are new or other than before, since it was asked last. */
  take(): readonly RetrievalDocument[] {
    const documents = [...this.#changed.values()];
    this.#changed.clear();
    return documents;
  }

  /** The events must come in order; one that was read before is passed over. */
  ingest(event: SessionEvent): void {
    if (event.seq <= this.#cursor.seq) return;
    this.#cursor = { ...this.#cursor, seq: event.seq, eventId: event.id, at: event.at };
    this.#read(event);
  }

  #read(event: SessionEvent): void {
    // What else happens says nothing worth searching for.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case 'session.created':
        return this.#retitle(event, { title: event.data.title });
      case 'user.message':
        if (this.#cursor.opening === undefined)
          this.#retitle(event, { opening: bounded(event.data.text, MAX_OPENING_CHARACTERS) });
        return this.#say(event, { kind: 'text', text: event.data.text });
      case 'agent.message':
        return this.#say(event, { kind: 'text', text: event.data.text });
      case 'agent.question_asked':
        return this.#say(event, {
          kind: 'text',
          text: [event.data.question, ...(event.data.choices ?? [])].join('\n'),
        });
      case 'user.answer':
        return this.#say(event, { kind: 'text', text: event.data.response });
      case 'user.tool_confirmation':
        return event.data.note === undefined
          ? undefined
          : this.#say(event, {
              kind: 'text',
              title: `${event.data.allowed ? 'allowed' : 'denied'}: ${event.data.toolName}`,
              text: event.data.note,
            });
      case 'agent.tool_use':
        return this.#call(event, event.data);
      case 'agent.tool_result':
        return this.#result(event, event.data);
      default:
        return this.#sumUp(event);
    }
  }

  #sumUp(event: SessionEvent): void {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case 'wake.ended':
        return this.#rest(
          event,
          [event.data.summary, ...(event.data.error === undefined ? [] : [event.data.error.message])].join('\n'),
        );
      case 'context.compacted':
        return this.#say(event, {
          kind: 'checkpoint',
          title: `summary of the conversation up to event ${event.data.throughSeq}`,
          text: event.data.summary,
        });
      case 'user.define_outcome':
      case 'outcome.defined':
        return this.#say(event, {
          kind: 'checkpoint',
          title: `outcome: ${event.data.title}`,
          text: [event.data.detail ?? '', ...(event.data.criteria ?? [])].join('\n'),
        });
      case 'outcome.evaluated':
        return this.#say(event, {
          kind: 'checkpoint',
          title: `outcome evaluated: ${event.data.verdict}`,
          text: event.data.because,
        });
      case 'session.child_idle':
        return this.#say(event, {
          kind: 'checkpoint',
          title: `child session of ${event.data.agentId} rests: ${event.data.reason}`,
          text: event.data.summary,
        });
      case 'subagent.ended':
        return this.#say(event, {
          kind: 'checkpoint',
          title: `subagent job of ${event.data.agentId} ${event.data.status}`,
          text: event.data.summary,
        });
      default:
        return undefined;
    }
  }

  /** Wakes that end with the same words, or with none, say nothing new. */
  #rest(event: SessionEvent, words: string): void {
    const summary = words.trim();
    if (summary === '' || summary === this.#cursor.summary) return;
    this.#retitle(event, { summary: bounded(summary, MAX_DOCUMENT_CHARACTERS) });
    this.#say(event, { kind: 'checkpoint', text: summary });
  }

  #say(
    { seq, at }: SessionEvent,
    { kind, title = '', text }: { readonly kind: RetrievalKind; readonly title?: string; readonly text: string },
  ): void {
    for (const [index, passage] of passagesOf(text).entries()) {
      if (passage === '' && title === '') continue;
      const id = `${this.#sessionId}:${seq}${index === 0 ? '' : `.${index}`}`;
      this.#put({
        id,
        kind,
        sessionId: this.#sessionId,
        seqs: [seq],
        at,
        title: bounded(title, MAX_OPENING_CHARACTERS),
        text: passage,
      });
    }
  }

  #call({ seq, at }: SessionEvent, { callId, name, input }: SessionEventData<'agent.tool_use'>): void {
    if (OWN_TOOLS.test(name)) return;
    const tool = beginningOf(name, MAX_TOOL_NAME_CHARACTERS);
    const words = callWords(tool, input);
    this.#calls.set(callId, { callId, seq, tool, ...words });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_REMEMBERED_CALLS && oldest !== undefined) this.#calls.delete(oldest);
    this.#put({
      id: beginningOf(`${this.#sessionId}:${seq}:${callId}`, 300),
      kind: 'trace',
      sessionId: this.#sessionId,
      seqs: [seq],
      at,
      title: words.title,
      text: words.input,
      tool,
      callId,
    });
  }

  #result({ seq, at }: SessionEvent, { callId, outcome, output }: SessionEventData<'agent.tool_result'>): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    this.#calls.delete(callId);
    const text = bounded(
      [call.input, `${outcome}: ${outputWords(output)}`].filter((part) => part !== '').join('\n'),
      MAX_DOCUMENT_CHARACTERS,
    );
    this.#put({
      id: beginningOf(`${this.#sessionId}:${call.seq}:${callId}`, 300),
      kind: 'trace',
      sessionId: this.#sessionId,
      seqs: [call.seq, seq],
      at,
      title: call.title,
      text,
      tool: call.tool,
      outcome,
      callId,
    });
  }

  /** The session as a whole is a document of its own: what it is called, how it began, and what it came to last. */
  #retitle({ seq, at }: SessionEvent, change: Pick<SessionCursor, 'title' | 'opening' | 'summary'>): void {
    this.#cursor = { ...this.#cursor, ...change };
    const { title = '', opening = '', summary = '' } = this.#cursor;
    const text = bounded([opening, summary].filter((part) => part !== '').join('\n'), MAX_DOCUMENT_CHARACTERS);
    if (title === '' && text === '') return;
    this.#put({
      id: wholeSessionId(this.#sessionId),
      kind: 'checkpoint',
      sessionId: this.#sessionId,
      seqs: [seq],
      at,
      title,
      text,
    });
  }

  #put(document: RetrievalDocument): void {
    this.#changed.set(document.id, document);
  }
}

/** The id of the document that stands for a session as a whole. */
export function wholeSessionId(sessionId: string): string {
  return `${sessionId}:session`;
}
