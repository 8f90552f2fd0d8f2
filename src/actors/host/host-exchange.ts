/**
 * The port by which processes over one folder ask each other, on one machine: a question is one line, and so is its
 * answer. Each is found by the token under which it lives, so one that is not asked pays nothing.
 */

export type HostAnswer =
  | { readonly is: 'told'; readonly text: string }
  /** It lives, and does not answer: it hangs, was stopped, or is of a version that knows no questions. */
  | { readonly is: 'silent' }
  /** It is dead, or died over the question. */
  | { readonly is: 'gone' };

export interface AskOptions {
  /** Default: as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** The asker does not want to know any more: then the other one is `silent`. */
  readonly signal?: AbortSignal | undefined;
}

/** `signal` is aborted when the asker has left. */
export type HostAnswerer = (question: string, signal: AbortSignal) => Promise<string>;

export interface OtherHosts {
  /** Of processes that can be asked from here; some of them may be dead. */
  readonly tokens: readonly string[];
  /** How many live, or may live, on other machines, where they cannot be reached. */
  readonly beyond: number;
}

export interface HostExchange {
  /** From now on questions are answered so, once this process has a token. Until then they are not. */
  answerWith(answerer: HostAnswerer): void;
  /** Without this one. */
  others(): Promise<OtherHosts>;
  isOwn(token: string): boolean;
  ask(token: string, question: string, options?: AskOptions): Promise<HostAnswer>;
}
