/**
 * What the fixture servers know of a streaming protocol: how an answer, a piece of one and an error are written on the
 * wire.
 */

/** Those that our embedded backend speaks. */
export type EmbeddedApi = 'anthropic' | 'openai' | 'openai-chat';
/** With those that only programs of others speak. */
export type ApiName = EmbeddedApi | 'gemini';

/** One thing that the model says. A list of texts is sent in as many pieces. */
export type Said =
  | { readonly text: string | readonly string[] }
  /** `seal`: a signature, or encrypted reasoning. */
  | { readonly reasoning: string | readonly string[]; readonly seal?: string }
  /** Reasoning that is only sealed. */
  | { readonly sealed: string }
  /** `input` as JSON text, in as many pieces as there are. */
  | { readonly tool: string; readonly callId: string; readonly input: string | readonly string[] };

export interface AnswerEnd {
  readonly reason?: 'stop' | 'length' | 'refusal' | 'tools' | undefined;
  readonly usage?:
    | {
        readonly input: number;
        readonly output: number;
        readonly cached?: number;
        readonly cacheWrites?: number;
        readonly reasoning?: number;
        readonly cost?: number;
      }
    | undefined;
}

export interface WireError {
  /** As the protocol calls it. */
  readonly type: string;
  readonly message: string;
  readonly code?: string | number | undefined;
}

export interface ModelProtocol {
  readonly api: ApiName;
  /** Of the base address. */
  readonly prefix: string;
  /** After the base address. A pattern names the `model`, where it stands there and not in the body. */
  readonly path: string | RegExp;
  /** Whether what is asked at this path is answered in a stream. Absent: always. */
  isStreamed?(path: string): boolean;
  /** The events, each as it is sent. */
  opening(model: string): readonly string[];
  /** The number tells of how many things were said before. */
  saying(said: Said, index: number): readonly string[];
  closing(end: AnswerEnd, said: readonly Said[]): readonly string[];
  /** All of it in one body, for what is answered without a stream. */
  whole?(end: AnswerEnd, said: readonly Said[]): string;
  /** The body of an answer with a status of failure. */
  errorBody(error: WireError): string;
  /** The same in mid-stream. */
  streamedError(error: WireError): string;
  /** An event of a kind that nobody knows yet. */
  readonly unknownEvent: string;
}

export const DEFAULT_USAGE = { input: 11, output: 7 } as const;

export function piecesOf(text: string | readonly string[]): readonly string[] {
  return typeof text === 'string' ? [text] : text;
}

export function wholeOf(text: string | readonly string[]): string {
  return piecesOf(text).join('');
}

export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
