/** `wakechart env list | show | validate | create`: the environments of a home. */
import { basename, join } from 'node:path';
import { MAX_ENVIRONMENT_FILE_CHARACTERS } from '../../machines/environment/environment-definition.ts';
import type { EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import { environmentId } from '../../machines/ids.ts';
import type { FileEnvironmentCatalog } from '../../adapters/environment-files/file-environment-catalog.ts';
import { sourceProblems } from '../../adapters/environment-files/file-mount-places.ts';
import { environmentsOf } from '../open/environments.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { VAULTS_FOLDER, vaultProblems } from './vaults.ts';
import { environmentFields, isolationText } from './text.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { absolutePath, checkHome, makeHome } from '../home.ts';
import { fieldLines, tableLines } from '../terminal/table.ts';
import { printable } from '../terminal/text.ts';
import { readTextFile } from '../terminal/text-file.ts';
import { checkedEnvironmentName } from '../usage.ts';

/** A character takes at most four bytes. */
const MAX_FILE_BYTES = MAX_ENVIRONMENT_FILE_CHARACTERS * 4;

const FOLDER = 'environments';
const ENDING = '.yaml';

/** Shut in, with everything that can be added as a comment. */
const STARTER = `# Which of your agents work here: those that say "environment: NAME". See docs/environments.md.
description: Commands see their workspace and the programs of the system, and no network.
sandbox: required
# network: open
# mounts:
#   - { path: /data, source: /srv/data, access: ro }
# vaults: [github]
# permission: { mode: ask, deny: ["shell_run(git push)"] }
# budget: { maxCostPerSession: 5 }
# variables: { pass: [CI], set: { NODE_ENV: test } }
# quota: { maxBytes: 1000000000, maxFiles: 100000 }
# evaluation: { check: { command: npm test, timeoutSeconds: 600 } }
`;

export async function listEnvironments(context: CommandContext): Promise<number> {
  const { out, json } = context;
  const environments = await (await catalogOf(context)).list();
  if (json) await out.document({ environments });
  else {
    const rows = environments.map((listing) => {
      if ('error' in listing)
        return [printable(listing.environmentId), 'invalid', '', printable(listing.error.message)];
      const { sandbox, network, description } = listing.definition;
      return [
        listing.environmentId,
        sandbox,
        network,
        `${printable(description)}${listing.isBuiltIn ? ' (built in)' : ''}`,
      ];
    });
    for (const line of tableLines(['ENVIRONMENT', 'SANDBOX', 'NETWORK', 'DESCRIPTION'], rows, out))
      await out.line(line);
  }
  return EXIT_SUCCESS;
}

export async function showEnvironment(context: CommandContext, name: string): Promise<number> {
  const { out, json, home } = context;
  const id = checkedEnvironmentName(name);
  const catalog = await catalogOf(context);
  const definition = await catalog.get(id);
  const isBuiltIn = (await catalog.list()).some(
    (listing) => listing.environmentId === id && 'isBuiltIn' in listing && listing.isBuiltIn,
  );
  const file = isBuiltIn ? undefined : join(home, FOLDER, `${id}.yaml`);
  const problems = await problemsOf(context, definition);
  if (json) await out.document({ ...definition, isBuiltIn, ...(file === undefined ? {} : { file }), problems });
  else {
    for (const line of fieldLines(
      [
        ['environment', out.styles.bold(id)],
        ...environmentFields(definition),
        ['file', file ?? 'none: it is built in'],
      ],
      out,
    ))
      await out.line(line);
    await tellProblems(context, problems);
  }
  return EXIT_SUCCESS;
}

/** Checks a file that is not in a home yet. */
export async function validateEnvironment(context: CommandContext, file: string): Promise<number> {
  const { out, json } = context;
  const source = await readTextFile({ path: file, what: 'environment file', maxBytes: MAX_FILE_BYTES });
  const named = basename(file, ENDING);
  const { environmentId: _, ...definition } = (await catalogOf(context)).validate('environment', source, file);
  const problems = await problemsOf(context, {
    ...definition,
    environmentId: environmentId.safeParse(named).success ? named : 'environment',
  });
  if (json) await out.document({ valid: true, file: absolutePath(file), definition, problems });
  else {
    await tellProblems(context, problems);
    await out.line(`${out.styles.green('Valid:')} ${isolationText({ ...definition, environmentId: file })}`);
  }
  return EXIT_SUCCESS;
}

export async function createEnvironment(
  context: CommandContext,
  { name, from }: { readonly name: string; readonly from: string | undefined },
): Promise<number> {
  const { out, json, home } = context;
  const id = checkedEnvironmentName(name);
  const source =
    from === undefined
      ? STARTER.replace('NAME', id)
      : await readTextFile({ path: from, what: 'environment file', maxBytes: MAX_FILE_BYTES });
  const catalog = await catalogOf(context);
  // Before the home is made for it.
  const checked = catalog.validate(id, source, from);
  await makeHome(home);
  const definition = await catalog.create(checked.environmentId, source);
  const file = join(home, FOLDER, `${id}.yaml`);
  const problems = await problemsOf(context, definition);
  if (json) await out.document({ ...definition, file, problems });
  else {
    await tellProblems(context, problems);
    await out.line(`${out.styles.green('Created')} environment ${isolationText(definition)}`);
    await out.line(`  ${file}`);
    await out.line(
      `Next: put "environment: ${id}" into an agent file, or ${nextCommand(context, 'session', 'create', '--agent', 'NAME', '--environment', id)}`,
    );
  }
  return EXIT_SUCCESS;
}

async function catalogOf(context: CommandContext): Promise<FileEnvironmentCatalog> {
  await checkHome(context.home);
  return environmentsOf(context);
}

/** What would keep a wake from beginning. */
async function problemsOf(
  { home }: CommandContext,
  { environmentId: id, mounts, vaults }: EnvironmentDefinition,
): Promise<readonly string[]> {
  const ofMounts = (await sourceProblems({ home, environmentId: id, declared: mounts })).map(({ message }) => message);
  const ofVaults = (await vaultProblems(join(home, VAULTS_FOLDER), vaults)).map(
    ({ message, hint }) => `no wake begins with its vaults: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  );
  return [...ofMounts, ...ofVaults];
}

async function tellProblems({ err }: CommandContext, problems: readonly string[]): Promise<void> {
  for (const problem of problems) await err.line(`${err.styles.yellow('warning:')} ${printable(problem)}`);
}
