/**
 * Runs a server as its only child, and ends it when it is told to or when a process is gone for whose sake it runs:
 * killed with SIGKILL, that one could clean up nothing. Called with one word of JSON: { watched: [{ pid, folder }],
 * program, words, endSignal, uid, gid, folder }. The folder of each watched process goes with it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CHECK_MS = 250;
const PATIENCE_MS = 5_000;

const { watched, program, words, endSignal, uid, gid, folder } = JSON.parse(process.argv[2] ?? '');
const pidFile = join(folder, 'keeper.pid');
const log = openSync(join(folder, 'log'), 'a');

// The last of these is held by all that the server starts and keeps: it is closed when the last of them is gone, which
// may be after the first.
const server = spawn(program, words, {
  cwd: '/',
  env: { PATH: process.env['PATH'] },
  stdio: ['ignore', log, log, 'pipe'],
  uid,
  gid,
});
server.stdio[3]?.once('data', () => undefined);
server.on('error', (error) => writeFileSync(log, `${error}\n`));
server.on('close', (code, signal) => {
  if (signal === 'SIGKILL') removeMemory();
  rmSync(pidFile, { force: true });
  for (const each of watched) if (!isAlive(each)) remove(each);
  process.exit(code ?? 1);
});
writeFileSync(pidFile, `${process.pid}`);

const checking = setInterval(() => {
  if (!watched.every(isAlive)) end();
}, CHECK_MS);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, end);

function end() {
  clearInterval(checking);
  server.kill(endSignal);
  setTimeout(() => server.kill('SIGKILL'), PATIENCE_MS).unref();
}

/**
 * Shared memory of System V belongs to no process: PostgreSQL says in its pid file which it has, for whoever comes
 * after one that was killed.
 */
function removeMemory() {
  try {
    const [, id = ''] =
      readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n').at(6)?.trim().split(/\s+/) ?? [];
    execFileSync('ipcrm', ['-m', id], { stdio: 'ignore' });
  } catch {
    // It has none, or it is gone.
  }
}

/** @param {{ pid: number }} watched */
function isAlive({ pid }) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** @param {{ folder: string }} gone */
function remove(gone) {
  try {
    rmSync(gone.folder, { recursive: true, force: true, maxRetries: 10 });
  } catch {
    // Others remove it at the same time.
  }
}
