/** The port that carries words to followers in other processes. */
import type { SessionWord } from '../../machines/words/session-word.ts';

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
  /**
   * Hears the wakes of others, as `Speak` tells them, never those of its own runtime. A session is followed once at a
   * time. @returns leaves; idempotent
   */
  follow(sessionId: string, onWord: OnWord): () => void;
  /** Those who follow are told no more. Idempotent. */
  close(): Promise<void>;
}
