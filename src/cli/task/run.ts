/** `wakechart task run`: a command as a process task in the foreground. */
import { TextDecoder } from 'node:util';
import type { BackgroundTaskManager } from '../../actors/task/background-task-manager.ts';
import type { OnShellOutput } from '../../adapters/shell/shell-output.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { BackgroundTaskResult, BackgroundTaskState } from '../../machines/task/task-state.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { absolutePath, makeHome } from '../home.ts';
import { openInspection } from '../inspect/inspection.ts';
import type { InspectedSecrets } from '../inspect/opened-source.ts';
import { NO_SECRETS_KNOWN } from '../inspect/opened-source.ts';
import type { InspectionWords } from '../inspect/words.ts';
import { checkInspectionWords } from '../inspect/words.ts';
import { exitCodeOfSignal } from '../interruption.ts';
import { reconciledText } from '../open/reconciled-text.ts';
import { oneLine, shellQuoted } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import { openForeground } from './foreground-task.ts';
import { hasPipedInput, passInput } from './input.ts';

export interface TaskRunOptions {
  /** One word is a line for the shell; several are a program and its arguments. */
  readonly words: readonly string[];
  readonly timeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly cwd: string | undefined;
  readonly inspection: InspectionWords;
}

const LABEL_CHARACTERS = 80;

/** Exits as the command did. */
export async function runTask(context: CommandContext, options: TaskRunOptions): Promise<number> {
  const { home, out, err, json, interruption } = context;
  const command = commandOf(options);
  checkInspectionWords(options.inspection);
  await makeHome(home);
  const relay = json ? recordRelay(context) : rawRelay(context);
  const unbound = (): void => {
    out.unbound();
    err.unbound();
  };
  const { tasks, processTree, inspection, shutdown, kill } = openForeground({
    home,
    onOutput: relay.onOutput,
    onEnding: unbound,
    secrets: await secretsFor(context, options.inspection),
  });
  const release = interruption.guard(kill);
  try {
    for (const tree of await processTree.reconcile()) {
      const text = reconciledText(tree);
      if (text !== undefined) await err.line(`${err.styles.yellow('note:')} ${text}`);
    }
    const inspected = await openInspection(context, {
      words: options.inspection,
      inspected: { inspection },
      title: 'wakechart task run',
    });
    return await inspected.around(async () => {
      const task = await spawnTask(tasks, command, options);
      const ending = await runToEnd(context, tasks, task.id);
      relay.end();
      if (json) await out.record({ task: recordOf(tasks.get(task.id) ?? task) });
      if (ending.kind === 'failed') throw ending.error;
      return ending.kind === 'unread' ? EXIT_SUCCESS : exitCodeOf(ending.result);
    });
  } finally {
    await shutdown();
    release();
  }
}

/** What is shown or written down is without the secrets of the home. */
async function secretsFor(context: CommandContext, { inspect, record }: InspectionWords): Promise<InspectedSecrets> {
  if (inspect === undefined && record === undefined) return NO_SECRETS_KNOWN;
  // Loaded when it is asked for: it opens a whole runtime.
  return (await import('../inspect/home.ts')).secretsOfHome(context);
}

/** @throws a usage error for a command that is empty */
function commandOf({ words }: TaskRunOptions): string {
  const [line = ''] = words;
  const command = words.length === 1 ? line : shellQuoted(words);
  if (command.trim() === '')
    throw usageError(
      'expected a command after --, received an empty one',
      'For example: wakechart task run -- npm test',
    );
  return command;
}

function spawnTask(
  tasks: BackgroundTaskManager,
  command: string,
  { timeoutMs, idleTimeoutMs, cwd }: TaskRunOptions,
): Promise<BackgroundTaskState> {
  return tasks.spawn({
    kind: 'process',
    label: oneLine(command, LABEL_CHARACTERS),
    command,
    cwd: absolutePath(cwd ?? '.'),
    // The input of a background task stays open for what is sent to it; that of a foreground task is empty.
    mode: hasPipedInput() ? 'background' : 'foreground',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
  });
}

type Ending =
  | { readonly kind: 'ended'; readonly result: BackgroundTaskResult }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The reader of the output has seen enough of it. */
  | { readonly kind: 'unread' };

/** Waits for the task, hands it what is piped in, and stops it when that is called for. */
async function runToEnd(
  { out, interruption: { signal } }: CommandContext,
  tasks: BackgroundTaskManager,
  taskId: string,
): Promise<Ending> {
  const failures: unknown[] = [];
  const stop = (reason: string): void =>
    void tasks.cancel(taskId, reason).catch((error: unknown) => failures.push(error));
  const interrupt = (): void => stop(String(signal.reason));
  signal.addEventListener('abort', interrupt, { once: true });
  if (signal.aborted) interrupt();
  out.onClosed(() => stop('its output is not read any more'));
  let isOver = false;
  if (tasks.get(taskId)?.mode === 'background') {
    passInput(tasks, taskId, process.stdin).catch((error: unknown) => {
      // What breaks after the end is the input being closed.
      if (isOver) return;
      failures.push(error);
      stop('its input could not be read');
    });
  }
  try {
    return { kind: 'ended', result: await tasks.wait(taskId) };
  } catch (error) {
    return out.isClosed && failures.length === 0
      ? { kind: 'unread' }
      : { kind: 'failed', error: inOurWords(failures[0] ?? error) };
  } finally {
    isOver = true;
    signal.removeEventListener('abort', interrupt);
  }
}

/** What to do next, as one says it on a command line. */
const HINTS: Readonly<Record<string, string>> = {
  TASK_TIMED_OUT: 'Raise --timeout-ms, or split the work.',
  TASK_IDLE: 'Raise --idle-timeout-ms if the command may be silent for longer.',
  TASK_CWD_INVALID: 'Name a folder that exists with --cwd.',
};

function inOurWords(error: unknown): unknown {
  const hint = RuntimeError.is(error) ? HINTS[error.code] : undefined;
  if (!RuntimeError.is(error) || hint === undefined) return error;
  const { code, message, category, details } = error;
  return new RuntimeError(code, message, { category, details, hint, cause: error });
}

function exitCodeOf({ exitCode, signalCode }: BackgroundTaskResult): number {
  return exitCode ?? exitCodeOfSignal(signalCode ?? '');
}

/** What a program wants to know at the end; the output has gone by already. */
function recordOf({ id, status, startedAt, completedAt, result, error }: BackgroundTaskState): object {
  const { exitCode, signalCode } = result ?? {};
  return { id, status, exitCode, signalCode, startedAt, completedAt, error };
}

/** Carries a command's output to ours: as the bytes it wrote, or as records for programs. */
interface OutputRelay {
  readonly onOutput: OnShellOutput;
  /** Writes what was held back because it might have been half a character. */
  end(): void;
}

function rawRelay({ out, err }: Pick<CommandContext, 'out' | 'err'>): OutputRelay {
  return {
    onOutput: ({ source, chunk }) => (source === 'stdout' ? out : err).push(chunk),
    end: () => undefined,
  };
}

/** `{"stream":"stdout","text":"…"}` for each piece. */
function recordRelay({ out }: Pick<CommandContext, 'out'>): OutputRelay {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const push = (stream: 'stdout' | 'stderr', text: string): Promise<void> | undefined =>
    text === '' ? undefined : out.push(`${JSON.stringify({ stream, text })}\n`);
  return {
    onOutput: ({ source, chunk }) => push(source, decoders[source].decode(chunk, { stream: true })),
    end: () => {
      for (const stream of ['stdout', 'stderr'] as const) void push(stream, decoders[stream].decode());
    },
  };
}
