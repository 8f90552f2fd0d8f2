/**
 * The words of `wakechart learnings`, `memory` and `resources`: their commands with arguments, options, help and
 * examples.
 */
import { Option } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { sessionOption } from '../session/program.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

interface OfAgent {
  readonly agent: string;
}

interface OfVersion extends OfAgent {
  /** `--version` is the program's own. */
  readonly at: number;
  readonly expectedVersion?: number;
}

const VERSIONS = { min: 1, max: 999_999_999 } as const;

export function addMemoryCommands(program: Command, run: RunWork): void {
  addLearnings(program, run);
  addMemory(program, run);
  addResources(program, run);
}

function addLearnings(program: Command, run: RunWork): void {
  const learnings = program.command('learnings').description('what agents have learned: list, show, forget, rebuild');
  const load = (): Promise<typeof import('./learnings.ts')> => import('./learnings.ts');
  const list = learnings.command('list').description('list what an agent has learned, the newest first');
  withExamples(
    list,
    'wakechart learnings list --agent reviewer',
    'wakechart learnings list --agent reviewer --kind error --text "port taken"',
  )
    .addOption(agentOption())
    .addOption(new Option('--kind <kind>', 'only these').choices(['lesson', 'correction', 'error']))
    .option('--text <words>', 'only those in which all of these words are', nonEmpty)
    .option('--all', 'also what was taken out')
    .action((options: OfAgent & { readonly kind?: 'lesson'; readonly text?: string; readonly all?: boolean }) =>
      run(list, async (context) =>
        (await load()).listLearnings(context, {
          ...options,
          kind: options.kind,
          text: options.text,
          all: options.all === true,
        }),
      ),
    );
  const show = learnings.command('show').description('show one learning, and where it comes from');
  withExamples(show, 'wakechart learnings show --agent reviewer --learning ID')
    .addOption(agentOption())
    .addOption(learningOption())
    .action((options: OfAgent & { readonly learning: string }) =>
      run(show, async (context) => (await load()).showLearning(context, options)),
    );
  const forget = learnings
    .command('forget')
    .description('take a learning out for good: the same learned again does not bring it back');
  withExamples(forget, 'wakechart learnings forget --agent reviewer --learning ID')
    .addOption(agentOption())
    .addOption(learningOption())
    .action((options: OfAgent & { readonly learning: string }) =>
      run(forget, async (context) => (await load()).forgetLearning(context, options)),
    );
  const rebuild = learnings.command('rebuild').description('make the learnings anew of the logs of the sessions');
  withExamples(rebuild, 'wakechart learnings rebuild --agent reviewer')
    .addOption(agentOption())
    .action(({ agent }: OfAgent) =>
      run(rebuild, async (context) => (await load()).rebuildAgentLearnings(context, agent)),
    );
}

function addMemory(program: Command, run: RunWork): void {
  const memory = program
    .command('memory')
    .description('the memory of agents (MEMORY.md): show, versions, diff, promote, restore, forget');
  addMemoryShow(memory, run);
  addMemoryVersions(memory, run);
  addMemoryDiff(memory, run);
  addMemoryPromote(memory, run);
  addMemoryRestore(memory, run);
  addMemoryForget(memory, run);
}

function addMemoryShow(memory: Command, run: RunWork): void {
  const show = memory.command('show').description('show what an agent remembers');
  withExamples(show, 'wakechart memory show --agent reviewer', 'wakechart memory show --agent reviewer --at 3')
    .addOption(agentOption())
    .option('--at <version>', 'as it was then (default: as it is now)', wholeNumber(VERSIONS))
    .action((options: OfAgent & { readonly at?: number }) =>
      run(show, async (context) =>
        (await loadMemory()).showMemory(context, { agent: options.agent, version: options.at }),
      ),
    );
}

function addMemoryVersions(memory: Command, run: RunWork): void {
  const versions = memory
    .command('versions')
    .description('list the versions in which the memory changed, the newest first');
  withExamples(versions, 'wakechart memory versions --agent reviewer')
    .addOption(agentOption())
    .action(({ agent }: OfAgent) =>
      run(versions, async (context) => (await loadMemory()).listMemoryVersions(context, agent)),
    );
}

function addMemoryDiff(memory: Command, run: RunWork): void {
  const diff = memory
    .command('diff')
    .description('show what a version changed; without one, what was edited by hand since the newest');
  withExamples(
    diff,
    'wakechart memory diff --agent reviewer --at 2',
    'wakechart memory diff --agent reviewer --at 5 --against 2',
    'wakechart memory diff --agent reviewer',
  )
    .addOption(agentOption())
    .option('--at <version>', 'what it changed (default: what lies in the folder)', wholeNumber(VERSIONS))
    .option(
      '--against <version>',
      'compared with this one (default: the one before; the newest, for what lies in the folder)',
      wholeNumber(VERSIONS),
    )
    .action(({ agent, at, against }: OfAgent & { readonly at?: number; readonly against?: number }) =>
      run(diff, async (context) => (await loadMemory()).diffMemory(context, { agent, at, against })),
    );
}

