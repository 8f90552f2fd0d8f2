/**
 * What models say while they say it, and how far calls have come: the words of the wakes of this process, and those of
 * other processes in sessions that are followed here. Nothing of it is stored. The words of a step are kept while it
 * goes on, for those who join in the middle of it, and afterwards only while the session is followed.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { ToolProgress } from '../turn/tool.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import type { OnWord, WordLink } from './word-channel.ts';

/** More than is shown, so that a secret that is torn where it begins is not. */
const MAX_CHARACTERS = 32_000;
const MAX_PARTS = 20;
const MAX_CALLS = 20;
const MAX_MESSAGE_CHARACTERS = 2_000;

/** As it came: not bounded for readers, and without those secrets only that its own wake knows. */
export interface LiveSpeech {
  readonly parts: readonly LivePart[];
  /** What came before them is not kept. */
  readonly isTorn: boolean;
  /** The log tells it once it is longer than this. Absent: more of it comes. */
  readonly loggedAfter?: number | undefined;
  /** How far calls have come. */
  readonly calls: readonly LiveCall[];
}

export interface LivePart {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

interface LiveCall {
  readonly callId: string;
  readonly name: string;
  readonly progress: ToolProgress;
}

interface Spoken {
  /** Whether it was said here. */
  isOurs: boolean;
  parts: LivePart[];
  isTorn: boolean;
  loggedAfter: number | undefined;
  readonly calls: Map<string, LiveCall>;
  /** As it was asked for last. Absent: it has changed since. */
  told?: LiveSpeech | undefined;
}

/** What is said in sessions, for those who show it. */
export interface SpokenWords {
  /** The same object until something else is said. */
  of(sessionId: string): LiveSpeech | undefined;
  /** Calls `onWord` with each word that comes. @returns leaves; idempotent */
  follow(sessionId: string, onWord: OnWord): () => void;
}

/** Hears one model step. */
export interface LiveStep {
  hear(event: AgentRunEvent): void;
  /** No more comes, and what came of it is about to be stored. */
  end(): void;
}

interface Followed {
  readonly followers: Set<Follower>;
  /** Those of `everywhere`. */
  elsewhere: number;
  leave?: (() => void) | undefined;
}

interface Follower {
  readonly onWord: OnWord;
  readonly of: 'here' | 'everywhere';
}

export class LiveWords implements SpokenWords {
  /** Those in the middle of a step, and those that are followed. */
  readonly #sessions = new Map<string, Spoken>();
  readonly #followed = new Map<string, Followed>();
  readonly #link: Pick<WordLink, 'follow'> | undefined;

  /** @param link to other processes. Absent: there are none */
  constructor(link?: Pick<WordLink, 'follow'>) {
    this.#link = link;
  }

