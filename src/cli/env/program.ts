/** The words of `wakechart env`: its commands with their arguments, options, help and examples. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { sessionOption } from '../session/program.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

interface CompareWords {
  readonly session: string;
  readonly wake: readonly number[];
  readonly with?: string;
}

export function addEnvironmentCommands(program: Command, run: RunWork): void {
  const env = program
    .command('env')
    .description('environments, in which sessions work: list, show, validate, create, compare');
  const load = (): Promise<typeof import('./env.ts')> => import('./env.ts');
  const list = env.command('list').description('list the environments, those that are built in too');
  withExamples(list, 'wakechart env list').action(() =>
    run(list, async (context) => (await load()).listEnvironments(context)),
  );
  const show = env.command('show').description('show an environment');
  withExamples(show, 'wakechart env show sandboxed')
    .argument('<name>', 'its name')
    .action((name: string) => run(show, async (context) => (await load()).showEnvironment(context, name)));
  const validate = env.command('validate').description('check an environment file without keeping it');
  withExamples(validate, 'wakechart env validate builds.yaml')
    .argument('<file>', 'the file')
    .action((file: string) => run(validate, async (context) => (await load()).validateEnvironment(context, file)));
  const create = env
    .command('create')
    .description('make an environment: from a file, or one that shuts commands in, to be edited');
  withExamples(create, 'wakechart env create builds', 'wakechart env create builds --from builds.yaml')
    .argument('<name>', 'lower-case letters, digits, "-" and "_"')
    .option('--from <file>', 'the environment file', nonEmpty)
    .action((name: string, { from }: { readonly from?: string }) =>
      run(create, async (context) => (await load()).createEnvironment(context, { name, from })),
    );
  const compare = env
    .command('compare')
    .description('say what is different between the environments of two wakes of a session');
  withExamples(
    compare,
    'wakechart env compare --session ID',
    'wakechart env compare --session ID --wake 2 --wake 5',
    'wakechart env compare --session ID --with sandboxed',
  )
    .addOption(sessionOption())
    .addOption(
      new Option(
        '--wake <n>',
        'the number of a wake, from 1; given once, it is compared with the last one (default: the last two)',
      )
        .default([], 'the last two')
        .argParser((value: string, all: readonly number[]) => [
          ...all,
          wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER })(value),
        ]),
    )
    .option('--with <name>', 'compare with this environment as its file is now, instead of with another wake', nonEmpty)
    .action(({ session, wake, with: other }: CompareWords) =>
      run(compare, async (context) =>
        (await import('./compare.ts')).compareWakes(context, { session, wakes: wake, with: other }),
      ),
    );
}
