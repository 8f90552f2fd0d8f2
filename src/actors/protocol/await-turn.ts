/**
 * Waits for a turn of a session: until it has ended, or asks for what its person does not answer, or the time is over.
 */
import type { Turn, TurnRef } from '../../machines/protocol/turn.ts';
import type { AskedRequest } from '../session/asked-requests.ts';
import type { Sessions } from '../session/sessions.ts';
import { followTurn, readTurn } from './turn-watch.ts';
import type { TurnNews } from './turn-watch.ts';

export interface AwaitTurnOptions {
  /** Aborting it ends the waiting, and nothing else. */
  readonly signal: AbortSignal;
  /**
   * Asks a person; resolves with whether there is an answer. `signal` is aborted when it was answered elsewhere.
   * Absent: no person can be asked here.
   */
  readonly ask?: ((asked: AskedRequest, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Hears each event. */
  readonly onNews?: ((news: TurnNews) => void) | undefined;
}

export interface AwaitedTurn {
  readonly turn: Turn;
  readonly asked: readonly AskedRequest[];
}

/** @throws RuntimeError SESSION_NOT_FOUND, TURN_NOT_FOUND, and what `ask` throws */
export async function awaitTurn(sessions: Sessions, ref: TurnRef, options: AwaitTurnOptions): Promise<AwaitedTurn> {
  const { signal, ask, onNews } = options;
  const stop = new AbortController();
  const dialogs = new Dialogs(ask, () => stop.abort());
  try {
    for await (const news of followTurn(sessions, ref, { signal: AbortSignal.any([signal, stop.signal]) })) {
      onNews?.(news);
      if (!dialogs.show(news.asked)) break;
    }
  } finally {
    dialogs.close();
  }
  dialogs.throwFailure();
  return readTurn(sessions, ref);
}

/** The dialogs that are open, one for each request. */
class Dialogs {
  readonly #ask: AwaitTurnOptions['ask'];
  readonly #giveUp: () => void;
  readonly #open = new Map<string, AbortController>();
  #failure: { readonly error: unknown } | undefined;

  /** @param giveUp called when a dialog was closed without an answer, or has failed */
  constructor(ask: AwaitTurnOptions['ask'], giveUp: () => void) {
    this.#ask = ask;
    this.#giveUp = giveUp;
  }

  /** @returns false where something is asked and no person can be asked here */
  show(asked: readonly AskedRequest[]): boolean {
    for (const [requestId, dialog] of this.#open)
      if (!asked.some((request) => request.requestId === requestId)) dialog.abort();
    if (this.#ask === undefined) return asked.length === 0;
    for (const request of asked) if (!this.#open.has(request.requestId)) void this.#show(request, this.#ask);
    return true;
  }

  close(): void {
    for (const dialog of this.#open.values()) dialog.abort();
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #show(request: AskedRequest, ask: NonNullable<AwaitTurnOptions['ask']>): Promise<void> {
    const dialog = new AbortController();
    this.#open.set(request.requestId, dialog);
    try {
      if (!(await ask(request, dialog.signal))) this.#giveUp();
    } catch (error) {
      // One that was closed since the answer came from elsewhere has not failed.
      if (dialog.signal.aborted) return;
      this.#failure ??= { error };
      this.#giveUp();
    }
  }
}
