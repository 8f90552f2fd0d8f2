/** A home that is only checked: everything in it is shown, and it stays as it was, to the last file. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { createHomeSource } from '../../src/node/inspector.ts';
import { temporaryHome } from '../support/temporary-home.ts';

const git = (folder: string, ...words: readonly string[]): void =>
  void execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { stdio: 'pipe' });

/**
 * A home with a session that has changed a file, as somebody brought it here: without the folders that a runtime makes,
 * and with copies of an earlier state.
 */
async function broughtHome(home: string): Promise<string> {
  await using runtime = await createNodeRuntime({ home });
  await runtime.agents.create({
    agentId: 'clerk',
    source: { frontmatter: { name: 'Clerk', provider: 'script', model: 'play.json' }, instructions: '' },
  });
  const state = await runtime.sessions.create({ agentId: 'clerk' });
  await runtime.sessions.send(state.sessionId, { type: 'user.message', text: 'What is new?' });
  const workspace = new HomeLayout(home).ownWorkspace(state);
  await mkdir(workspace, { recursive: true });
  git(workspace, 'init', '-q');
  await writeFile(join(workspace, 'file'), 'before\n');
  git(workspace, 'add', '.');
  git(workspace, 'commit', '-qm', 'begin');
  await writeFile(join(workspace, 'file'), 'after\n');
  await runtime.shutdown();
  for (const name of ['processes', 'task-logs', '.gitignore', 'worktrees'])
    await rm(join(home, name), { recursive: true, force: true });
  await rm(join(new HomeLayout(home).session({ agentId: 'clerk', sessionId: state.sessionId }), 'session.json'));
  return state.sessionId;
}

async function contentOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const contents = entries.map(
    async (entry) =>
      [
        join(entry.parentPath, entry.name),
        entry.isFile() ? (await readFile(join(entry.parentPath, entry.name))).toString('base64') : 'a folder',
      ] as const,
  );
  return Object.fromEntries(await Promise.all(contents));
}

it('stays as it was', async () => {
  const folder = await temporaryHome();
  onTestFinished(() => folder.remove());
  const home = join(folder.path, 'home');
  const sessionId = await broughtHome(home);
  const before = await contentOf(home);
  const runtime = await createNodeRuntime({ home, reconcileOnStart: false, readsOnly: true });
  const source = createHomeSource(runtime, { title: 'a home' });
  expect(await source.sessions({ limit: 9 })).toMatchObject({ total: 1 });
  expect(await source.session(sessionId)).toMatchObject({ state: { sessionId } });
  expect(JSON.stringify(await source.changes(sessionId))).toContain('+after');
  expect((await source.events(sessionId, { from: 1, limit: 9 }))?.events.length).toBeGreaterThan(0);
  source.close();
  await runtime.shutdown();
  expect(await contentOf(home)).toEqual(before);
});
