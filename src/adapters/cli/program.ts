/**
 * Every command with its arguments, options, words of help and examples. What a command does is loaded when it is run, so that asking for
 * help costs next to nothing.
 */
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { CommandContext } from './context.ts';
import { nonEmpty, wholeNumber } from './usage.ts';

/** Runs a command's work and answers with its exit code. */
export type RunWork = (command: Command, work: (context: CommandContext) => Promise<number>) => Promise<void>;

const examples = new WeakMap<Command, readonly string[]>();

const advice = new WeakMap<Command, string>();

/** What to do about the mistake that is easiest to make with a command; empty when there is none. */
export function adviceFor(command: Command): string {
  return advice.get(command) ?? '';
}

/** The commands to try that the help of a command shows. */
export function examplesOf(command: Command): readonly string[] {
  return examples.get(command) ?? [];
}

export function createProgram(run: RunWork): Command {
  const program = withExamples(new Command('wakechart'), 'wakechart demo')
    .description('A runtime for long-running agent work: background tasks and durable agent sessions.')
    .version(readVersion(), '--version', 'show the version')
    .option('--home <dir>', 'where agents, sessions and what they leave are kept (default: $WAKECHART_HOME or ./.wakechart)', nonEmpty)
    .option('--json', 'for programs: JSON on standard output, one line per record where it streams')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  addDemo(program, run);
  addAgentCommands(program, run);
  addSessionCommands(program, run);
  addWake(program, run);
  addTaskCommands(program, run);
  return program;
}

function addDemo(program: Command, run: RunWork): void {
  const demo = program.command('demo').description('see the main job done, offline: an agent session mends a small git repository');
  withExamples(demo, 'wakechart demo', 'wakechart demo --dir wakechart-demo')
    .option('--dir <dir>', 'keep it all in this folder, which must be empty or new (default: a temporary folder, which is kept)', nonEmpty)
    .action(({ dir }: { readonly dir?: string }) => run(demo, async (context) => (await import('./commands/demo.ts')).runDemo(context, { dir })));
}

function addAgentCommands(program: Command, run: RunWork): void {
  const agent = program.command('agent').description('agents: create, list, show, validate');
  const load = (): Promise<typeof import('./commands/agent.ts')> => import('./commands/agent.ts');
  const create = agent.command('create').description('make an agent; without --from one that plays a small script');
  withExamples(create, 'wakechart agent create reviewer --from reviewer.md', 'wakechart agent create hello')
    .argument('<name>', 'lower-case letters, digits, "-" and "_"')
    .option('--from <file>', 'the agent file; a script it names must lie beside it', nonEmpty)
    .action((name: string, { from }: { readonly from?: string }) => run(create, async (context) => (await load()).createAgent(context, { name, from })));
  const list = agent.command('list').description('list the agents');
  withExamples(list, 'wakechart agent list').action(() => run(list, async (context) => (await load()).listAgents(context)));
  const show = agent.command('show').description('show an agent');
  withExamples(show, 'wakechart agent show reviewer')
    .argument('<name>', 'its name')
    .action((name: string) => run(show, async (context) => (await load()).showAgent(context, name)));
  const validate = agent.command('validate').description('check an agent file, and the script it names, without keeping it');
  withExamples(validate, 'wakechart agent validate reviewer.md')
    .argument('<file>', 'the agent file')
    .action((file: string) => run(validate, async (context) => (await load()).validateAgent(context, file)));
}

function addSessionCommands(program: Command, run: RunWork): void {
  const session = program.command('session').description('sessions: create, list, send, status, events');
  const load = (): Promise<typeof import('./commands/session.ts')> => import('./commands/session.ts');
  const create = session.command('create').description('make a session of an agent');
  withExamples(create, 'wakechart session create --agent reviewer')
    .requiredOption('--agent <name>', 'the agent')
    .action(({ agent }: { readonly agent: string }) => run(create, async (context) => (await load()).createSession(context, agent)));
  const list = session.command('list').description('list the sessions, oldest first');
  withExamples(list, 'wakechart session list').action(() => run(list, async (context) => (await load()).listSessions(context)));
  const send = session.command('send').description('store a message for a session; the next wake reads it');
  withExamples(send, 'wakechart session send --session ID --message "Review the diff."')
    .addOption(sessionOption())
    .requiredOption('--message <text>', 'what to say', nonEmpty)
    .option('--idempotency-key <key>', 'the same key again stores nothing and answers the same', nonEmpty)
    .action((options: { readonly session: string; readonly message: string; readonly idempotencyKey?: string }) =>
      run(send, async (context) => (await load()).sendMessage(context, { ...options, idempotencyKey: options.idempotencyKey })),
    );
  const status = session.command('status').description('show where a session stands');
  withExamples(status, 'wakechart session status --session ID')
    .addOption(sessionOption())
    .action((options: { readonly session: string }) => run(status, async (context) => (await load()).showStatus(context, options.session)));
  addEvents(session, run);
}

function addEvents(session: Command, run: RunWork): void {
  const events = session.command('events').description('show what has happened in a session, and with --follow what happens');
  withExamples(events, 'wakechart session events --session ID --follow', 'wakechart session events --session ID --after 12 --limit 10')
    .addOption(sessionOption())
    .addOption(new Option('--after <n>', 'start after the event with this number').default(0).argParser(wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER - 1 })))
    .option('--limit <n>', 'end after this many events', wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }))
    .option('--follow', 'go on with events as they come')
    .action((options: { readonly session: string; readonly after: number; readonly limit?: number; readonly follow?: boolean }) =>
      run(events, async (context) => (await import('./commands/session-events.ts')).showEvents(context, { ...options, limit: options.limit, follow: options.follow === true })),
    );
}

function addWake(program: Command, run: RunWork): void {
  const wake = program.command('wake').description('let a session work until it rests, and show what it does');
  withExamples(wake, 'wakechart wake --session ID')
    .addOption(sessionOption())
    .action((options: { readonly session: string }) => run(wake, async (context) => (await import('./commands/wake.ts')).wakeSession(context, options.session)));
}

function addTaskCommands(program: Command, run: RunWork): void {
  const task = program.command('task').description('background tasks: run');
  const start = task.command('run').description('run a command as a process task in the foreground, and exit as it does');
  advice.set(start, 'Put -- before the command. ');
  withExamples(start, 'wakechart task run --timeout-ms 60000 -- npm test', "wakechart task run -- 'make clean && make'")
    .argument('<command...>', 'after --: a program and its arguments, or one word with a line for the shell')
    .option('--timeout-ms <n>', 'end it after this long', wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }))
    .option('--idle-timeout-ms <n>', 'end it when it writes nothing for this long', wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }))
    .option('--cwd <dir>', 'run it in this folder', nonEmpty)
    .action((words: readonly string[], options: { readonly timeoutMs?: number; readonly idleTimeoutMs?: number; readonly cwd?: string }) =>
      run(start, async (context) => {
        const { runTask } = await import('./commands/task-run.ts');
        return runTask(context, { words, timeoutMs: options.timeoutMs, idleTimeoutMs: options.idleTimeoutMs, cwd: options.cwd });
      }),
    );
}

function sessionOption(): Option {
  return new Option('--session <id>', 'the session').makeOptionMandatory();
}

function withExamples(command: Command, ...lines: readonly string[]): Command {
  examples.set(command, lines);
  return command.addHelpText('after', `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
}

function readVersion(): string {
  // The same distance from sources and from what they are compiled to.
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { readonly version: string };
  return manifest.version;
}
