/** What following tasks of another process leaves behind: nothing. Counted in processes that no other test shares. */
import { execFile } from 'node:child_process';
import { readlinkSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node/node-runtime.ts';
import { startTaskOwner } from '../support/task-owner.ts';
import { temporaryHome } from '../support/temporary-home.ts';

const SCRIPT = fileURLToPath(new URL('../support/many-followed-tasks.mjs', import.meta.url));
const FOLLOWED = 200;

/** Of what it has open, those who follow are among these; so are the tasks that run, of which there is one in the end. */
function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => linkOf(`${folder}/${name}`).startsWith('socket:')).length;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return '';
  }
}

it.skipIf(process.platform !== 'linux')(
  'following 200 tasks one after another leaves as many descriptors, handles and listeners as there were',
  { timeout: 180_000 },
  async () => {
    const home = await temporaryHome();
    const commands = Array.from({ length: FOLLOWED + 6 }, () => "echo one; printf 'two: '; read -r line; echo $line");
    const owner = await startTaskOwner(home.path, commands);
    try {
      const sockets = socketsOf(owner.pid);
      const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, home.path]);
      const { before, after, followed } = JSON.parse(stdout) as Record<string, unknown>;
      expect(followed).toBe(FOLLOWED);
      expect(after).toEqual(before);
      await expect.poll(() => socketsOf(owner.pid)).toBeLessThanOrEqual(sockets);
    } finally {
      await owner.kill();
      const runtime = await createNodeRuntime({ home: home.path });
      await runtime.shutdown();
      await home.remove();
    }
  },
);
