/**
 * What models say while they say it, and how far calls have come, of the wakes of this process: for inspectors. Nothing
 * of it is recorded, and nothing is kept while none listens.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { ToolProgress } from '../turn/tool.ts';
import type { RuntimeInspection } from './runtime-inspection.ts';

/** More than is shown, so that a secret that is torn where it begins is not. */
const MAX_CHARACTERS = 32_000;
const MAX_PARTS = 20;
const MAX_CALLS = 20;
const MAX_MESSAGE_CHARACTERS = 2_000;
/** Of sessions whose step is over. */
const MAX_KEPT = 256;

type Live = NonNullable<RuntimeInspection['live']>;
export type LiveSpeech = NonNullable<ReturnType<Live['of']>>;
export type LivePart = LiveSpeech['parts'][number];
type LiveCall = LiveSpeech['calls'][number];

interface Session {
  parts: LivePart[];
  isTorn: boolean;
  loggedAfter: number | undefined;
  readonly calls: Map<string, LiveCall>;
  /** As it was asked for last. Absent: it has changed since. */
  told?: LiveSpeech | undefined;
}

/** Hears one model step. */
export interface LiveStep {
  hear(event: AgentRunEvent): void;
  /** No more comes, and what came of it is about to be stored. */
  end(): void;
}

export class LiveWords implements Live {
  /** The one that was heard of last is the last. */
  readonly #sessions = new Map<string, Session>();
  readonly #listeners = new Map<string, Set<() => void>>();
  #attached = 0;

  /** From the next model step on, what is said is kept. @returns leaves; idempotent */
  attach(): () => void {
    this.#attached += 1;
    let leave = (): void => {
      this.#attached -= 1;
      if (this.#attached === 0) this.#sessions.clear();
      leave = () => undefined;
    };
    return () => leave();
  }

  /** @param head number of the newest event that the wake knows @returns undefined where no inspector is attached */
  step(sessionId: string, head: () => number): LiveStep | undefined {
    if (this.#attached === 0) return undefined;
    const end = (): void => {
      const session = this.#sessions.get(sessionId);
      if (session === undefined || session.parts.length === 0) return;
      session.loggedAfter ??= head();
      this.#tell(sessionId);
    };
    return {
      end,
      hear: (event) => {
        if (event.stream === 'assistant') this.#say(sessionId, event.data);
        // What was said before a tool of the backend's own is logged with it.
        else if (event.stream === 'tool') end();
        // What an attempt said that failed counts for nothing.
        else if (event.stream === 'attempt') this.#forgetWords(sessionId);
      },
    };
  }

  progress(sessionId: string, { callId, name }: Pick<LiveCall, 'callId' | 'name'>, progress: ToolProgress): void {
    if (this.#attached === 0) return;
    const { calls } = this.#session(sessionId);
    const message = progress.message === undefined ? undefined : beginningOf(progress.message, MAX_MESSAGE_CHARACTERS);
    calls.delete(callId);
    calls.set(callId, { callId, name, progress: { ...progress, message } });
    dropOldest(calls, MAX_CALLS);
    this.#tell(sessionId);
  }

  /** The same object until something else is said: those who prepare it for viewers do so once for all of them. */
  of(sessionId: string): LiveSpeech | undefined {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return undefined;
    const { parts, isTorn, loggedAfter, calls } = session;
    return (session.told ??= { parts: [...parts], isTorn, loggedAfter, calls: [...calls.values()] });
  }

  /** Calls the listener at each piece. @returns leaves; idempotent */
  follow(sessionId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners);
    const own = (): void => listener();
    listeners.add(own);
    return () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(sessionId) === listeners) this.#listeners.delete(sessionId);
    };
  }

  #say(sessionId: string, { kind, text }: LivePart): void {
    if (this.#attached === 0 || text === '') return;
    const session = this.#session(sessionId);
    if (session.loggedAfter !== undefined) this.#forgetWords(sessionId);
    const last = session.parts.at(-1);
    if (last?.kind === kind) session.parts[session.parts.length - 1] = { kind, text: last.text + text };
    else session.parts.push({ kind, text });
    bound(session);
    this.#tell(sessionId);
  }

  #forgetWords(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.parts.length === 0) return;
    session.parts = [];
    session.isTorn = false;
    session.loggedAfter = undefined;
    this.#tell(sessionId);
  }

  #session(sessionId: string): Session {
    const session = this.#sessions.get(sessionId) ?? {
      parts: [],
      isTorn: false,
      loggedAfter: undefined,
      calls: new Map<string, LiveCall>(),
    };
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    dropOldest(this.#sessions, MAX_KEPT);
    return session;
  }

  #tell(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.told = undefined;
    for (const listener of this.#listeners.get(sessionId) ?? []) listener();
  }
}

/** What it drops is the oldest. Cut seldom: each cut copies. */
function bound(session: Session): void {
  const { parts } = session;
  while (parts.length > MAX_PARTS) {
    parts.shift();
    session.isTorn = true;
  }
  let spare = parts.reduce((sum, { text }) => sum + text.length, 0) - 2 * MAX_CHARACTERS;
  if (spare <= 0) return;
  spare += MAX_CHARACTERS;
  session.isTorn = true;
  while (spare > 0) {
    const [first] = parts;
    if (first === undefined) return;
    if (first.text.length <= spare) parts.shift();
    else parts[0] = { ...first, text: first.text.slice(spare) };
    spare -= first.text.length;
  }
}

function dropOldest(kept: Map<string, unknown>, most: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(oldest);
  }
}