function addMemoryPromote(memory: Command, run: RunWork): void {
  const promote = memory
    .command('promote')
    .description('put learnings into the memory of an agent, for a session whose outcome was evaluated as reached');
  withExamples(
    promote,
    'wakechart memory promote --session ID',
    'wakechart memory promote --session ID --learning ID --expected-version 3',
  )
    .addOption(sessionOption())
    .option(
      '--learning <id>',
      'which; may be given again (default: those of the session that wait for it)',
      several,
      [],
    )
    .option(
      '--expected-version <n>',
      'nothing is changed when the memory is at another version',
      wholeNumber({ min: 0, max: VERSIONS.max }),
    )
    .action(
      (options: {
        readonly session: string;
        readonly learning: readonly string[];
        readonly expectedVersion?: number;
      }) =>
        run(promote, async (context) =>
          (await loadMemory()).promoteMemory(context, { ...options, expectedVersion: options.expectedVersion }),
        ),
    );
}

function addMemoryRestore(memory: Command, run: RunWork): void {
  const restore = memory
    .command('restore')
    .description('make the entries those of an older version again, as a new version; the rest of the file stays');
  withExamples(restore, 'wakechart memory restore --agent reviewer --at 3')
    .addOption(agentOption())
    .addOption(versionOption('what to go back to'))
    .option('--expected-version <n>', 'nothing is changed when it is at another version', wholeNumber(VERSIONS))
    .action((options: OfVersion) =>
      run(restore, async (context) =>
        (await loadMemory()).restoreMemory(context, {
          agent: options.agent,
          version: options.at,
          expectedVersion: options.expectedVersion,
        }),
      ),
    );
}

function addMemoryForget(memory: Command, run: RunWork): void {
  const forget = memory.command('forget').description('take an entry out of the memory');
  withExamples(forget, 'wakechart memory forget --agent reviewer --entry ID')
    .addOption(agentOption())
    .requiredOption('--entry <id>', 'the learning, as `memory show` names it', nonEmpty)
    .action((options: OfAgent & { readonly entry: string }) =>
      run(forget, async (context) => (await loadMemory()).forgetMemory(context, options)),
    );
}

function addResources(program: Command, run: RunWork): void {
  const resources = program
    .command('resources')
    .description('the files that all sessions of an agent share: list, versions, diff, restore');
  const load = (): Promise<typeof import('./resources.ts')> => import('./resources.ts');
  const list = resources.command('list').description('list the files, and where they lie: people edit them there');
  withExamples(list, 'wakechart resources list --agent reviewer', 'wakechart resources list --agent reviewer --at 3')
    .addOption(agentOption())
    .option('--at <version>', 'as they were then (default: as they are now)', wholeNumber(VERSIONS))
    .action((options: OfAgent & { readonly at?: number }) =>
      run(list, async (context) =>
        (await load()).listResources(context, { agent: options.agent, version: options.at }),
      ),
    );
  const versions = resources
    .command('versions')
    .description('list the versions, the newest first: who made each, when, and what changed');
  withExamples(versions, 'wakechart resources versions --agent reviewer')
    .addOption(agentOption())
    .action(({ agent }: OfAgent) =>
      run(versions, async (context) => (await load()).listResourceVersions(context, agent)),
    );
  const diff = resources
    .command('diff')
    .description('show what a version changed; without one, what was edited by hand since the newest');
  withExamples(
    diff,
    'wakechart resources diff --agent reviewer --at 2',
    'wakechart resources diff --agent reviewer --at 5 --against 2',
    'wakechart resources diff --agent reviewer',
  )
    .addOption(agentOption())
    .option('--at <version>', 'what it changed (default: what lies in the folder)', wholeNumber(VERSIONS))
    .option(
      '--against <version>',
      'compared with this one (default: the one before; the newest, for what lies in the folder)',
      wholeNumber(VERSIONS),
    )
    .action(({ agent, at, against }: OfAgent & { readonly at?: number; readonly against?: number }) =>
      run(diff, async (context) => (await load()).diffResources(context, { agent, at, against })),
    );
  const restore = resources
    .command('restore')
    .description('make all files those of an older version again, as a new version');
  withExamples(restore, 'wakechart resources restore --agent reviewer --at 3')
    .addOption(agentOption())
    .addOption(versionOption('what to go back to'))
    .option('--expected-version <n>', 'nothing is changed when they are at another version', wholeNumber(VERSIONS))
    .action((options: OfVersion) =>
      run(restore, async (context) =>
        (await load()).restoreResources(context, {
          agent: options.agent,
          version: options.at,
          expectedVersion: options.expectedVersion,
        }),
      ),
    );
}

function agentOption(): Option {
  return new Option('--agent <name>', 'the agent').argParser(nonEmpty).makeOptionMandatory();
}

function learningOption(): Option {
  return new Option('--learning <id>', 'the learning, as `learnings list` names it')
    .argParser(nonEmpty)
    .makeOptionMandatory();
}

function versionOption(text: string): Option {
  return new Option('--at <version>', text).argParser(wholeNumber(VERSIONS)).makeOptionMandatory();
}

function several(value: string, all: readonly string[]): readonly string[] {
  return [...all, nonEmpty(value)];
}

function loadMemory(): Promise<typeof import('./memory.ts')> {
  return import('./memory.ts');
}
