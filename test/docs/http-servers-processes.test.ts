/** The servers of docs/http.md as they stand there, asked by clients over real sockets. Next: scripts/pack-next.mjs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HTTP_CHECKS, endsWithOpenStreams, prepareServer, writeFromPage } from '../../scripts/http-checks.mjs';
import { checkout } from './pages.ts';
import { readersFolder, removeFolders } from './running-pages.ts';

afterAll(removeFolders);

describe.each(['node', 'express', 'fastify', 'hono'])('the server of the page with %s', (server) => {
  let at = '';
  let end = async (): Promise<unknown> => undefined;

  beforeAll(async () => {
    const folder = await readersFolder();
    for (const name of ['express', 'fastify', 'hono', '@hono'])
      await symlink(join(checkout, 'node_modules', name), join(folder, 'node_modules', name));
    for (const name of ['agent.mjs', `${server}.mjs`]) writeFromPage(folder, name);
    const { home, yours } = prepareServer(folder);
    const child = spawn(process.execPath, ['--import', yours, `${server}.mjs`], {
      cwd: folder,
      env: { ...process.env, WAKECHART_HOME: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    end = async () => {
      child.kill('SIGTERM');
      return exited;
    };
    for await (const line of createInterface({ input: child.stdout })) {
      at = line;
      break;
    }
  });
  afterAll(() => end());

  it.each(Object.entries(HTTP_CHECKS))('%s', async (_, check) => {
    await expect(check(at)).resolves.toBeUndefined();
  });

  it('ends when it is told to, though a client holds a stream open', async () => {
    await expect(endsWithOpenStreams(at, end)).resolves.toBeUndefined();
  });
});
