/** A runner whose work does exactly what the test says, when it says it. */
import type {
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskStart,
} from '../../src/actors/task/task-runner.ts';
import type { BackgroundTaskKind } from '../../src/machines/task/task-request.ts';
import type {
  BackgroundTaskInput,
  BackgroundTaskResult,
  BackgroundTaskRunnerEvent,
} from '../../src/machines/task/task-state.ts';

/** An event without the id, which the work adds. */
type Said = BackgroundTaskRunnerEvent extends infer Event
  ? Event extends { taskId: string }
    ? Omit<Event, 'taskId'>
    : never
  : never;

export class ManualWork {
  readonly start: BackgroundTaskStart;
  readonly inputs: BackgroundTaskInput[] = [];
  readonly cancelReasons: (string | undefined)[] = [];
  /** Set before a cancel: what it answers. Default: it is gone at once. */
  onCancel: () => Promise<void> | void = () => undefined;
  resolve!: (result: Partial<BackgroundTaskResult>) => void;
  reject!: (error: unknown) => void;
  readonly result: Promise<BackgroundTaskResult>;

  constructor(start: BackgroundTaskStart) {
    this.start = start;
    this.result = new Promise((resolve, reject) => {
      this.resolve = (result) => resolve({ taskId: start.taskId, output: '', ...result });
      this.reject = reject;
    });
  }

  get isCancelled(): boolean {
    return this.cancelReasons.length > 0;
  }

  say(event: Said): void {
    this.start.emit({ ...event, taskId: this.start.taskId });
  }
}

export interface ManualRunner<Kind extends BackgroundTaskKind> extends BackgroundTaskRunner {
  readonly kind: Kind;
  readonly works: ManualWork[];
  /** The work of a task that has been started. */
  of(taskId: string): ManualWork;
}

export function createManualRunner<Kind extends BackgroundTaskKind>(
  kind: Kind,
  handle: Partial<BackgroundTaskHandle> = {},
): ManualRunner<Kind> {
  const works: ManualWork[] = [];
  return {
    kind,
    works,
    of(taskId) {
      const work = works.find((candidate) => candidate.start.taskId === taskId);
      if (work === undefined) throw new Error(`task ${taskId} was not started`);
      return work;
    },
    start(start) {
      const work = new ManualWork(start);
      works.push(work);
      return {
        taskId: start.taskId,
        result: work.result,
        cancel: (reason) => {
          work.cancelReasons.push(reason);
          return work.onCancel();
        },
        send: (input) => {
          work.inputs.push(input);
        },
        ...handle,
      };
    },
  };
}

/** Lets everything that is ready run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
