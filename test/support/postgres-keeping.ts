/** Starts programs under a keeper (postgres-keeper.mjs), which ends them when whoever needs them is gone. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { PROGRAM_USER, postgresRun } from './postgres-run.ts';

export interface KeptProgram {
  readonly program: string;
  readonly words: readonly string[];
  /** For its log, and for the keeper's note of who it is. */
  readonly folder: string;
  /** What ends it at once. */
  readonly endSignal: NodeJS.Signals;
}

export const KEEPER = fileURLToPath(new URL('postgres-keeper.mjs', import.meta.url));
const MAIN = { pid: postgresRun.mainPid, folder: postgresRun.folder };
/**
 * Below those that the system gives to outgoing connections, so that a server finds its own free when it comes back.
 */
const PORTS = { from: 12_000, to: 32_000 } as const;

/**
 * Ends with this process and with the run, and takes its folder with it. SIGTERM for the keeper ends it before, and
 * leaves the folder.
 */
export function keepForThisProcess(program: KeptProgram): ChildProcess {
  const job = JSON.stringify({
    ...program,
    ...PROGRAM_USER,
    watched: [{ pid: process.pid, folder: program.folder }, MAIN],
  });
  return spawn(process.execPath, [KEEPER, job], { stdio: 'ignore', detached: true });
}

/** Ends with the run. It is nobody's child, because who starts it for all files is done before they are. */
export async function keepForTheRun(program: KeptProgram): Promise<void> {
  const job = JSON.stringify({ ...program, ...PROGRAM_USER, watched: [MAIN] });
  const words = ['-c', '"$0" "$@" </dev/null >/dev/null 2>&1 &', process.execPath, KEEPER, job];
  await once(
    spawn('sh', words, { cwd: '/', env: { PATH: process.env['PATH'] ?? '' }, stdio: 'ignore', detached: true }),
    'close',
  );
}

/** Whether it has not ended. */
export function isKept(keeper: ChildProcess | undefined): keeper is ChildProcess {
  return keeper !== undefined && keeper.exitCode === null && keeper.signalCode === null;
}

/** @returns when nothing of what it started runs any more */
export async function endKept(keeper: ChildProcess | undefined): Promise<void> {
  if (!isKept(keeper)) return;
  const end = once(keeper, 'close');
  keeper.kill('SIGTERM');
  await end;
}

/** Free a moment ago: somebody else may take it in between. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
