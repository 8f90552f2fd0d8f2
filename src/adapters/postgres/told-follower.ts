/** One process that follows one session, as the process sees it that may wake that session: what it is told. */
import { WaitingWords } from '../../actors/words/waiting-words.ts';
import type { Speak } from '../../actors/words/word-channel.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import { encodeWords } from './word-payload.ts';
import type { Notification } from './notifications.ts';

export interface ToldFollowerOptions {
  readonly sessionId: string;
  /** Names this process. */
  readonly by: string;
  /** Where it listens. @throws RuntimeError SESSION_NOT_FOUND */
  readonly channelOf: () => Promise<string>;
  readonly onWord: () => void;
}

export class ToldFollower {
  readonly #options: ToldFollowerOptions;
  readonly #waiting = new WaitingWords();
  readonly #leaves: (() => void)[] = [];
  #channel: string | undefined;
  /** Of the message that was sent last. */
  #number = 0;
  /** In the middle of a step. */
  #isSpeaking = false;
  /** It wants to know whether the one who speaks is still there. */
  #wantsSign = false;
  /** By the connection, when it asked last, on the steady clock. */
  readonly #askedAtMs = new Map<number, number>();

  constructor(options: ToldFollowerOptions) {
    this.#options = options;
  }

  get hasWords(): boolean {
    return !this.#waiting.isEmpty;
  }

  /** Something is being said to it, or waits for it. */
  get isSpoken(): boolean {
    return this.#isSpeaking || this.hasWords;
  }

  /** @returns whether no connection has asked since */
  isForgotten(sinceMs: number): boolean {
    for (const [connection, atMs] of this.#askedAtMs) if (atMs < sinceMs) this.#askedAtMs.delete(connection);
    return this.#askedAtMs.size === 0;
  }

  /** It asks no more over this connection, as far as it did. @returns whether none is left that asks */
  left(connection: number): boolean {
    return this.#askedAtMs.delete(connection) && this.#askedAtMs.size === 0;
  }

  /** It asks, and asks again now and then. @returns whether there is anything to send */
  asked(connection: number, atMs: number): boolean {
    this.#askedAtMs.set(connection, atMs);
    this.#wantsSign = this.#isSpeaking;
    return this.#isSpeaking;
  }

  follow(speak: Speak): void {
    this.#leaves.push(speak(this.#options.sessionId, (word) => this.#hear(word)));
  }

  /** Nothing is said any more: what was said in the middle of a step comes to nothing. */
  leave(): void {
    for (const leave of this.#leaves.splice(0)) leave();
    if (this.#isSpeaking) this.#hear({ type: 'taken_back' });
  }

  /** What waits for it, in as many messages as it takes: an empty one where it only wants a sign. */
  async take(): Promise<readonly Notification[]> {
    if (this.#waiting.isEmpty && !this.#wantsSign) return [];
    const channel = (this.#channel ??= await this.#options.channelOf());
    this.#wantsSign = false;
    const words: SessionWord[] = [];
    for (let word = this.#waiting.shift(); word !== undefined; word = this.#waiting.shift()) words.push(word);
    return encodeWords(words).map((told) => {
      this.#number += 1;
      return { channel, payload: `${this.#options.by} ${this.#number} ${told}` };
    });
  }

  #hear(word: SessionWord): void {
    if (word.type !== 'progress') this.#isSpeaking = word.type === 'said';
    this.#waiting.add(word);
    this.#options.onWord();
  }
}
