/** What a model says while it says it, as followers of a session hear it, and the port that carries it to them. */
import type { ToolProgress } from '../turn/tool.ts';

/**
 * What a model says while it says it, and how far calls have come. Lossy by design: the log has what was said in the
 * end.
 */
export type SessionWord =
  /** The next piece. */
  | { readonly type: 'said'; readonly kind: 'text' | 'reasoning'; readonly text: string }
  /** The attempt failed: pieces since the last `logged` count for nothing. */
  | { readonly type: 'taken_back' }
  /** The step is over: what was said is in the log, in events after this number, as soon as they are stored. */
  | { readonly type: 'logged'; readonly after: number }
  | { readonly type: 'progress'; readonly callId: string; readonly name: string; readonly progress: ToolProgress }
  /** Pieces were dropped here: a slow reader, a cut connection, one that joined late in a long step. */
  | { readonly type: 'lost' };

export type OnWord = (word: SessionWord) => void;

/**
 * Calls `onWord` with what was said of the step so far, then with each word of this process, without secrets.
 * @returns leaves; idempotent
 */
export type Speak = (sessionId: string, onWord: OnWord) => () => void;

/** Carries words to followers in other processes, and theirs here. */
export interface WordChannel {
  /** @param speak what the wakes of one runtime say: asked for a session when one elsewhere follows it */
  join(speak: Speak): WordLink;
}

export interface WordLink {
  /** Hears the wakes of others, as `Speak` tells them. Never those of its own runtime. @returns leaves; idempotent */
  follow(sessionId: string, onWord: OnWord): () => void;
  /** Those who follow are told no more. Idempotent. */
  close(): Promise<void>;
}
