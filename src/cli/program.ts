/**
 * Every command with its arguments, options, words of help and examples. What a command does is loaded when it is run,
 * so that asking for help costs next to nothing.
 */
import { Command, Option } from 'commander';
import { addAuditCommand } from './audit/program.ts';
import { addAuthCommands } from './auth/program.ts';
import { withExamples } from './command-words.ts';
import type { RunWork } from './command-words.ts';
import { addChatCommand } from './chat/program.ts';
import { addCompletionCommands } from './completion/program.ts';
import { addEnvironmentCommands } from './env/program.ts';
import { addExplainCommand } from './explain/program.ts';
import { addInitCommand } from './init/program.ts';
import { addInspectCommand } from './inspect/program.ts';
import { addInspectionOptions } from './inspect/words.ts';
import type { InspectionWords } from './inspect/words.ts';
import { addImportCommand, addToolsCommand } from './import/program.ts';
import { addOutcomeCommands } from './outcome/program.ts';
import { addRetrievalCommands } from './retrieval/program.ts';
import { addMemoryCommands } from './memory/program.ts';
import { packageVersion } from './package-version.ts';
import { addPermissionCommands } from './permission/program.ts';
import { addScheduleCommands } from './schedule/program.ts';
import { addServeCommands } from './serve/program.ts';
import { addSessionCommands, sessionOption } from './session/program.ts';
import { addFleetCommand, addStoreCommands } from './store/program.ts';
import { addSkillsCommands } from './skills/program.ts';
import { addTaskCommands } from './task/program.ts';
import { nonEmpty, wholeNumber } from './usage.ts';
import { LOG_FORMATS, LOG_LEVELS } from './terminal/fact-log.ts';
import { addVaultCommands } from './vault/program.ts';
import { listenAddress } from './worker/listening.ts';
import type { ListenAddress } from './worker/listening.ts';
import type { LogWords } from './worker/worker.ts';
import { addWorktreeCommands } from './worktree/program.ts';

export function createProgram(run: RunWork): Command {
  const program = withExamples(new Command('wakechart'), 'wakechart demo')
    .description(
      'A runtime for long-running agent work: background tasks, durable agent sessions, subagents in worktrees of their own.',
    )
    .version(packageVersion(), '--version', 'show the version')
    .option(
      '--home <dir>',
      'where agents, sessions and what they leave are kept (default: $WAKECHART_HOME or ./.wakechart)',
      nonEmpty,
    )
    .option(
      '--store <url>',
      'the PostgreSQL database that holds the sessions, or files for the home (default: $WAKECHART_STORE or files); a password is better kept in a file',
      nonEmpty,
    )
    .option(
      '--store-file <file>',
      'a file for you alone (mode 600) whose first line is that URL (default: $WAKECHART_STORE_FILE): no password in a list of processes or in an environment',
      nonEmpty,
    )
    .option(
      '--config <file>',
      'the module that gives agents, tools and backends in code, or none (default: $WAKECHART_CONFIG or ./wakechart.config.ts, .mts, .mjs, .js)',
      nonEmpty,
    )
    .option('--json', 'for programs: JSON on standard output, one line per record where it streams')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  addCommands(program, run);
  return program;
}

function addCommands(program: Command, run: RunWork): void {
  addDemo(program, run);
  addInitCommand(program, run);
  addAgentCommands(program, run);
  addSessionCommands(program, run);
  addEnvironmentCommands(program, run);
  addOutcomeCommands(program, run);
  addMemoryCommands(program, run);
  addRetrievalCommands(program, run);
  addSkillsCommands(program, run);
  addPermissionCommands(program, run);
  addVaultCommands(program, run);
  addAuthCommands(program, run);
  addChatCommand(program, run);
  addWake(program, run);
  addWorker(program, run);
  addServeCommands(program, run);
  addTaskCommands(program, run);
  addScheduleCommands(program, run);
  addWorktreeCommands(program, run);
  addToolsCommand(program, run);
  addImportCommand(program, run);
  addAuditCommand(program, run);
  addInspectCommand(program, run);
  addStoreCommands(program, run);
  addFleetCommand(program, run);
  addDoctor(program, run);
  addExplainCommand(program, run);
  addCompletionCommands(program, run);
}

function addDoctor(program: Command, run: RunWork): void {
  const doctor = program
    .command('doctor')
    .description(
      'check a home: logs, what is made from them, what is due, processes, worktrees, subagents, agents, environments, schedules, tools',
    );
  withExamples(
    doctor,
    'wakechart doctor',
    'wakechart doctor --repair',
    'wakechart doctor --repair --accept-loss 0198c7de-5d8a-7c3e-9b1f-2f6d1c0a4e55',
  )
    .option(
      '--repair',
      'put right what can be made again, and deal with what processes that are gone left: processes, worktrees, jobs',
    )
    .option(
      '--accept-loss <session>',
      'with --repair: go on with this session although a part of its log is gone; the log and its agent are told so',
      nonEmpty,
    )
    .action((options: { readonly repair?: boolean; readonly acceptLoss?: string }) =>
      run(doctor, async (context) =>
        (await import('./doctor/doctor.ts')).examineHome(context, {
          repair: options.repair === true,
          acceptLoss: options.acceptLoss,
        }),
      ),
    );
}

