/**
 * Tells the parent what happens in the job. Text comes in many small pieces: those of one turn of the event loop go
 * together.
 */
import type { BackgroundTaskRunnerEvent } from '../../machines/task/task-state.ts';
import { excessOf, noteOf } from '../../machines/subagent/worker-bounds.ts';
import type { SubagentWorkerChildMessage } from '../../machines/subagent/worker-protocol.ts';

/** Of one message: far below what would have to go by file, whatever the characters. */
const MAX_DELTA_CHARACTERS = 8_192;

export interface WorkerRelayOptions {
  readonly tell: (message: SubagentWorkerChildMessage) => Promise<void>;
  /** Denies a request that cannot be told. */
  readonly refuse: (requestId: string, why: string) => void;
}

export class WorkerRelay {
  readonly #tell: WorkerRelayOptions['tell'];
  readonly #refuse: WorkerRelayOptions['refuse'];
  #text: string[] = [];
  #isFlushing = false;

  constructor({ tell, refuse }: WorkerRelayOptions) {
    this.#tell = tell;
    this.#refuse = refuse;
  }

  readonly emit = (event: BackgroundTaskRunnerEvent): void => {
    if (event.type === 'background_task_text_delta') {
      this.#say(event.delta);
      return;
    }
    if (event.type === 'background_task_permission_request' && this.#isRefused(event)) return;
    const message = messageFor(event);
    if (message === undefined) return;
    // What was said before comes before.
    this.flush();
    void this.#tell(message);
  };

  /** Sends the text that waits. */
  flush(): void {
    const text = this.#text.join('');
    this.#text = [];
    for (let from = 0; from < text.length;) {
      const to = wholeCharacters(text, from + MAX_DELTA_CHARACTERS);
      void this.#tell({ type: 'text_delta', delta: text.slice(from, to) });
      from = to;
    }
  }

  #isRefused({
    requestId,
    toolArgs,
  }: Extract<BackgroundTaskRunnerEvent, { type: 'background_task_permission_request' }>): boolean {
    const excess = excessOf(toolArgs);
    if (excess !== undefined) this.#refuse(requestId, `${excess}, received more`);
    return excess !== undefined;
  }

  #say(delta: string): void {
    this.#text.push(delta);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.flush();
    });
  }
}

/** `end`, or one less where that would go through a surrogate pair. */
function wholeCharacters(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

/** Undefined for what only schedules say. */
function messageFor(
  event: Exclude<BackgroundTaskRunnerEvent, { type: 'background_task_text_delta' }>,
): SubagentWorkerChildMessage | undefined {
  switch (event.type) {
    case 'background_task_tool_start': {
      const { toolName, firstArg, toolTimeoutMs } = event;
      return {
        type: 'tool_start',
        toolName,
        ...(firstArg === undefined ? {} : { firstArg: noteOf(firstArg) }),
        ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
      };
    }
    case 'background_task_tool_end': {
      const { toolName, success, error } = event;
      return { type: 'tool_end', toolName, success, ...(error === undefined ? {} : { error: noteOf(error) }) };
    }
    case 'background_task_permission_request': {
      const { requestId, toolName, toolArgs } = event;
      return { type: 'permission_request', requestId, toolName, toolArgs };
    }
    case 'background_task_permission_resolved':
      return { type: 'permission_resolved', requestId: event.requestId };
    case 'background_task_activity':
      return { type: 'activity' };
    case 'background_task_progress': {
      const { currentAction } = event.progress;
      return currentAction === undefined ? undefined : { type: 'progress', currentAction: noteOf(currentAction) };
    }
    case 'background_task_sleeping':
    case 'background_task_waking':
      return undefined;
  }
}
