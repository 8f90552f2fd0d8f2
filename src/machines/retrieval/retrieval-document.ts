/** The unit of retrieval: a short piece of something that an agent can open again, with where it came from. */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';
import { MAX_DOCUMENT_CHARACTERS } from './retrieval-limits.ts';
import { RETRIEVAL_KINDS } from './retrieval-words.ts';

export const retrievalKind = z.enum(RETRIEVAL_KINDS);

export type RetrievalKind = z.output<typeof retrievalKind>;

/** A cut may leave a mark that makes the text a little longer. */
const ROOM_FOR_MARKS = 200;

export const retrievalDocument = z.strictObject({
  /** One of a kind within its agent. */
  id: z.string().min(1).max(300),
  kind: retrievalKind,
  sessionId: z.string().max(100).optional(),
  /** The events that it was made of, in order. Empty for what no event says. */
  seqs: z.array(z.number().int().positive()).max(4),
  /** ISO-8601. */
  at: z.string().max(40).optional(),
  /** What it is about in a few words: the command, the path, the heading. May be empty. */
  title: z.string().max(400),
  text: z.string().max(MAX_DOCUMENT_CHARACTERS + ROOM_FOR_MARKS),
  /** Of a trace: the name of the tool, how the call ended, and which call it was. */
  tool: z.string().max(200).optional(),
  outcome: z.string().max(40).optional(),
  callId: z.string().max(200).optional(),
  /** Of memory: the file, as the agent names it. */
  path: z.string().max(400).optional(),
});

export type RetrievalDocument = Readonly<z.output<typeof retrievalDocument>>;

/** Text that fits into a document: cut at its end, at a white space where one is near, never within a character. */
export function bounded(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const cut = text.slice(0, maxCharacters - 1);
  const space = cut.lastIndexOf(' ');
  const whole = space > maxCharacters * 0.8 ? cut.slice(0, space) : beginningOf(text, maxCharacters - 1);
  return `${whole}…`;
}

export interface DocumentFacts {
  readonly kind: RetrievalKind;
  readonly sessionId?: string | undefined;
  /** The newest event that it was made of; 0 where no event says it. */
  readonly lastSeq: number;
  /** Milliseconds since the epoch; NaN where no time is known. */
  readonly atMs: number;
  /** Of a trace. */
  readonly tool?: string | undefined;
}

/** What the filters of a search ask of a document. An index answers it without opening the document. */
export function factsOf({ kind, sessionId, seqs, at, tool }: RetrievalDocument): DocumentFacts {
  return { kind, sessionId, lastSeq: seqs.at(-1) ?? 0, atMs: at === undefined ? Number.NaN : Date.parse(at), tool };
}
