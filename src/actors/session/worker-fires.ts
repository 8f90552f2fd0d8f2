/**
 * What the schedules of a worker have started. When the worker is asked to end, its schedules are released at once, so
 * that nothing new fires, and the commands that run may go on to their end, up to a limit.
 */
import type { BackgroundTaskResult } from '../../machines/task/task-state.ts';
import type { Clock } from '../clock/clock.ts';
import type { ChildTasks } from '../task/task-runner.ts';

/** With this reason a schedule that is stopped does not take its command with it. */
export const WORKER_ENDS = 'the worker is ending, and its commands may end first';

interface Going {
  readonly fires: ChildTasks;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

export class WorkerFires {
  /** By the id of the task. */
  readonly #going = new Map<string, Going>();
  readonly #waiting = new Map<string, (result: BackgroundTaskResult) => void>();

  /** How many of them go on. */
  get size(): number {
    return this.#going.size;
  }

  /** The fires of one schedule, for the schedule to use. */
  follow(fires: ChildTasks): ChildTasks {
    return {
      spawn: (request) => fires.spawn(request),
      wait: (taskId) => this.#wait(fires, taskId),
      cancel: (taskId, reason) => (reason === WORKER_ENDS ? this.#release(taskId) : fires.cancel(taskId, reason)),
      close: (taskId) => fires.close(taskId),
    };
  }

  /** Resolves when none goes on. Those that do after `limitMs` are cancelled. */
  async drain(clock: Clock, limitMs: number): Promise<void> {
    if (this.size === 0) return;
    const timer = clock.setTimeout(
      () => this.#cancel(`the worker ended, and the command did not within ${limitMs} ms`),
      limitMs,
    );
    await this.#allEnded();
    clock.clearTimeout(timer);
  }

  /** Cancels those that go on, and resolves when they have ended. */
  async end(reason: string): Promise<void> {
    this.#cancel(reason);
    await this.#allEnded();
  }

  #cancel(reason: string): void {
    // What cannot be cancelled shows in its task.
    for (const [taskId, { fires }] of this.#going) fires.cancel(taskId, reason).catch(() => undefined);
  }

  async #allEnded(): Promise<void> {
    while (this.#going.size > 0) await Promise.all([...this.#going.values()].map(({ ended }) => ended));
  }

  #wait(fires: ChildTasks, taskId: string): Promise<BackgroundTaskResult> {
    const result = fires.wait(taskId);
    const forget = (): void => {
      this.#going.delete(taskId);
      this.#waiting.delete(taskId);
    };
    this.#going.set(taskId, { fires, ended: result.then(forget, forget) });
    return new Promise((resolve, reject) => {
      this.#waiting.set(taskId, resolve);
      result.then(resolve, reject);
    });
  }

  /** For its schedule it is over; what becomes of it is recorded all the same. */
  async #release(taskId: string): Promise<void> {
    this.#waiting.get(taskId)?.({ taskId, output: '' });
  }
}
