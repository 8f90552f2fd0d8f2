/** The words of `wakechart retrieval`: its commands with their arguments, options, help and examples. */
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { MAX_CANDIDATES } from '../../machines/retrieval/retrieval-limits.ts';
import { retrievalKind } from '../../machines/retrieval/retrieval-document.ts';
import { retrievalSearchDefinition } from '../../machines/retrieval/retrieval-tool.ts';
import { sessionRelation } from '../../machines/retrieval/session-relations.ts';
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
    .argument('<words...>', 'what to look for')
    .requiredOption('--agent <name>', 'the agent', nonEmpty)
    .addOption(
      new Option('--kind <kind>', 'only these; may be given again')
        .choices(retrievalKind.options)
        .argParser(severalKinds),
    )
    .option('--session <id>', 'the session from which relations are seen', nonEmpty)
    .addOption(
      new Option('--relation <relation>', 'only sessions related to that one').choices(sessionRelation.options),
    )
    .option(
      '--since <time>',
      'only from this time on: a day, such as 2026-03-01, or a moment, such as 2026-03-01T09:00:00Z',
      time,
    )
    .option('--until <time>', 'only up to this time; a day counts from its beginning', time)
    .option('--tool <name>', 'only calls of this tool', nonEmpty)
    .option('--limit <number>', 'candidates at most', wholeNumber({ min: 1, max: MAX_CANDIDATES }))
    .action((words: readonly string[], options: Omit<SearchOptions, 'query'>) =>
      run(search, async (context) => (await load()).searchRetrieval(context, { ...options, query: words.join(' ') })),
    );
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
  const kind = retrievalKind.safeParse(value);
  if (!kind.success) throw new InvalidArgumentError(`Expected one of ${retrievalKind.options.join(', ')}.`);
  return [...new Set([...(before ?? []), kind.data])];
}

/** As the tool reads it. */
function time(value: string): string {
  if (retrievalSearchDefinition.inputSchema.safeParse({ query: 'any', since: value }).success) return value;
  throw new InvalidArgumentError(
    'Expected a day, such as 2026-03-01, or a moment with its time zone, such as 2026-03-01T09:00:00Z.',
  );
}
