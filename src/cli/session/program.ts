/** The words of `wakechart session`: its commands with their arguments, options, help and examples. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import type { CommandContext } from '../context.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

interface OfSession {
  readonly session: string;
}

export function addSessionCommands(program: Command, run: RunWork): void {
  const session = program
    .command('session')
    .description(
      'sessions: create, list, status, send, answer, confirm-tool, custom-tool-result, define-outcome, interrupt, terminate, fork, export, import, delete, release, events, why',
    );
  addMaking(session, run);
  addSend(session, run);
  addDefineOutcome(session, run);
  addAnswer(session, run);
  addConfirmTool(session, run);
  addCustomToolResult(session, run);
  addStops(session, run);
  addFork(session, run);
  addExport(session, run);
  addImport(session, run);
  addDelete(session, run);
  addRelease(session, run);
  addEvents(session, run);
  addWhy(session, run);
}

function addWhy(session: Command, run: RunWork): void {
  const why = session
    .command('why')
    .description('say what a session works on or waits for, what would move it on, and who can do that');
  withExamples(why, 'wakechart session why --session ID', 'wakechart session why --session ID --verbose')
    .addOption(sessionOption())
    .option(
      '--verbose',
      'say too what its charts take now and what not, why not, who can send it, and what comes by the clock',
    )
    .action(({ session: id, verbose }: OfSession & { readonly verbose?: true }) =>
      run(why, async (context) => (await import('./why.ts')).explainSession(context, id, { verbose })),
    );
}

function addMaking(session: Command, run: RunWork): void {
  const load = (): Promise<typeof import('./session.ts')> => import('./session.ts');
  const create = session.command('create').description('make a session of an agent');
  withExamples(
    create,
    'wakechart session create --agent reviewer',
    'wakechart session create --agent reviewer --environment sandboxed',
  )
    .requiredOption('--agent <name>', 'the agent')
    .option('--title <text>', 'what to call it', nonEmpty)
    .option(
      '--environment <name>',
      "the environment in which it works, as `env list` shows it (default: its agent's)",
      nonEmpty,
    )
    .option('--parent <id>', 'the session it works for, which hears when it comes to rest')
    .action(
      (options: {
        readonly agent: string;
        readonly title?: string;
        readonly environment?: string;
        readonly parent?: string;
      }) =>
        run(create, async (context) =>
          (await load()).createSession(context, {
            agent: options.agent,
            title: options.title,
            environment: options.environment,
            parent: options.parent,
          }),
        ),
    );
  const list = session.command('list').description('list the sessions, oldest first');
  withExamples(list, 'wakechart session list').action(() =>
    run(list, async (context) => (await load()).listSessions(context)),
  );
  const status = session.command('status').description('show where a session stands');
  withExamples(status, 'wakechart session status --session ID')
    .addOption(sessionOption())
    .action(({ session: id }: OfSession) => run(status, async (context) => (await load()).showStatus(context, id)));
}

function addSend(session: Command, run: RunWork): void {
  const send = session.command('send').description('store a message for a session; the next wake reads it');
  withExamples(
    send,
    'wakechart session send --session ID --message "Review the diff."',
    'wakechart session send --session ID --message "Stop. Check the tests first." --delivery interrupt',
    'wakechart session send --session ID --message "What is wrong here?" --attach screenshot.png',
  )
    .addOption(sessionOption())
    .requiredOption('--message <text>', 'what to say', nonEmpty)
    .addOption(
      new Option(
        '--delivery <mode>',
        'when it is read: after the turn that runs, by its next step, after cutting it short; or not at all while the session is busy',
      )
        .choices(['queue', 'steer', 'interrupt', 'reject-if-busy'])
        .default('queue'),
    )
    .option('--idempotency-key <key>', 'the same key again stores nothing and answers the same', nonEmpty)
    .option('--attach <file>', 'a file to go with it, copied into the workspace; may be given again', several, [])
    .action(
      (
        options: OfSession & {
          readonly message: string;
          readonly delivery: 'queue';
          readonly idempotencyKey?: string;
          readonly attach: readonly string[];
        },
      ) =>
        run(send, async (context) =>
          (await loadIngress()).sendMessage(context, { ...options, idempotencyKey: options.idempotencyKey }),
        ),
    );
}

function addDefineOutcome(session: Command, run: RunWork): void {
  const outcome = session.command('define-outcome').description('say what a session is to achieve; the newest counts');
  withExamples(
    outcome,
    'wakechart session define-outcome --session ID --title "The tests pass." --criterion "npm test exits with 0"',
  )
    .addOption(sessionOption())
    .requiredOption('--title <text>', 'what is to be achieved', nonEmpty)
    .option('--detail <text>', 'more about it', nonEmpty)
    .option('--criterion <text>', 'how to tell that it is achieved; may be given again', several, [])
    .option(
      '--check <command>',
      'a command that says by exit code 0 that it is achieved, run where the session works',
      nonEmpty,
    )
    .action(
      (
        options: OfSession & {
          readonly title: string;
          readonly detail?: string;
          readonly check?: string;
          readonly criterion: readonly string[];
        },
      ) =>
        run(outcome, async (context) =>
          (await loadIngress()).defineOutcome(context, { ...options, detail: options.detail, check: options.check }),
        ),
    );
}

function addAnswer(session: Command, run: RunWork): void {
  const answer = session.command('answer').description('answer a question of the agent');
  withExamples(answer, 'wakechart session answer --session ID --request REQUEST --text "Use the second one."')
    .addOption(sessionOption())
    .addOption(requestOption())
    .requiredOption('--text <text>', 'the answer', nonEmpty)
    .action((options: OfSession & { readonly request: string; readonly text: string }) =>
      run(answer, async (context) => (await loadIngress()).answerQuestion(context, options)),
    );
}

function addConfirmTool(session: Command, run: RunWork): void {
  const confirm = session.command('confirm-tool').description('allow or deny a tool call that waits for it');
  withExamples(
    confirm,
    'wakechart session confirm-tool --session ID --request REQUEST --allow',
    'wakechart session confirm-tool --session ID --request REQUEST --allow --scope session',
    'wakechart session confirm-tool --session ID --request REQUEST --deny --note "Not on main."',
  )
    .addOption(sessionOption())
    .addOption(requestOption())
    .addOption(new Option('--allow', 'the call may run').conflicts('deny'))
    .option('--deny', 'it may not')
    .addOption(
      new Option(
        '--scope <scope>',
        'with --allow: this call only; what its rules cover, in this session; the same in every session of the agent (default: once)',
      ).choices(['once', 'session', 'always']),
    )
    .option('--note <text>', 'what the agent is told with it', nonEmpty)
    .action(
      (
        options: OfSession & {
          readonly request: string;
          readonly allow?: boolean;
          readonly deny?: boolean;
          readonly note?: string;
          readonly scope?: 'once' | 'session' | 'always';
        },
      ) =>
        run(confirm, async (context) =>
          (await loadIngress()).confirmTool(context, {
            ...options,
            allow: options.allow === true,
            deny: options.deny === true,
            note: options.note,
            scope: options.scope,
          }),
        ),
    );
}

function addCustomToolResult(session: Command, run: RunWork): void {
  const custom = session
    .command('custom-tool-result')
    .description('give the result of a tool that the agent asked a client to run');
  withExamples(
    custom,
    `wakechart session custom-tool-result --session ID --request REQUEST --output '{"approved":true}'`,
    'wakechart session custom-tool-result --session ID --request REQUEST --output - < result.json',
  )
    .addOption(sessionOption())
    .addOption(requestOption())
    .requiredOption(
      '--output <json>',
      'the result as JSON; what is no JSON counts as text; - reads it from standard input',
    )
    .action((options: OfSession & { readonly request: string; readonly output: string }) =>
      run(custom, async (context) => (await loadIngress()).giveToolResult(context, options)),
    );
}

function addStops(session: Command, run: RunWork): void {
  const interrupt = session
    .command('interrupt')
    .description('cut the turn that runs short; cancel queued wakes and requests');
  withExamples(interrupt, 'wakechart session interrupt --session ID --reason "wrong branch"')
    .addOption(sessionOption())
    .option('--reason <text>', 'why', nonEmpty)
    .action((options: OfSession & { readonly reason?: string }) =>
      run(interrupt, async (context) =>
        (await loadIngress()).interruptSession(context, options.session, options.reason),
      ),
    );
  const terminate = session.command('terminate').description('end a session for ever; its log stays readable');
  withExamples(terminate, 'wakechart session terminate --session ID')
    .addOption(sessionOption())
    .option('--reason <text>', 'why', nonEmpty)
    .action((options: OfSession & { readonly reason?: string }) =>
      run(terminate, async (context) =>
        (await loadIngress()).terminateSession(context, options.session, options.reason),
      ),
    );
}

function addFork(session: Command, run: RunWork): void {
  const fork = session
    .command('fork')
    .description('make a session with the past of another, to go on differently from there');
  withExamples(fork, 'wakechart session fork --session ID --at 42')
    .addOption(sessionOption())
    .option(
      '--at <seq>',
      'the last event they have in common (default: the newest)',
      wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    )
    .option('--title <text>', 'what to call it', nonEmpty)
    .action((options: OfSession & { readonly at?: number; readonly title?: string }) =>
      run(fork, async (context) =>
        (await loadCopies()).forkSession(context, { session: options.session, at: options.at, title: options.title }),
      ),
    );
}

function addExport(session: Command, run: RunWork): void {
  const exporting = session
    .command('export')
    .description('write the log of a session as lines of text, for `session import`');
  withExamples(
    exporting,
    'wakechart session export --session ID > session.jsonl',
    'wakechart session export --session ID --as script > play.json',
  )
    .addOption(sessionOption())
    .addOption(
      new Option('--as <form>', 'the whole log, or what the agent did as a script to play again')
        .choices(['log', 'script'])
        .default('log'),
    )
    .action((options: OfSession & { readonly as: 'log' | 'script' }) =>
      run(exporting, async (context) => (await loadCopies()).exportSession(context, options)),
    );
}

function addImport(session: Command, run: RunWork): void {
  const importing = session.command('import').description('bring a session back from an export, under its id');
  withExamples(importing, 'wakechart session import session.jsonl')
    .argument('<file>', 'what `session export` wrote')
    .option(
      '--trusted',
      'the export has not been changed since it was written: the bounds of the session are those that it names',
      false,
    )
    .action((file: string, { trusted }: { readonly trusted: boolean }) =>
      run(importing, async (context) => (await loadCopies()).importSession(context, { file, isTrusted: trusted })),
    );
}

function addDelete(session: Command, run: RunWork): void {
  const remove = session
    .command('delete')
    .description(
      'remove a session with its log and its workspace, for ever; of one in a database, folders on machines stay there',
    );
  withExamples(remove, 'wakechart session delete --session ID --yes')
    .addOption(sessionOption())
    .requiredOption('--yes', 'really')
    .action(({ session: id }: OfSession) =>
      run(remove, async (context) => (await loadCopies()).deleteSession(context, id)),
    );
}

function addRelease(session: Command, run: RunWork): void {
  const release = session
    .command('release')
    .description(
      'take a session from the machine that has its folder, when that is gone for good; without --yes it only says what may be lost',
    );
  withExamples(
    release,
    'wakechart session release --session ID --store postgres://worker@db.example.com/work',
    'wakechart session release --session ID --store postgres://worker@db.example.com/work --yes',
  )
    .addOption(sessionOption())
    .option('--yes', 'do it')
    .action(({ session: id, yes }: OfSession & { readonly yes?: true }) =>
      run(release, async (context) =>
        (await import('./release.ts')).releaseSession(context, id, { isMeant: yes === true }),
      ),
    );
}

function addEvents(session: Command, run: RunWork): void {
  const events = session
    .command('events')
    .description('show what has happened in a session, and with --follow what happens');
  withExamples(
    events,
    'wakechart session events --session ID --follow',
    'wakechart session events --session ID --after 12 --limit 10',
    'wakechart session events --session ID --last 20',
  )
    .addOption(sessionOption())
    .addOption(
      new Option('--after <n>', 'start after the event with this number')
        .default(0)
        .argParser(wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER - 1 })),
    )
    .option('--limit <n>', 'end after this many events', wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }))
    .addOption(
      new Option('--last <n>', 'begin with the newest events, this many')
        .argParser(wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }))
        .conflicts('after'),
    )
    .option('--follow', 'go on with events as they come')
    .action(
      (
        options: OfSession & {
          readonly after: number;
          readonly limit?: number;
          readonly last?: number;
          readonly follow?: boolean;
        },
      ) =>
        run(events, async (context: CommandContext) =>
          (await import('./events.ts')).showEvents(context, {
            ...options,
            limit: options.limit,
            last: options.last,
            follow: options.follow === true,
          }),
        ),
    );
}

function several(value: string, all: readonly string[]): readonly string[] {
  return [...all, nonEmpty(value)];
}

function loadIngress(): Promise<typeof import('./ingress.ts')> {
  return import('./ingress.ts');
}

export function sessionOption(): Option {
  return new Option('--session <id>', 'the session').makeOptionMandatory();
}

function requestOption(): Option {
  return new Option('--request <id>', 'the request, as `session status` shows it').makeOptionMandatory();
}

function loadCopies(): Promise<typeof import('./copies.ts')> {
  return import('./copies.ts');
}
