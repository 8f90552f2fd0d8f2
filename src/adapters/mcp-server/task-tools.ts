/** What the tools about background tasks do: those of the process that serves them. */
import type { ProtocolRuntime } from '../../actors/protocol/protocol-runtime.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { BackgroundTaskState } from '../../machines/task/task-state.ts';
import type { ToolInput } from './tool-definitions.ts';
import type { Structured } from './turn-result.ts';

export class TaskTools {
  readonly #tasks: ProtocolRuntime['tasks'];
  readonly #cwd: string;

  constructor({ tasks }: Pick<ProtocolRuntime, 'tasks'>, { cwd }: { readonly cwd: string }) {
    this.#tasks = tasks;
    this.#cwd = cwd;
  }

  list(): Structured {
    return { tasks: this.#tasks.list({ kind: 'process' }).map(taskRecord) };
  }

  async start({
    command,
    cwd = this.#cwd,
    label = command,
    timeoutSeconds,
  }: ToolInput<'task_start'>): Promise<Structured> {
    const { id } = await this.#tasks.spawn({
      kind: 'process',
      label: beginningOf(label, MAX_LABEL_CHARACTERS),
      command,
      cwd,
      ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 }),
    });
    return taskRecord(this.#found(id));
  }

  async read({ task, from, waitSeconds }: ToolInput<'task_read'>, signal: AbortSignal): Promise<Structured> {
    this.#found(task);
    if (waitSeconds > 0) await this.#ended(task, AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1_000)]));
    const { lines, nextCursor } = await this.#tasks.readLog(task, { offset: from });
    return { ...taskRecord(this.#found(task)), lines, next: nextCursor?.offset ?? from + lines.length };
  }

  async stop({ task, reason }: ToolInput<'task_stop'>): Promise<Structured> {
    this.#found(task);
    await this.#tasks.cancel(task, reason ?? 'stopped by a client of MCP');
    return taskRecord(this.#found(task));
  }

  #ended(task: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      const settled = (): void => resolve();
      this.#tasks.wait(task).then(settled, settled);
    });
  }

  /** @throws RuntimeError MCP_TASK_NOT_FOUND */
  #found(id: string): BackgroundTaskState {
    const state = this.#tasks.get(id);
    if (state !== undefined) return state;
    throw new RuntimeError('MCP_TASK_NOT_FOUND', `there is no task ${JSON.stringify(id)}`, {
      category: 'not_found',
      hint: 'tasks_list shows those of this server.',
    });
  }
}

const MAX_LABEL_CHARACTERS = 200;

function taskRecord({
  id,
  label,
  status,
  cwd,
  startedAt,
  completedAt,
  result,
  error,
}: BackgroundTaskState): Structured {
  const exitCode = result?.exitCode;
  return {
    task: id,
    label,
    status,
    cwd,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(completedAt === undefined ? {} : { completedAt }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(error === undefined ? {} : { error: error.message }),
  };
}
