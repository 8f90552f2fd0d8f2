/** The words of `wakechart schedule`: its commands with their arguments, options, help and examples. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import type { ScheduleAddOptions } from './add.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;

export function addScheduleCommands(program: Command, run: RunWork): void {
  const schedule = program.command('schedule').description('schedules: add, list, show, pause, resume, remove, run');
  addAdd(schedule, run);
  const list = schedule.command('list').description('list the schedules: when each fires next, and how it went last');
  withExamples(list, 'wakechart schedule list').action(() =>
    run(list, async (context) => (await import('./schedule.ts')).listSchedules(context)),
  );
  const COMMANDS = [
    ['show', 'show a schedule and what became of its last slots', 'showSchedule'],
    ['pause', 'let no slot of a schedule fire until it is resumed', 'pauseSchedule'],
    ['resume', 'let a schedule fire again that was paused, or parked after failures', 'resumeSchedule'],
    ['remove', 'remove a schedule; a run of it that goes on is cancelled', 'removeSchedule'],
  ] as const;
  for (const [name, description, action] of COMMANDS) {
    const command = schedule.command(name).description(description);
    withExamples(command, `wakechart schedule ${name} nightly`)
      .argument('<id>', 'the schedule')
      .action((id: string) => run(command, async (context) => (await import('./schedule.ts'))[action](context, id)));
  }
  const once = schedule
    .command('run')
    .description('do what a schedule does, once and now, to try it; this counts as none of its runs');
  withExamples(once, 'wakechart schedule run nightly')
    .argument('<id>', 'the schedule')
    .action((id: string) => run(once, async (context) => (await import('./run.ts')).runSchedule(context, id)));
}

function addAdd(schedule: Command, run: RunWork): void {
  const add = schedule
    .command('add')
    .description('add a schedule that sends a message into a session, or runs a command');
  withExamples(
    add,
    "wakechart schedule add --id nightly --cron '30 2 * * *' --timezone Europe/Berlin -- npm run report",
    "wakechart schedule add --id morning --cron '0 9 * * MON-FRI' --session ID --message 'What is new?'",
  )
    .requiredOption('--id <id>', 'its name: lower-case letters, digits, "-" and "_"')
    .requiredOption('--cron <expression>', 'when: five fields, six with seconds in front, or a date and time', nonEmpty)
    .option('--session <id>', 'send into this session')
    .option('--message <text>', 'what to send', nonEmpty)
    .argument('[command...]', 'after --: a program and its arguments, or one word with a line for the shell')
    .option(
      '--timezone <name>',
      'read the times in this time zone, such as Europe/Berlin (default: that of this machine)',
      nonEmpty,
    )
    .addOption(
      new Option('--catch-up <policy>', 'slots that passed while no worker ran')
        .choices(['latest', 'all', 'skip'])
        .default('latest'),
    )
    .addOption(
      new Option('--overlap <policy>', 'a slot that comes due while the run before it goes on')
        .choices(['skip', 'queue', 'cancel-previous'])
        .default('skip'),
    )
    .addOption(
      new Option('--delivery <how>', 'how the message reaches a session that is at work').choices([
        'queue',
        'steer',
        'interrupt',
      ]),
    )
    .option('--cwd <dir>', 'run the command in this folder (default: the present one)', nonEmpty)
    .option('--timeout-ms <n>', 'end the command after this long', wholeNumber({ min: 1, max: MAX_TIMER_MS }))
    .option(
      '--env <names>',
      'variables that the command needs, by name and separated by commas; their values are those of the worker',
      nonEmpty,
    )
    .option('--max-runs <n>', 'end the schedule after this many runs', wholeNumber({ min: 1, max: 1_000_000_000 }))
    .option('--until <time>', 'fire no slot after this time, such as 2030-01-31T18:00:00Z', nonEmpty)
    .option(
      '--max-failures <n>',
      'park the schedule after so many failures in a row',
      wholeNumber({ min: 1, max: 1_000 }),
    )
    .option('--replace', 'take the place of the schedule that has this id')
    .action((words: readonly string[], options: Omit<ScheduleAddOptions, 'words'>) =>
      run(add, async (context) => (await import('./add.ts')).addSchedule(context, { ...options, words })),
    );
}
