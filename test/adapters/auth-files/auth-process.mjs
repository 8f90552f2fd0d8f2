/**
 * A process that uses accounts and the health of candidates beside others, or is killed at a step of its own choosing.
 *
 *   argv: directory, what to do, and for that:
 *     report NAME COUNT   reports COUNT failures, each of a candidate of its own, and prints its model once it is kept
 *     probe COUNT         asks COUNT times to probe one candidate, gives each probe back, and prints when it had it
 *     die WHAT NUMBER     does WHAT (profiles, candidateHealth), and is killed before the NUMBERth change of the file system, from 0 on
 */
import { writeSync } from 'node:fs';
import fileSystem from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const [directory = '', task = '', first = '', second = ''] = process.argv.slice(2);

const load = async () => ({
  ...(await import('../../../dist/adapters/auth-files/file-auth-profiles.js')),
  ...(await import('../../../dist/adapters/auth-files/file-candidate-health-store.js')),
  ...(await import('../../../dist/adapters/system/process-lock.js')),
});

/**
 * Kills this process before a change of the file system.
 *
 * @param {number} number
 */
async function dieBefore(number) {
  let left = number;
  /** @type {(object: object, name: string) => void} */
  const counted = (object, name) => {
    const original = Reflect.get(object, name);
    /** @this {unknown} @param {unknown[]} parameters @returns {unknown} */
    const replacement = function (...parameters) {
      if (left === 0) process.kill(process.pid, 'SIGKILL');
      left -= 1;
      return original.apply(this, parameters);
    };
    Reflect.set(object, name, replacement);
  };
  for (const name of ['mkdir', 'rename', 'unlink', 'link', 'symlink', 'rm']) counted(fileSystem, name);
  const handle = await fileSystem.open(join(directory, '..'), 'r');
  const handles = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of ['writeFile', 'sync', 'close']) counted(handles, name);
  const open = fileSystem.open;
  fileSystem.open = (path, flags, ...rest) => {
    if (flags === 'wx' && left === 0) process.kill(process.pid, 'SIGKILL');
    if (flags === 'wx') left -= 1;
    return open(path, flags, ...rest);
  };
  syncBuiltinESMExports();
}

if (task === 'die') await dieBefore(Number(second));
const { createFileAuthProfiles, createFileCandidateHealthStore, underLock } = await load();
const candidateHealth = createFileCandidateHealthStore({ directory, clock: Date, exclusively: underLock });
/** @type {import('../../../src/machines/run/health-table.ts').HealthReport} */
const failed = { kind: 'failed', failure: { kind: 'overloaded', message: 'no' } };

if (task === 'report') {
  for (let number = 1; number <= Number(second); number += 1) {
    const model = `${first}-${number}`;
    await candidateHealth.report({ provider: 'p', model }, failed);
    writeSync(1, `${model}\n`);
  }
}

if (task === 'probe') {
  const candidate = { provider: 'p', model: 'm' };
  for (let number = 0; number < Number(first); number += 1) {
    const admission = await candidateHealth.admit(candidate);
    if (admission.kind === 'refused') continue;
    writeSync(1, `+ ${process.hrtime.bigint()}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    writeSync(1, `- ${process.hrtime.bigint()}\n`);
    await candidateHealth.report(candidate, { kind: 'abandoned' }, { isProbe: true });
  }
}

if (task === 'die' && first === 'candidateHealth')
  await candidateHealth.report({ provider: 'p', model: 'second' }, failed);
if (task === 'die' && first === 'profiles') {
  const profiles = createFileAuthProfiles({
    directory,
    clock: { steadyNow: () => 0 },
    environment: {},
    exclusively: underLock,
    runCommand: async () => ({ kind: 'failed', because: 'is not run here' }),
  });
  await profiles.add({ id: 'second', provider: 'p', secret: { env: 'SECOND' } });
}
writeSync(1, 'done\n');
