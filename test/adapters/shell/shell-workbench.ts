/** A shell runner with everything real around it, in a folder of its own, for one test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { BackgroundTaskHandle } from '../../../src/actors/task/task-runner.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import type { ManagedShellProcessRunnerOptions } from '../../../src/adapters/shell/shell-runner.ts';
import { backgroundTaskRequest } from '../../../src/machines/task/task-request.ts';
import type { BackgroundTaskRequestInput, ProcessTaskRequest } from '../../../src/machines/task/task-request.ts';
import type {
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
} from '../../../src/machines/task/task-state.ts';

export type ProcessRequestInput = Omit<
  Extract<BackgroundTaskRequestInput, { kind: 'process' }>,
  'kind' | 'label' | 'command' | 'cwd'
> & { readonly cwd?: string };

/** A handle whose optional abilities the shell runner always has. */
export interface ShellHandle extends BackgroundTaskHandle {
  readonly pid: number;
  cancel(reason?: string): Promise<void>;
  send(input: BackgroundTaskInput): Promise<void>;
  readLog(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage>;
}

export interface ShellWorkbench extends AsyncDisposable {
  readonly folder: string;
  readonly logs: string;
  readonly records: string;
  start(command: string, request?: ProcessRequestInput & { readonly taskId?: string }): Promise<ShellHandle>;
}

export interface ShellWorkbenchOptions extends Partial<ManagedShellProcessRunnerOptions> {
  readonly clock?: Clock;
  /** Whether tasks log to files in the workbench's own folder. */
  readonly logsToDisk?: boolean;
}

export async function openShellWorkbench({
  logsToDisk = false,
  ...options
}: ShellWorkbenchOptions = {}): Promise<ShellWorkbench> {
  const folder = await mkdtemp(join(tmpdir(), 'shell-'));
  const records = join(folder, 'processes');
  const logs = join(folder, 'logs');
  const clock = options.clock ?? createSystemClock();
  const runner = createManagedShellProcessRunner({
    processTree: createProcessTree({ clock, directory: records }),
    ...(logsToDisk ? { logDirectory: logs } : {}),
    ...options,
    clock,
  });
  const handles: ShellHandle[] = [];
  let started = 0;
  return {
    folder,
    records,
    logs,
    async start(command, { taskId = `task_${(started += 1)}`, ...request } = {}) {
      const parsed = backgroundTaskRequest.parse({
        kind: 'process',
        label: 'a test',
        cwd: folder,
        ...request,
        command,
      });
      const handle = (await runner.start({
        taskId,
        request: parsed as ProcessTaskRequest,
        emit: () => undefined,
        signal: new AbortController().signal,
        children: { spawn: unused, wait: unused, cancel: unused, close: unused },
      })) as ShellHandle;
      handles.push(handle);
      return handle;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(handles.map((handle) => handle.cancel('the test is over')));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const unused = (): Promise<never> => Promise.reject(new Error('a process starts no tasks'));

/** All lines logged so far, page by page. */
export async function logOf(handle: ShellHandle): Promise<string[]> {
  const lines: string[] = [];
  for (let cursor: BackgroundTaskLogCursor | undefined = { offset: 0 }; cursor !== undefined;) {
    const page: BackgroundTaskLogPage = await handle.readLog(cursor);
    lines.push(...page.lines);
    cursor = page.nextCursor;
  }
  return lines;
}

/** Resolves when the task has logged `line`. */
export async function logged(handle: ShellHandle, line: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await logOf(handle)).includes(line)) {
    if (performance.now() > deadline)
      throw new Error(`never logged: ${line}\n${(await logOf(handle)).slice(-10).join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
