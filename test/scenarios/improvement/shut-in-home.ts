/**
 * A home with an environment that shuts commands in, a vault, and agents whose models say what is written down; with a
 * search for the secret on the disk.
 */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { FORMS, SECRET } from '../secrets/leaky-agent.ts';

/** What a command gets that names it. */
export const TOKEN = { TOKEN: 'github/token' };

/** A variable of the sandbox, by which its processes are told from all others. */
export const markOf = (home: string): string => `SHUT_IN_MARK=${home}`;

export interface ShutInOptions {
  readonly network?: 'open' | 'disabled' | undefined;
  readonly mounts?: readonly object[] | undefined;
}

/** The environment `shut`, with the vault `github`. */
export async function writeShutIn(
  home: string,
  { network = 'disabled', mounts = [] }: ShutInOptions = {},
): Promise<void> {
  await mkdir(join(home, 'vaults'), { recursive: true, mode: 0o700 });
  await writeFile(
    join(home, 'vaults', 'github.yaml'),
    JSON.stringify({ secrets: { token: { value: SECRET, commands: true } } }),
    { mode: 0o600 },
  );
  await mkdir(join(home, 'environments'), { mode: 0o700 });
  const environment = {
    sandbox: 'required',
    network,
    mounts,
    vaults: ['github'],
    variables: { set: { SHUT_IN_MARK: home } },
  };
  await writeFile(join(home, 'environments', 'shut.yaml'), JSON.stringify(environment), { mode: 0o600 });
}

/** @param frontmatter lines of YAML besides the model's */
export async function writeAgent(home: string, id: string, steps: readonly object[], frontmatter = ''): Promise<void> {
  const folder = join(home, 'agents', id);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
  await writeFile(
    join(folder, 'agent.md'),
    `---\nname: ${id}\nprovider: script\nmodel: play.json\npermission: preapproved\n${frontmatter}---\n\nWork.\n`,
  );
}

/** Says what a command can see of the world outside, and spills its secret in several forms. */
export const spying = (home: string): string =>
  `echo "pid namespace: $(cat /proc/1/comm)"; ls ${JSON.stringify(home)} 2>/dev/null | grep -q vaults && echo 'SEES THE HOME'; cat ${JSON.stringify(join(home, 'vaults/github.yaml'))} 2>/dev/null && echo 'READS VAULTS'; ` +
  'printf "%s\\n" "$TOKEN"; printf %s "$TOKEN" | base64; printf %s "$TOKEN" | od -An -tx1 | tr -d " \\n"; echo "told: $TOKEN" >&2; echo "length ${#TOKEN}"';

/** Every file in which a form of the secret lies, as `file: form`, but for the vault itself. */
export async function leaksIn(home: string): Promise<readonly string[]> {
  const files = (await readdir(home, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files
      .filter((file) => !relative(home, file).startsWith('vaults/'))
      .map(async (file) => {
        const text = (await readFile(file)).toString('latin1');
        const dense = text.replaceAll(/\\n|\s/g, '');
        return Object.entries(FORMS).flatMap(([form, written]) =>
          text.includes(written) || dense.includes(written) ? [`${relative(home, file)}: ${form}`] : [],
        );
      }),
  );
  return found.flat();
}

/** All that lies in the files of a folder, whose name has this part. */
export async function textOfFiles(folder: string, part: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(names.filter((name) => name.includes(part)).map((name) => readFile(name, 'utf8')))).join(
    '\n',
  );
}
