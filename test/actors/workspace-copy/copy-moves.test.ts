/** Workspace copies of sessions that are copied between a home and a store that machines share. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WorkspaceCopyStore } from '../../../src/actors/workspace-copy/copy-store.ts';
import { fetchCopy, sendCopy } from '../../../src/actors/workspace-copy/copy-moves.ts';
import type { SendCopy, SentCopy } from '../../../src/actors/workspace-copy/copy-moves.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { createHomeCopyFolders } from '../../../src/adapters/workspace-copy-files/home-copy-folders.ts';
import { createMemoryWorkspaceCopyStore } from '../../../src/adapters/memory/memory-workspace-copy-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const identity = { sessionId: 's-1', agentId: 'coder' };
const OTHER = { id: 'other', name: 'other' };
const homes: TemporaryHome[] = [];
let copies: WorkspaceCopyStore;
beforeEach(() => {
  copies = createMemoryWorkspaceCopyStore({ clock: createSystemClock() });
});
afterEach(async () => {
  for (const each of homes.splice(0)) await each.remove();
});

interface Setup {
  readonly layout: HomeLayout;
  file(name: string): string;
  send(session: SessionState, more?: Partial<SendCopy>): Promise<SentCopy>;
  fetch(session: SessionState): ReturnType<typeof fetchCopy>;
}

async function setup(): Promise<Setup> {
  const home = await temporaryHome();
  homes.push(home);
  const layout = new HomeLayout(home.path);
  const folders = createHomeCopyFolders({ layout });
  return {
    layout,
    file: (name) => join(layout.ownWorkspace(identity), name),
    send: (session, more = {}) =>
      sendCopy({ session, folders, to: copies, boundBecause: async () => undefined, isEmpty: false, ...more }),
    fetch: (session) => fetchCopy({ session, from: copies, folders }),
  };
}

const after = (epoch: number, more: Partial<SessionState> = {}): SessionState => ({
  ...initialSessionState(identity),
  epoch,
  ...(epoch === 0
    ? {}
    : { lastWake: { wakeId: `wake_${epoch}`, epoch, endedAt: '2026-01-01T00:00:00.000Z', outcome: 'sleep' } }),
  ...more,
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

it('lays out what was sent, also of a session that nobody has woken yet, and says nothing of one without files', async () => {
  const [one, two] = [await setup(), await setup()];
  expect(await one.send(after(2), { isEmpty: true })).toEqual({ kind: 'none' });
  expect(await copies.latest('s-1')).toBeUndefined();
  expect(await readdir(one.layout.home)).toEqual(['host-id']);
  expect(await two.fetch(after(2))).toEqual({ kind: 'none' });
  await write(one.file('work'), 'of one');
  expect(await one.send(after(0))).toEqual({ kind: 'sent' });
  expect(await one.fetch(after(0))).toEqual({ kind: 'here' });
  expect(await two.fetch(after(0))).toEqual({ kind: 'laid' });
  expect(await readFile(two.file('work'), 'utf8')).toBe('of one');
});

it('says on which machine something newer may be than the copy that is laid out, and where there is no copy at all', async () => {
  const [one, two] = [await setup(), await setup()];
  await write(one.file('work'), 'of one');
  await one.send(after(1));
  await copies.record('s-1', { epoch: 2, host: OTHER });
  expect(await two.fetch(after(2))).toEqual({ kind: 'laid', newerOn: 'other' });
  await copies.forget('s-1');
  await copies.record('s-1', { epoch: 2, host: OTHER });
  expect(await two.fetch(after(2))).toEqual({ kind: 'left', newerOn: 'other' });
});

it('leaves a copy alone that a wake elsewhere has made, and takes its place when the session has gone on in the home', async () => {
  const one = await setup();
  await write(one.file('work'), 'of one');
  await copies.record('s-1', { epoch: 3, host: OTHER });
  expect(await one.send(after(3))).toEqual({ kind: 'theirs' });
  expect(await copies.latest('s-1')).toMatchObject({ epoch: 3, host: OTHER });
  expect(await one.send(after(4))).toEqual({ kind: 'sent' });
  expect(await copies.latest('s-1')).toMatchObject({ epoch: 4, copy: { epoch: 4 } });
});

it('is not said to be a copy before the target has given back what was sent', async () => {
  const one = await setup();
  await write(one.file('work'), 'of one');
  const forgets: WorkspaceCopyStore = { ...copies, get: async () => [] };
  await expect(one.send(after(1), { to: forgets })).rejects.toMatchObject({ code: 'WORKSPACE_COPY_DAMAGED' });
  expect(await copies.latest('s-1')).toBeUndefined();
  expect(await one.send(after(1))).toEqual({ kind: 'sent' });
});

it('copies nothing of what is bound, also where that is known only by the folder it was given, and nothing as long as nobody can tell', async () => {
  const one = await setup();
  await write(one.file('work'), 'of one');
  expect(await one.send(after(1), { boundBecause: async () => 'it is ours' })).toEqual({
    kind: 'stays',
    reason: 'it is ours',
  });
  expect(await copies.latest('s-1')).toMatchObject({ epoch: 1, bound: 'it is ours' });
  expect((await copies.latest('s-1'))?.copy).toBeUndefined();
  const fails = (code: string) => async (): Promise<undefined> =>
    Promise.reject(new RuntimeError(code, 'no', { category: 'not_found' }));
  expect(await one.send(after(2, { workspace: '/given' }), { boundBecause: fails('AGENT_NOT_FOUND') })).toMatchObject({
    kind: 'stays',
    reason: expect.stringContaining('/given') as string,
  });
  await expect(one.send(after(3), { boundBecause: fails('ENVIRONMENT_INVALID') })).rejects.toMatchObject({
    code: 'ENVIRONMENT_INVALID',
  });
  expect((await copies.latest('s-1'))?.epoch).toBe(2);
});
