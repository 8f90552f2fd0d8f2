/** Which version a program says it is. It is asked once, and again when its file has changed. */
import { execFile } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { exitText } from '../../machines/run/program-end.ts';
import { unreadableVersion, versionIn } from '../../machines/run/tried-programs.ts';
import type { AskedVersion } from '../../machines/run/tried-programs.ts';

/** Some load a megabyte of JavaScript to say it. */
const PATIENCE_MS = 20_000;

export interface ProgramPlace {
  readonly command: string;
  /** Where a relative path starts. */
  readonly directory: string;
  /** That of the program: a mere name is found in its PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const known = new Map<string, Promise<AskedVersion>>();

export async function programVersion(place: ProgramPlace): Promise<AskedVersion> {
  const file = await programFile(place);
  if (file === undefined) return { kind: 'missing' };
  const { mtimeMs, size } = await stat(file);
  const key = [file, mtimeMs, size].join('\n');
  const asked = known.get(key) ?? ask(file, place);
  known.set(key, asked);
  return asked;
}

/** Where a program lies that can be started, its links followed; undefined where there is none. */
export async function programFile({ command, directory, environment }: ProgramPlace): Promise<string | undefined> {
  const isName = !command.includes('/');
  const candidates = isName
    ? (environment['PATH'] ?? '').split(':').flatMap((folder) => (isAbsolute(folder) ? [join(folder, command)] : []))
    : [resolve(directory, command)];
  for (const path of candidates) if (await isProgram(path)) return realpath(path);
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK)
    .then(() => stat(path))
    .then(
      (stats) => stats.isFile(),
      () => false,
    );
}

function ask(file: string, { environment }: ProgramPlace): Promise<AskedVersion> {
  return new Promise((tell) => {
    const asked = { cwd: dirname(file), env: environment, timeout: PATIENCE_MS, killSignal: 'SIGKILL' } as const;
    const child = execFile(file, ['--version'], asked, (error, stdout, stderr) => {
      const version = error === null ? versionIn(stdout) : undefined;
      if (version !== undefined) return tell({ kind: 'told', version });
      const exit = { code: child.exitCode ?? undefined, signal: child.signalCode ?? undefined };
      const ending = child.pid === undefined ? `it cannot be started (${String(error?.code)})` : exitText(exit);
      return tell(unreadableVersion(`${stdout}\n${stderr}`, ending));
    });
    child.stdin?.end();
  });
}
