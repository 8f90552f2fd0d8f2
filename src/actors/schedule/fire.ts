/** One fire of a schedule: the child task of one slot, from the request for it to its end. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskRequestInput } from '../../machines/task/task-request.ts';
import type { ChildTasks } from '../task/task-runner.ts';

export class Fire {
  readonly slot: string;
  readonly #children: ChildTasks;
  #childTaskId: string | undefined = undefined;
  /** Settles with the child's id, or rejects with the reason why there is none. */
  readonly started: Promise<string>;
  /** Resolves when nothing of the fire runs, however it ended. */
  readonly ended: Promise<void>;
  #cancelling: Promise<void> | undefined = undefined;

  /** Asks for the child before it returns. */
  constructor(slot: string, children: ChildTasks, request: BackgroundTaskRequestInput) {
    this.slot = slot;
    this.#children = children;
    this.started = this.#spawn(request);
    this.ended = this.started.then((childTaskId) => children.wait(childTaskId)).then(nothing, nothing);
  }

  get childTaskId(): string | undefined {
    return this.#childTaskId;
  }

  /**
   * Cancels the child, as soon as there is one. The first reason counts. @throws what the child could not be cancelled
   * for
   */
  cancel(reason: string): Promise<void> {
    this.#cancelling ??= this.started.then((childTaskId) => this.#children.cancel(childTaskId, reason), nothing);
    return this.#cancelling;
  }

  async #spawn(request: BackgroundTaskRequestInput): Promise<string> {
    try {
      const { id } = await this.#children.spawn(request);
      this.#childTaskId = id;
      return id;
    } catch (thrown) {
      throw BackgroundTaskError.from(thrown, 'runner');
    }
  }
}

const nothing = (): void => undefined;