function addDemo(program: Command, run: RunWork): void {
  const demo = program
    .command('demo')
    .description(
      'see the main job done, offline: an agent session mends a small git repository, and a subagent in its own worktree documents it',
    );
  withExamples(demo, 'wakechart demo', 'wakechart demo --dir wakechart-demo', 'wakechart demo --inspect').option(
    '--dir <dir>',
    'keep it all in this folder, which must be empty or new (default: a temporary folder, which is kept)',
    nonEmpty,
  );
  addInspectionOptions(demo, { canHold: true }).action(
    ({ dir, ...words }: { readonly dir?: string } & InspectionWords) =>
      run(demo, async (context) => (await import('./demo/demo.ts')).runDemo(context, { dir, inspection: words })),
  );
}

function addAgentCommands(program: Command, run: RunWork): void {
  const agent = program.command('agent').description('agents: create, list, show, validate');
  const load = (): Promise<typeof import('./agent/agent.ts')> => import('./agent/agent.ts');
  const create = agent
    .command('create')
    .description('make an agent: from a file, with a model, or one that plays a small script');
  withExamples(
    create,
    'wakechart agent create reviewer --from reviewer.md',
    'wakechart agent create helper --provider anthropic --model claude-sonnet-4-5',
    'wakechart agent create coder --provider claude-code',
    'wakechart agent create hello',
  )
    .argument('<name>', 'lower-case letters, digits, "-" and "_"')
    .addOption(
      new Option('--from <file>', 'the agent file; a script it names must lie beside it')
        .argParser(nonEmpty)
        .conflicts(['provider', 'model']),
    )
    .option(
      '--provider <name>',
      'without a file: whose model it works with, such as anthropic, openai, ollama, claude-code or codex',
      nonEmpty,
    )
    .option('--model <name>', 'which model; claude-code and codex choose one themselves', nonEmpty)
    .action(
      (
        name: string,
        { from, provider, model }: { readonly from?: string; readonly provider?: string; readonly model?: string },
      ) => run(create, async (context) => (await load()).createAgent(context, { name, from, provider, model })),
    );
  const list = agent.command('list').description('list the agents');
  withExamples(list, 'wakechart agent list').action(() =>
    run(list, async (context) => (await load()).listAgents(context)),
  );
  const show = agent.command('show').description('show an agent');
  withExamples(show, 'wakechart agent show reviewer')
    .argument('<name>', 'its name')
    .action((name: string) => run(show, async (context) => (await load()).showAgent(context, name)));
  const validate = agent
    .command('validate')
    .description('check an agent file, and the script it names, without keeping it');
  withExamples(validate, 'wakechart agent validate reviewer.md')
    .argument('<file>', 'the agent file')
    .action((file: string) => run(validate, async (context) => (await load()).validateAgent(context, file)));
}

function addWake(program: Command, run: RunWork): void {
  const wake = program
    .command('wake')
    .description('let a session work until it rests, and show what it does; on a terminal, answer what it asks');
  withExamples(
    wake,
    'wakechart wake --session ID',
    'wakechart wake --session ID --no-human',
    'wakechart wake --session ID --inspect',
  )
    .addOption(sessionOption())
    .option('--no-human', 'no person can be asked: what would ask is denied');
  addInspectionOptions(wake, { canHold: true }).action(
    ({ session, human, ...words }: { readonly session: string; readonly human: boolean } & InspectionWords) =>
      run(wake, async (context) =>
        (await import('./wake/wake.ts')).wakeSession(context, { session, human, inspection: words }),
      ),
  );
}

function addWorker(program: Command, run: RunWork): void {
  const worker = program
    .command('worker')
    .description('wake the sessions that have something to do, until interrupted');
  withExamples(
    worker,
    'wakechart worker',
    'wakechart worker --concurrency 8 --agent reviewer',
    'wakechart worker --until-idle',
    'wakechart worker --listen 9464 --log json',
  )
    .option(
      '--concurrency <n>',
      'sessions that are awake at the same time (default: 4)',
      wholeNumber({ min: 1, max: 1_000 }),
    )
    .option('--until-idle', 'end when nothing is due; queued wakes whose time has not come do not count')
    .option('--agent <name>', 'only the sessions of this agent', nonEmpty)
    .option('--no-human', 'no person can be asked: what would ask is denied')
    .option(
      '--listen <address>',
      'answer /healthz, /readyz and /metrics (for Prometheus) there, as PORT on this machine or ADDRESS:PORT; every client that reaches it may ask',
      listenAddress,
    )
    .addOption(
      new Option('--log <form>', 'a line for each fact: for people, or as JSON for what gathers logs').choices(
        LOG_FORMATS,
      ),
    )
    .addOption(new Option('--log-level <level>', 'what is told at least (default: info)').choices(LOG_LEVELS));
  addInspectionOptions(worker, { canHold: false }).action(
    ({
      inspect,
      record,
      ...options
    }: {
      readonly concurrency?: number;
      readonly untilIdle?: boolean;
      readonly agent?: string;
      readonly human: boolean;
      readonly listen?: ListenAddress;
    } & InspectionWords &
      LogWords) =>
      run(worker, async (context) =>
        (await import('./worker/worker.ts')).runWorker(context, {
          ...options,
          untilIdle: options.untilIdle === true,
          inspection: { ...(inspect === undefined ? {} : { inspect }), ...(record === undefined ? {} : { record }) },
        }),
      ),
  );
}
