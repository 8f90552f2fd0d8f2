/** The words of `wakechart task`: its commands with their arguments, options, help and examples. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { advise, withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { addInspectionOptions } from '../inspect/words.ts';
import type { InspectionWords } from '../inspect/words.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

const MAX_NUMBER = Number.MAX_SAFE_INTEGER;

const TASK = 'the task: its id as `task list` shows it, the first characters of that, or its name in its process';

export function addTaskCommands(program: Command, run: RunWork): void {
  const task = program
    .command('task')
    .description('background tasks of every process over the home: run, list, show, logs, attach, cancel');
  addRun(task, run);
  addShowing(task, run);
  addLogs(task, run);
  addAttach(task, run);
  addCancel(task, run);
}

function addShowing(task: Command, run: RunWork): void {
  const load = (): Promise<typeof import('./list.ts')> => import('./list.ts');
  const list = task
    .command('list')
    .description('list the tasks of workers, chats and programs over the home, oldest first; lost ones for a day');
  withExamples(list, 'wakechart task list', 'wakechart task list --status running').addOption(
    new Option('--status <status>', 'only those that are so').choices([
      ...['queued', 'running', 'waiting_permission', 'sleeping', 'completed', 'failed', 'cancelled'],
    ]),
  );
  list.action(({ status }: { readonly status?: 'running' }) =>
    run(list, async (context) => (await load()).listTasks(context, { status })),
  );
  const show = task.command('show').description('show a task: what it runs, for which session, in which process');
  withExamples(show, 'wakechart task show 3f9ac2d1/task_1')
    .argument('<id>', TASK)
    .action((id: string) => run(show, async (context) => (await load()).showTask(context, id)));
}

function addLogs(task: Command, run: RunWork): void {
  const logs = task
    .command('logs')
    .description('print what a task has put out: its output on standard output, its errors on standard error');
  withExamples(logs, 'wakechart task logs 3f9ac2d1/task_1', 'wakechart task logs 3f9a --last 50 --follow')
    .argument('<id>', TASK)
    .option('--follow', 'go on until the task ends, and exit as it did')
    .option('--from <n>', 'begin with this line; the first one is 0', wholeNumber({ min: 0, max: MAX_NUMBER }))
    .addOption(
      new Option('--last <n>', 'begin so many lines before the newest')
        .argParser(wholeNumber({ min: 0, max: 1_000_000 }))
        .conflicts('from'),
    )
    .action((id: string, options: { readonly follow?: boolean; readonly from?: number; readonly last?: number }) =>
      run(logs, async (context) =>
        (await import('./logs.ts')).showLogs(context, {
          id,
          follow: options.follow === true,
          from: options.from,
          last: options.last,
        }),
      ),
    );
}

function addAttach(task: Command, run: RunWork): void {
  const attach = task
    .command('attach')
    .description('follow a task that runs, and pass it what is typed or piped in; Ctrl-C leaves it running');
  withExamples(attach, 'wakechart task attach 3f9ac2d1/task_1', 'wakechart task attach 3f9a --last 0 < answers.txt')
    .argument('<id>', TASK)
    .option(
      '--last <n>',
      'begin so many lines before the newest (default: 10)',
      wholeNumber({ min: 0, max: 1_000_000 }),
    )
    .action((id: string, { last = 10 }: { readonly last?: number }) =>
      run(attach, async (context) => (await import('./attach.ts')).attachTask(context, { id, last })),
    );
}

function addCancel(task: Command, run: RunWork): void {
  const cancel = task.command('cancel').description('stop a task with everything that it started, and wait for that');
  withExamples(cancel, 'wakechart task cancel 3f9ac2d1/task_1')
    .argument('<id>', TASK)
    .option('--reason <text>', 'what its log and its caller are told', nonEmpty)
    .action((id: string, { reason }: { readonly reason?: string }) =>
      run(cancel, async (context) => (await import('./cancel.ts')).cancelTask(context, { id, reason })),
    );
}

function addRun(task: Command, run: RunWork): void {
  const start = task
    .command('run')
    .description('run a command as a process task in the foreground, and exit as it does');
  advise(start, 'Put -- before the command. ');
  withExamples(start, 'wakechart task run --timeout-ms 60000 -- npm test', "wakechart task run -- 'make clean && make'")
    .argument('<command...>', 'after --: a program and its arguments, or one word with a line for the shell')
    .option('--timeout-ms <n>', 'end it after this long', wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }))
    .option(
      '--idle-timeout-ms <n>',
      'end it when it writes nothing for this long',
      wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    )
    .option('--cwd <dir>', 'run it in this folder', nonEmpty);
  addInspectionOptions(start, { canHold: true }).action(
    (
      words: readonly string[],
      {
        timeoutMs,
        idleTimeoutMs,
        cwd,
        ...inspection
      }: { readonly timeoutMs?: number; readonly idleTimeoutMs?: number; readonly cwd?: string } & InspectionWords,
    ) =>
      run(start, async (context) => {
        const { runTask } = await import('./run.ts');
        return runTask(context, { words, timeoutMs, idleTimeoutMs, cwd, inspection });
      }),
  );
}