  /** @param head number of the newest event that the wake knows */
  step(sessionId: string, head: () => number): LiveStep {
    this.#sessions.get(sessionId)?.calls.clear();
    const end = (): void => {
      if (this.#isOpen(sessionId)) this.#hear(sessionId, { type: 'logged', after: head() });
      if (!this.#followed.has(sessionId)) this.#sessions.delete(sessionId);
    };
    return {
      end,
      hear: ({ stream, data }) => {
        if (stream === 'assistant') {
          if (data.text !== '') this.#hear(sessionId, { type: 'said', kind: data.kind, text: data.text });
        }
        // What was said before a tool of the backend's own is logged with it.
        else if (stream === 'tool') end();
        // What an attempt said that failed counts for nothing.
        else if (stream === 'attempt' && this.#isOpen(sessionId)) this.#hear(sessionId, { type: 'taken_back' });
      },
    };
  }

  progress(sessionId: string, { callId, name }: Pick<LiveCall, 'callId' | 'name'>, progress: ToolProgress): void {
    if (!this.#followed.has(sessionId)) return;
    const message = progress.message === undefined ? undefined : beginningOf(progress.message, MAX_MESSAGE_CHARACTERS);
    this.#hear(sessionId, { type: 'progress', callId, name, progress: { ...progress, message } });
  }

  /**
   * The same object until something else is said: those who prepare it for viewers do so once for all of them. @param of
   * `here`: only what was said in this process
   */
  of(sessionId: string, of: Follower['of'] = 'everywhere'): LiveSpeech | undefined {
    const spoken = this.#sessions.get(sessionId);
    if (spoken === undefined || (of === 'here' && !spoken.isOurs)) return undefined;
    const { parts, isTorn, loggedAfter, calls } = spoken;
    return (spoken.told ??= { parts: [...parts], isTorn, loggedAfter, calls: [...calls.values()] });
  }

  /** Calls `onWord` with each word that comes. @returns leaves; idempotent */
  follow(sessionId: string, onWord: OnWord, of: Follower['of'] = 'everywhere'): () => void {
    const follower = { onWord, of };
    const followed = this.#followed.get(sessionId) ?? { followers: new Set(), elsewhere: 0 };
    this.#followed.set(sessionId, followed);
    followed.followers.add(follower);
    if (of === 'everywhere' && (followed.elsewhere += 1) === 1)
      followed.leave = this.#link?.follow(sessionId, (word) => this.#hear(sessionId, word, { isOurs: false }));
    return () => {
      if (!followed.followers.delete(follower)) return;
      if (of === 'everywhere' && (followed.elsewhere -= 1) === 0) followed.leave?.();
      if (followed.followers.size === 0) this.#followed.delete(sessionId);
      if (followed.elsewhere === 0) this.#forget(sessionId);
    };
  }

  /** No one here follows it any more. What is said here goes on being kept as long as its step goes on. */
  #forget(sessionId: string): void {
    const spoken = this.#sessions.get(sessionId);
    if (spoken?.isOurs === true && this.#isOpen(sessionId)) spoken.calls.clear();
    else this.#sessions.delete(sessionId);
  }

  #isOpen(sessionId: string): boolean {
    const spoken = this.#sessions.get(sessionId);
    return spoken !== undefined && spoken.loggedAfter === undefined && spoken.parts.length > 0;
  }

  #hear(sessionId: string, word: SessionWord, { isOurs } = { isOurs: true }): void {
    const spoken = this.#spoken(sessionId);
    spoken.isOurs = isOurs;
    spoken.told = undefined;
    take(spoken, word);
    for (const { onWord, of } of this.#followed.get(sessionId)?.followers ?? [])
      if (isOurs || of === 'everywhere') onWord(word);
  }

  #spoken(sessionId: string): Spoken {
    const spoken = this.#sessions.get(sessionId) ?? {
      isOurs: true,
      parts: [],
      isTorn: false,
      loggedAfter: undefined,
      calls: new Map<string, LiveCall>(),
    };
    this.#sessions.set(sessionId, spoken);
    return spoken;
  }
}

function take(spoken: Spoken, word: SessionWord): void {
  switch (word.type) {
    case 'said':
      if (spoken.loggedAfter !== undefined) begin(spoken);
      say(spoken.parts, word);
      bound(spoken);
      return;
    case 'taken_back':
      return begin(spoken);
    case 'lost':
      begin(spoken);
      spoken.isTorn = true;
      return;
    case 'logged':
      spoken.loggedAfter = word.after;
      return;
    case 'progress': {
      const { callId, name, progress } = word;
      spoken.calls.delete(callId);
      spoken.calls.set(callId, { callId, name, progress });
      for (const oldest of spoken.calls.keys()) if (spoken.calls.size > MAX_CALLS) spoken.calls.delete(oldest);
    }
  }
}

function begin(spoken: Spoken): void {
  spoken.parts = [];
  spoken.isTorn = false;
  spoken.loggedAfter = undefined;
}

function say(parts: LivePart[], { kind, text }: LivePart): void {
  const last = parts.at(-1);
  if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + text };
  else parts.push({ kind, text });
}

/** What it drops is the oldest. Cut seldom: each cut copies. */
function bound(spoken: Spoken): void {
  const { parts } = spoken;
  while (parts.length > MAX_PARTS) {
    parts.shift();
    spoken.isTorn = true;
  }
  let spare = parts.reduce((sum, { text }) => sum + text.length, 0) - 2 * MAX_CHARACTERS;
  if (spare <= 0) return;
  spare += MAX_CHARACTERS;
  spoken.isTorn = true;
  while (spare > 0) {
    const [first] = parts;
    if (first === undefined) return;
    if (first.text.length <= spare) parts.shift();
    else parts[0] = { ...first, text: first.text.slice(spare) };
    spare -= first.text.length;
  }
}
