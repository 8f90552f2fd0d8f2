/** What happened to a schedule, as lines of its task's log. */
import { LogRing } from '../../machines/task/log-ring.ts';
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from '../../machines/task/task-state.ts';

/** A schedule speaks for itself: it has no output of its own, its fires have theirs. */
const SOURCE = 'system';

export class ScheduleLog {
  readonly #taskId: string;
  readonly #ring: LogRing;

  /** @param limitBytes memory for the newest lines; older ones go */
  constructor(taskId: string, limitBytes: number) {
    this.#taskId = taskId;
    this.#ring = new LogRing({ limitBytes });
  }

  write(text: string): void {
    this.#ring.appendText(SOURCE, text);
  }

  page(cursor?: BackgroundTaskLogCursor): BackgroundTaskLogPage {
    return this.#ring.page(this.#taskId, cursor);
  }
}
