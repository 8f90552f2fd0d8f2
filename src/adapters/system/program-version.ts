/** Which version a program says it is. It is asked once, and again when its file has changed. */
import { execFile } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { versionIn } from '../../machines/run/tried-programs.ts';

/** Some load a megabyte of JavaScript to say it. */
const PATIENCE_MS = 20_000;

export interface ProgramPlace {
  readonly command: string;
  /** Where a relative path starts. */
  readonly directory: string;
  /** That of the program: a mere name is found in its PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const known = new Map<string, Promise<string | undefined>>();

/** Undefined where there is no such program, or it does not say. */
export async function programVersion(place: ProgramPlace): Promise<string | undefined> {
  const file = await fileOf(place);
  if (file === undefined) return undefined;
  const { mtimeMs, size } = await stat(file);
  const key = [file, mtimeMs, size].join('\n');
  const asked = known.get(key) ?? ask(file, place);
  known.set(key, asked);
  return asked;
}

async function fileOf({ command, directory, environment }: ProgramPlace): Promise<string | undefined> {
  const isName = !command.includes('/');
  const candidates = isName
    ? (environment['PATH'] ?? '').split(':').flatMap((folder) => (isAbsolute(folder) ? [join(folder, command)] : []))
    : [resolve(directory, command)];
  for (const path of candidates) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return realpath(path);
  }
  return undefined;
}

async function ask(file: string, { environment }: ProgramPlace): Promise<string | undefined> {
  const running = promisify(execFile)(file, ['--version'], {
    cwd: dirname(file),
    env: environment,
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  running.child.stdin?.end();
  return running.then(
    ({ stdout }) => versionIn(stdout),
    () => undefined,
  );
}
