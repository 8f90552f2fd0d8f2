/** The permission requests of one job that wait for an answer: each is answered once. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskRunnerEvent } from '../../machines/task/task-state.ts';

/** Requests of one job that may be open. Each is held until it is answered. */
export const MAX_OPEN_PERMISSIONS = 256;

export class OpenPermissions {
  readonly #open = new Map<string, 'open' | 'answering'>();

  /**
   * What the work says of its requests. @returns false for a request beyond what may be open: no person is to be asked
   */
  hear(event: BackgroundTaskRunnerEvent): boolean {
    if (event.type === 'background_task_permission_resolved') this.#open.delete(event.requestId);
    if (event.type !== 'background_task_permission_request') return true;
    if (this.#open.size >= MAX_OPEN_PERMISSIONS && !this.#open.has(event.requestId)) return false;
    this.#open.set(event.requestId, 'open');
    return true;
  }

  /** The ids of those that wait. */
  asked(): readonly string[] {
    return [...this.#open.keys()];
  }

  /**
   * An answer that does not arrive has not been given. @throws BackgroundTaskError `validation` for a request that is
   * not open
   */
  async answer(jobId: string, requestId: string, give: () => Promise<void>): Promise<void> {
    if (this.#open.get(requestId) !== 'open') {
      throw new BackgroundTaskError('validation', `job ${jobId} has no open permission request "${requestId}"`, {
        code: 'TASK_PERMISSION_STALE',
        hint: 'It was answered already, or the job went on without it.',
      });
    }
    this.#open.set(requestId, 'answering');
    try {
      await give();
    } catch (error) {
      if (this.#open.has(requestId)) this.#open.set(requestId, 'open');
      throw error;
    }
    this.#open.delete(requestId);
  }
}
