/**
 * A home that can be read and not written: on a disk that is mounted read-only, and as a user who may only check. Where
 * nothing can be mounted, or this is not root, the tests that need it are skipped, and counted as skipped.
 */
import { execFileSync } from 'node:child_process';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InspectedSession, InspectedSessions } from '../../src/actors/inspection/inspection-source.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { RuntimeError } from '../../src/machines/errors.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { run, start } from './command-line.ts';
import type { CommandLineOptions, Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { visit } from './inspector-visit.ts';
import { runs } from './stage.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** A program of the system, to its end. @throws when it fails */
const call = (name: string, ...words: readonly string[]): void => void execFileSync(name, words, { stdio: 'pipe' });

const mount = (...words: readonly string[]): string | undefined => {
  try {
    call('mount', ...words);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const whyNoMount = await (async () => {
  const probe = await temporaryHome();
  const reason = mount('-t', 'tmpfs', 'tmpfs', probe.path);
  if (reason === undefined) call('umount', probe.path);
  await probe.remove();
  return reason;
})();
if (whyNoMount !== undefined)
  console.warn(`skipped: the tests of a read-only disk need the right to mount a tmpfs (${whyNoMount.trim()})`);
if (!isRoot) console.warn('skipped: the tests of a user who may only read need root to become that user');

/** A home with one session that has something to do. */
async function furnished(home: string): Promise<string> {
  await using runtime = await createNodeRuntime({ home });
  await runtime.agents.create({
    agentId: 'clerk',
    source: { frontmatter: { name: 'Clerk', provider: 'script', model: 'play.json' }, instructions: '' },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'clerk' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'What is new?' });
  return sessionId;
}

/** A session that waits for a permission. */
async function askingIn(home: string): Promise<string> {
  await using runtime = await createNodeRuntime({ home });
  await runtime.agents.create({
    agentId: 'asker',
    source: {
      frontmatter: { name: 'Asker', provider: 'script', model: 'play.json', permission: { mode: 'ask' } },
      instructions: '',
    },
  });
  await writeFile(
    join(home, 'agents', 'asker', 'play.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps: [runs('rm -rf build')] }),
  );
  const { sessionId } = await runtime.sessions.create({ agentId: 'asker' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  await runtime.wake(sessionId);
  return sessionId;
}

const checks = (sessionId: string): readonly (readonly [readonly string[], RegExp])[] => [
  [['session', 'status', '--session', sessionId], /What is new\?|idle/],
  [['session', 'events', '--session', sessionId], /What is new\?/],
  [['session', 'export', '--session', sessionId], /What is new\?/],
  [['session', 'list'], new RegExp(sessionId)],
  [['schedule', 'list'], /^No schedules in /],
];

describe.skipIf(whyNoMount !== undefined)('a home on a disk that is read-only', () => {
  let folder: TemporaryHome;
  let home: string;
  let sessionId: string;
  let asking: string;
  const at = (...words: readonly string[]): Promise<Ended> => runInProcess(['--home', home, ...words]);

  beforeAll(async () => {
    folder = await temporaryHome();
    mount('-t', 'tmpfs', '-o', 'size=4m,mode=0700', 'tmpfs', folder.path);
    home = join(folder.path, 'home');
    sessionId = await furnished(home);
    asking = await askingIn(home);
    mount('-o', 'remount,ro', folder.path);
  });
  afterAll(async () => {
    call('umount', folder.path);
    await folder.remove();
  });

  it('shows all that is in it', async () => {
    for (const [words, expected] of checks(sessionId)) {
      const { code, stdout, stderr } = await at(...words);
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
      expect(stdout).toMatch(expected);
    }
  });

  it('can be inspected; an answer is refused, and says why', { timeout: 60_000 }, async () => {
    const running = start(['inspect', '--session', sessionId, '--home', home], { env: { TMPDIR: undefined } });
    try {
      const browser = await visit(running);
      expect(await browser.json<InspectedSessions>('/api/sessions')).toMatchObject({
        total: 2,
        sessions: [{ sessionId: asking, pendingActions: 1 }, { sessionId }],
      });
      expect(await browser.json<InspectedSession>(`/api/sessions/${sessionId}`)).toMatchObject({
        state: { sessionId },
        pendingActions: [],
      });
      expect((await browser.ask(`/api/sessions/${sessionId}/events`)).text).toContain('What is new?');
      expect((await browser.ask(`/api/records?session=${sessionId}`)).text).toContain('user.message');
      for (const part of ['processes', 'changes'])
        expect((await browser.ask(`/api/sessions/${sessionId}/${part}`)).status).toBe(200);
      const { pendingActions } = await browser.json<InspectedSession>(`/api/sessions/${asking}`);
      expect(
        await browser.answer(asking, { type: 'allow', requestId: pendingActions[0]?.requestId ?? '' }),
      ).toBeGreaterThanOrEqual(500);
      expect((await browser.json<InspectedSession>(`/api/sessions/${asking}`)).pendingActions).toEqual(pendingActions);
      running.process.kill('SIGINT');
      expect(await running.ended).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^(?:note: the inspector: [^\n]*EROFS[^\n]*\n)*$/) as string,
      });
    } finally {
      running.process.kill('SIGKILL');
    }
  });

  it('is healthy, but nothing can be written to it', async () => {
    for (const words of [['doctor'], ['doctor', '--repair']]) {
      const { code, stdout } = await at(...words);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^note {2}.*: nothing can be written to it \(EROFS: .*\n[^]*Healthy: /);
    }
  });

  it.each([
    [(id: string) => ['session', 'send', '--session', id, '--message', 'x']],
    [() => ['session', 'create', '--agent', 'clerk']],
    [(id: string) => ['wake', '--session', id]],
    [() => ['schedule', 'add', '--id', 'nightly', '--cron', '@daily', '--', 'true']],
  ])('refuses to change, and says why', async (words) => {
    const { code, stdout, stderr } = await at(...words(sessionId));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: could not .*EROFS: read-only file system.* \[STORAGE_FAILED\]\n {2}hint: The file system is read-only\. Use a home directory that can be written\.\n {2}more: .* explain STORAGE_FAILED\n$/,
    );
  });

  it('takes messages from the runtime that has it open, as soon as it can be written', async () => {
    await using runtime: NodeRuntime = await createNodeRuntime({ home, reconcileOnStart: false });
    expect((await runtime.sessions.get(sessionId)).pending).toHaveLength(1);
    await expect(runtime.sessions.send(sessionId, { type: 'user.message', text: 'Not now.' })).rejects.toSatisfy(
      (error) => RuntimeError.is(error) && error.code === 'STORAGE_FAILED',
    );
    mount('-o', 'remount,rw', folder.path);
    try {
      const { seq } = await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Now.' });
      expect((await runtime.sessions.get(sessionId)).head).toBe(seq);
      await runtime.sessions.interrupt(sessionId);
    } finally {
      await runtime.shutdown();
      mount('-o', 'remount,ro', folder.path);
    }
  });
});

describe.skipIf(!isRoot)('a user who may only read a home', () => {
  let folder: TemporaryHome;
  let sessionId: string;
  const asNobody: CommandLineOptions = { uid: NOBODY, cwd: '/' };

  beforeAll(async () => {
    folder = await temporaryHome();
    sessionId = await furnished(folder.path);
    for (const entry of await readdir(folder.path, { recursive: true, withFileTypes: true }))
      await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
    // Up to the first folder that anybody may pass through.
    for (let path = folder.path; ((await stat(path)).mode & 0o001) === 0; path = dirname(path))
      await chmod(path, 0o755);
  });
  afterAll(() => folder.remove());

  it('sees all that is in it', async () => {
    for (const [words, expected] of checks(sessionId)) {
      const { code, stdout, stderr } = await run(['--home', folder.path, ...words], asNobody);
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
      expect(stdout).toMatch(expected);
    }
  });

  it('is told why nothing can be sent or scheduled', async () => {
    for (const words of [
      ['session', 'send', '--session', sessionId, '--message', 'x'],
      ['schedule', 'add', '--id', 'nightly', '--cron', '@daily', '--', 'true'],
    ]) {
      const { code, stderr } = await run(['--home', folder.path, ...words], asNobody);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^error: c(?:ould not|annot) .*EACCES: permission denied.*\n {2}hint: (?:Check who owns|Give this user)/,
      );
    }
  });
});
