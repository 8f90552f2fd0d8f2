/** The words of `wakechart retrieval`: its commands with their arguments, options, help and examples. */
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { MAX_CANDIDATES } from '../../machines/retrieval/retrieval-limits.ts';
import { RETRIEVAL_KINDS, SESSION_RELATIONS } from '../../machines/retrieval/retrieval-words.ts';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';
import type { SearchOptions } from './retrieval.ts';

export function addRetrievalCommands(program: Command, run: RunWork): void {
  const retrieval = program.command('retrieval').description('what the sessions of an agent know: search, rebuild');
  const load = (): Promise<typeof import('./retrieval.ts')> => import('./retrieval.ts');
  const search = retrieval.command('search').description('find what an agent knows about something, and where');
  withExamples(
    search,
    'wakechart retrieval search --agent reviewer "which port does staging use"',
    'wakechart retrieval search --agent reviewer --kind trace --kind text --since 2026-03-01 "npm test failed"',
  )
    .argument('<words...>', 'what to search for')
    .requiredOption('--agent <name>', 'the agent', nonEmpty)
    .addOption(
      new Option('--kind <kind>', 'only these; may be given again').choices(RETRIEVAL_KINDS).argParser(severalKinds),
    )
    .option('--session <id>', 'the session from which relations are seen', nonEmpty)
    .addOption(new Option('--relation <relation>', 'only sessions related to that one').choices(SESSION_RELATIONS))
    .option(
      '--since <time>',
      'only from this time on: a day, such as 2026-03-01, or a moment, such as 2026-03-01T09:00:00Z',
    )
    .option('--until <time>', 'only up to this time; a day counts from its beginning')
    .option('--tool <name>', 'only calls of this tool', nonEmpty)
    .option('--limit <number>', 'candidates at most', wholeNumber({ min: 1, max: MAX_CANDIDATES }))
    .action(async (words: readonly string[], options: Omit<SearchOptions, 'query'>) => {
      const { isTime, searchRetrieval } = await load();
      for (const [option, value] of [
        ['--since <time>', options.since],
        ['--until <time>', options.until],
      ] as const)
        if (value !== undefined && !isTime(value)) refuseTime(search, option, value);
      return run(search, (context) => searchRetrieval(context, { ...options, query: words.join(' ') }));
    });
  const rebuild = retrieval
    .command('rebuild')
    .description('forget the index of an agent and make it anew from the logs');
  withExamples(rebuild, 'wakechart retrieval rebuild --agent reviewer')
    .requiredOption('--agent <name>', 'the agent', nonEmpty)
    .action(({ agent }: { readonly agent: string }) =>
      run(rebuild, async (context) => (await load()).rebuildRetrieval(context, agent)),
    );
}

function severalKinds(value: string, before: readonly string[] | undefined): readonly string[] {
  const kind = RETRIEVAL_KINDS.find((each) => each === value);
  if (kind === undefined) throw new InvalidArgumentError(`Expected one of ${RETRIEVAL_KINDS.join(', ')}.`);
  return [...new Set([...(before ?? []), kind])];
}

/** In the words for options whose value is refused while it is read: what reads these is not loaded that early. */
function refuseTime(command: Command, option: string, value: string): never {
  return command.error(
    `error: option '${option}' argument '${value}' is invalid. Expected a day, such as 2026-03-01, or a moment with its time zone, such as 2026-03-01T09:00:00Z.`,
    { code: 'commander.invalidArgument' },
  );
}
