/** Hands the output of process tasks, as it comes, to the listeners of one of them. */

export interface TaskOutputChunk {
  readonly taskId: string;
  readonly source: 'stdout' | 'stderr';
  /** Raw bytes, valid during the call. */
  readonly chunk: Uint8Array;
}

export type TaskOutputListener = (chunk: Uint8Array, source: TaskOutputChunk['source']) => void;

/** One for each task manager, whose ids it goes by: its process runner tells it (`onOutput: feed.take`). */
export class TaskOutputFeed {
  readonly #listeners = new Map<string, TaskOutputListener>();

  readonly take = ({ taskId, source, chunk }: TaskOutputChunk): void => {
    this.#listeners.get(taskId)?.(chunk, source);
  };

  /** Output from now on. A task has one listener. Returns the function that ends it. */
  listen(taskId: string, listener: TaskOutputListener): () => void {
    this.#listeners.set(taskId, listener);
    return () => {
      if (this.#listeners.get(taskId) === listener) this.#listeners.delete(taskId);
    };
  }
}
