/**
 * Follow-ups on their way to a worker: they wait until it has its job, and count as sent when it says that they are
 * stored.
 */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { hasCode } from '../system/error-codes.ts';
import type { TalkingWorker } from './talking-worker.ts';
import { notRunning } from './worker-failures.ts';

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class FollowUps {
  readonly #jobId: string;
  readonly #worker: TalkingWorker;
  readonly #unconfirmed = new Map<string, Waiting>();
  readonly #begun: Promise<void>;
  #begin: () => void = () => undefined;
  #isOver = false;
  #sent = 0;

  constructor({ jobId, worker }: { readonly jobId: string; readonly worker: TalkingWorker }) {
    this.#jobId = jobId;
    this.#worker = worker;
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  /** The worker has its job. */
  begin(): void {
    this.#begin();
  }

  /**
   * Resolves when it is stored, as far as the worker tells. @throws BackgroundTaskError SUBAGENT_NOT_RUNNING when the
   * job has ended before
   */
  async send(prompt: string): Promise<void> {
    await this.#begun;
    if (this.#isOver) throw notRunning(this.#jobId);
    this.#sent += 1;
    const id = `send-${this.#sent}`;
    const confirmed = this.#worker.confirms ? this.#confirmation(id) : undefined;
    try {
      await this.#worker.send({ type: 'send', prompt, id });
    } catch (error) {
      this.#unconfirmed.delete(id);
      throw this.#worker.process.isConnected && !isBroken(error)
        ? BackgroundTaskError.from(error, 'process')
        : notRunning(this.#jobId);
    }
    await confirmed;
  }

  /** The worker has told what became of one. */
  confirmed(id: string, error: string | undefined): void {
    const waiting = this.#unconfirmed.get(id);
    this.#unconfirmed.delete(id);
    if (error === undefined) waiting?.resolve();
    else
      waiting?.reject(
        new BackgroundTaskError('runner', `the follow-up was not taken: ${error}`, {
          code: 'SUBAGENT_FOLLOW_UP_REFUSED',
        }),
      );
  }

  /** The worker will tell no more. */
  end(): void {
    this.#isOver = true;
    this.#begin();
    for (const { reject } of this.#unconfirmed.values()) reject(notRunning(this.#jobId));
    this.#unconfirmed.clear();
  }

  #confirmation(id: string): Promise<void> {
    const confirmation = new Promise<void>((resolve, reject) => {
      this.#unconfirmed.set(id, { resolve, reject });
    });
    // Its failure is told by `send`, also when that has failed before.
    confirmation.catch(() => undefined);
    return confirmation;
  }
}

/** The other end is gone, and this one has yet to hear of it. */
function isBroken(error: unknown): boolean {
  return hasCode(error, 'EPIPE', 'ECONNRESET', 'ERR_IPC_CHANNEL_CLOSED');
}
