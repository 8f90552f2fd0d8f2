/**
 * Sessions that are woken on several machines, each with a home of its own: what they work in comes along, or they are
 * left alone.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkspaceCopyStore, WorkspaceCopyRecord } from '../../../src/actors/workspace-copy/copy-store.ts';
import type { WorkspaceCopyFolders } from '../../../src/actors/workspace-copy/copy-folders.ts';
import { createWorkspaceCopies } from '../../../src/actors/workspace-copy/workspace-copies.ts';
import type { ArrivedWorkspaceCopy, WorkspaceCopies } from '../../../src/actors/workspace-copy/workspace-copies.ts';
import { createSharedAttachments } from '../../../src/actors/workspace-copy/shared-attachments.ts';
import { WakeWorkspaceCopy } from '../../../src/actors/wake/wake-workspace-copy.ts';
import { createAttachmentFiles } from '../../../src/adapters/files/attachment-files.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { createHomeCopyFolders } from '../../../src/adapters/workspace-copy-files/home-copy-folders.ts';
import { createMemoryWorkspaceCopyStore } from '../../../src/adapters/memory/memory-workspace-copy-store.ts';
import type { WorkspaceCopyLimits } from '../../../src/machines/workspace-copy/copy-limits.ts';
import type { HomeHost } from '../../../src/machines/workspace-copy/copy-state.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { TurnSetup } from '../../support/turn-setup.ts';

interface Machine {
  readonly runtime: Runtime;
  readonly layout: HomeLayout;
  readonly folders: WorkspaceCopyFolders;
  path(sessionId: string, name: string): string;
  host(): Promise<HomeHost>;
}

let setup: TurnSetup;
let copies: WorkspaceCopyStore;
let limits: WorkspaceCopyLimits | undefined;
/** By the session that is bound. */
const bounds = new Map<string, string>();
beforeEach(async () => {
  setup = await openTurnSetup();
  copies = createMemoryWorkspaceCopyStore({ clock: setup.clock });
  limits = undefined;
  bounds.clear();
});
afterEach(() => setup[Symbol.asyncDispose]());

async function machine(name: string, over: WorkspaceCopyStore = copies): Promise<Machine> {
  const layout = new HomeLayout(join(setup.layout.home, 'machines', name));
  await mkdir(layout.home, { recursive: true });
  const folders = createHomeCopyFolders({ layout });
  const host = async (): Promise<HomeHost> => ({ ...(await folders.host()), name });
  const named: WorkspaceCopyFolders = { ...folders, host };
  const { reported } = setup;
  const workspaceCopies = createWorkspaceCopies({
    copies: over,
    folders: named,
    boundBecause: async ({ sessionId }) => bounds.get(sessionId),
    limits,
    onTrouble: (error) => void reported.push(error),
  });
  const attachments = createSharedAttachments({ attachments: createAttachmentFiles(layout), copies: over, folders });
  const runtime = setup.open({ directories: layout, workspaceCopies, attachments, owner: `${name}:1` });
  return {
    runtime,
    layout,
    folders,
    host,
    path: (sessionId, file) => join(layout.ownWorkspace({ sessionId, agentId: 'coder' }), file),
  };
}

/** A coder that writes what it is told, and says what it finds. */
async function coder(): Promise<void> {
  await setup.agent('coder', async ({ workspaceDir, messages = [] }) => {
    const last = messages.at(-1)?.content.at(-1);
    const said = last?.type === 'text' ? last.text : '';
    const [file = 'none', ...words] = said.split(' ');
    const path = join(workspaceDir, file);
    const before = await readFile(path, 'utf8').catch(() => 'nothing');
    if (words.length > 0) await writeFile(path, words.join(' '));
    return { text: `It was: ${before}` };
  });
}

async function tell({ runtime }: Machine, sessionId: string, text: string): Promise<string> {
  await runtime.sessions.send(sessionId, { type: 'user.message', text });
  await runtime.wake(sessionId);
  return (await setup.dataOf(sessionId, 'agent.message')).at(-1)?.text ?? '';
}

/**
 * Copies whose records are kept, up to the first of an epoch that `isLast` names: there the process of that machine
 * dies.
 */
function dyingAfter(isLast: (record: WorkspaceCopyRecord) => boolean): WorkspaceCopyStore {
  return {
    ...copies,
    record: async (sessionId, record) => {
      await copies.record(sessionId, record);
      if (isLast(record)) throw new Error('killed');
    },
  };
}

async function newSession(): Promise<string> {
  await coder();
  return (await setup.runtime.sessions.create({ agentId: 'coder' })).sessionId;
}

describe('a session that is woken on another machine', () => {
  it('finds what it worked in as the last wake left it, and is told', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    expect(await tell(two, sessionId, 'notes.md second')).toBe('It was: first');
    expect(await setup.dataOf(sessionId, 'workspace.restored')).toEqual([
      { from: 'one', host: 'two', copyEpoch: 1, files: 2, bytes: 5, fetchedBytes: 5, mayHaveLost: false },
    ]);
    expect(setup.asked.at(-1)?.read).toContain(
      'This session goes on on another machine (two, before it was on one). Its folder was laid out again from the copy made at the end of wake 1.',
    );
    expect(await tell(one, sessionId, 'notes.md')).toBe('It was: second');
    expect(await copies.latest(sessionId)).toMatchObject({ epoch: 3, host: { name: 'one' }, copy: { epoch: 3 } });
    expect(setup.reported).toEqual([]);
  });

  it('costs nothing on the machine that it was on: what lies there counts, newer than any copy', async () => {
    const one = await machine('one');
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    await writeFile(one.path(sessionId, 'notes.md'), 'by hand');
    expect(await tell(one, sessionId, 'notes.md')).toBe('It was: by hand');
    expect(await setup.dataOf(sessionId, 'workspace.restored')).toEqual([]);
  });

  it('goes on from the last copy when the machine before died in the middle, is told so, and loses nothing there', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    // A process of the machine that dies in the middle of a wake: the log has its beginning, and the folder what it
    // did.
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'notes.md' });
    await diesInTheMiddle(one, sessionId, 'half done');
    expect(await tell(two, sessionId, 'notes.md second')).toBe('It was: first');
    expect((await setup.dataOf(sessionId, 'workspace.restored')).at(-1)).toMatchObject({
      copyEpoch: 1,
      mayHaveLost: true,
    });
    expect(setup.asked.at(-1)?.read).toContain('What was changed in it since is not here and stays on one');
    expect(await tell(one, sessionId, 'notes.md')).toBe('It was: second');
    const { setAside } = (await setup.dataOf(sessionId, 'workspace.restored')).at(-1) ?? {};
    expect(await readFile(join(setAside ?? '', 'workspace', 'notes.md'), 'utf8')).toBe('half done');
  });

  it('is told when no copy was ever made', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'notes.md' });
    await diesInTheMiddle(one, sessionId, 'half done');
    expect(await tell(two, sessionId, 'notes.md')).toBe('It was: nothing');
    expect(await setup.dataOf(sessionId, 'workspace.restored')).toEqual([
      { from: 'one', host: 'two', files: 0, bytes: 0, fetchedBytes: 0, mayHaveLost: true },
    ]);
  });

  it('is told what may be lost also when a process has died between laying the folder out and the beginning of its wake', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    await tell(two, sessionId, 'notes.md second');
    await tell(one, sessionId, 'notes.md third');
    await writeFile(two.path(sessionId, 'by-hand.md'), 'by hand');
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'notes.md' });
    await diesInTheMiddle(one, sessionId, 'half done');
    await expect(
      (
        await machine(
          'two',
          dyingAfter(() => true),
        )
      ).runtime.wake(sessionId),
    ).rejects.toThrow('killed');
    const { epoch } = (await copies.latest(sessionId)) ?? {};
    const told = (await setup.dataOf(sessionId, 'workspace.restored')).length;
    await tell(two, sessionId, 'notes.md');
    const restored = (await setup.dataOf(sessionId, 'workspace.restored')).slice(told);
    expect(restored).toEqual([
      expect.objectContaining({
        from: 'one',
        host: 'two',
        copyEpoch: 3,
        mayHaveLost: true,
        setAside: expect.stringMatching(new RegExp(`before-${epoch}$`, 'u')) as string,
      }),
    ]);
    expect(setup.asked.at(-1)?.read).toContain('What was changed in it since is not here and stays on one');
  });

  it('goes on with what it did where it did it, when a wake that never began has spoken for another machine', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    await diesInTheMiddle(one, sessionId, 'half done');
    const state = await setup.state(sessionId);
    await workspaceCopiesOf(two).arrive(state, { epoch: 3 });
    expect((await workspaceCopiesOf(one).arrive(state, { epoch: 4 })).notes).toEqual([]);
    expect(await readFile(one.path(sessionId, 'notes.md'), 'utf8')).toBe('half done');
    expect(await copies.latest(sessionId)).toMatchObject({ epoch: 4, host: { name: 'one' } });
  });

  it('is told what may be lost when the wake before died after its copy was made', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'notes.md' });
    const died = await diesInTheMiddle(one, sessionId, 'half done');
    await died.leave();
    await writeFile(one.path(sessionId, 'notes.md'), 'done after the copy, for a message that had come meanwhile');
    expect(await tell(two, sessionId, 'notes.md')).toBe('It was: half done');
    expect((await setup.dataOf(sessionId, 'workspace.restored')).at(-1)).toMatchObject({
      copyEpoch: 2,
      mayHaveLost: true,
    });
  });

  it('checks again where its folder is when another wake has begun before its own could', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    const arrived = new WakeWorkspaceCopy(workspaceCopiesOf(one));
    expect((await arrived.arrive(await setup.state(sessionId), { epoch: 3 }))?.notes).toEqual([]);
    await arrivesAndDies(two, sessionId, 2);
    const after = await setup.state(sessionId);
    expect((await arrived.arrive(after, { epoch: 3 }))?.notes).toMatchObject([
      { data: { from: 'two', host: 'one', mayHaveLost: true } },
    ]);
    expect(await arrived.arrive(after, { epoch: 5 })).toBe(await arrived.arrive(after, { epoch: 5 }));
  });

  it('finds attachments that came in on yet another one', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    const file = join(setup.layout.home, 'picture.txt');
    await writeFile(file, 'a picture');
    await two.runtime.sessions.send(sessionId, {
      type: 'user.message',
      text: 'notes.md',
      attachments: [{ path: file }],
    });
    await one.runtime.wake(sessionId);
    const [attachment] = (await setup.dataOf(sessionId, 'user.message')).flatMap(({ attachments = [] }) => attachments);
    expect(await readFile(one.path(sessionId, attachment?.path ?? ''), 'utf8')).toBe('a picture');
    expect((await copies.latest(sessionId))?.added).toEqual([]);
    const three = await machine('three');
    await tell(three, sessionId, 'notes.md');
    expect(await readFile(three.path(sessionId, attachment?.path ?? ''), 'utf8')).toBe('a picture');
  });
});

describe('a copy', () => {
  it('is there before the log says that the wake is over', async () => {
    let endsSeen = -1;
    const watched: WorkspaceCopyStore = {
      ...copies,
      record: async (sessionId, record) => {
        if (record.copy !== undefined) endsSeen = (await setup.dataOf(sessionId, 'wake.ended')).length;
        return copies.record(sessionId, record);
      },
    };
    const sessionId = await newSession();
    await tell(await machine('one', watched), sessionId, 'notes.md first');
    expect(endsSeen).toBe(0);
  });

  it('of a wake that was taken over never replaces a newer one', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    const zombie = createWorkspaceCopies({
      copies,
      folders: { ...one.folders, host: one.host },
      boundBecause: async () => undefined,
      onTrouble: (error) => void setup.reported.push(error),
    });
    const held = await zombie.arrive(await setup.state(sessionId), { epoch: 2 });
    await tell(two, sessionId, 'notes.md second');
    await writeFile(one.path(sessionId, 'notes.md'), 'by a zombie');
    const newest = await copies.latest(sessionId);
    await expect(held.leave()).rejects.toMatchObject({ code: 'WORKSPACE_COPY_SUPERSEDED' });
    expect(await copies.latest(sessionId)).toEqual(newest);
    expect(await tell(one, sessionId, 'notes.md')).toBe('It was: second');
  });

  it('that cannot be made for its size keeps the session where it is, until it can', async () => {
    limits = { maxFiles: 100, maxBytes: 10 };
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md much more than ten bytes');
    expect(await setup.dataOf(sessionId, 'workspace.not_copied')).toEqual([
      {
        code: 'WORKSPACE_COPY_TOO_LARGE',
        reason: expect.stringContaining('expected at most 10 bytes, received 24') as string,
        staysHere: true,
      },
    ]);
    await expect(tell(two, sessionId, 'notes.md')).rejects.toMatchObject({ code: 'WORKSPACE_COPY_ELSEWHERE' });
    await tell(one, sessionId, 'notes.md less');
    expect((await setup.dataOf(sessionId, 'workspace.not_copied')).length).toBe(1);
    expect(await tell(two, sessionId, 'notes.md')).toBe('It was: less');
  });

  it('that cannot be made for a trouble of the moment is made by the next wake, and the log says so', async () => {
    let isAway = true;
    const troubled: WorkspaceCopyStore = {
      ...copies,
      put: (...put) => (isAway ? Promise.reject(new Error('the bucket is away')) : copies.put(...put)),
    };
    const one = await machine('one', troubled);
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    expect(await setup.dataOf(sessionId, 'workspace.not_copied')).toEqual([
      { code: 'WORKSPACE_COPY_NOT_COPIED', reason: 'the bucket is away', staysHere: false },
    ]);
    expect((await setup.dataOf(sessionId, 'wake.ended')).map(({ outcome }) => outcome)).toEqual(['sleep']);
    isAway = false;
    await tell(one, sessionId, 'notes.md');
    expect(await copies.latest(sessionId)).toMatchObject({ copy: { epoch: 2 } });
    expect(await tell(await machine('two'), sessionId, 'notes.md')).toBe('It was: first');
  });
});

describe('a copy that cannot be made', () => {
  it('is told of by the next wake when the process died that had found so', async () => {
    limits = { maxFiles: 100, maxBytes: 10 };
    const one = await machine('one');
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md less');
    await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'notes.md' });
    const died = await diesInTheMiddle(one, sessionId, 'much more than ten bytes');
    expect(await died.leave()).toMatchObject([{ type: 'workspace.not_copied' }]);
    await tell(one, sessionId, 'notes.md');
    await tell(one, sessionId, 'notes.md');
    expect((await setup.dataOf(sessionId, 'workspace.not_copied')).map(({ code }) => code)).toEqual([
      'WORKSPACE_COPY_TOO_LARGE',
    ]);
  });
});

describe('a session that is bound to its machine', () => {
  it('is refused by others with the name of its home, and nothing of it is in the log', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    bounds.set(sessionId, 'its environment "gpu" is bound');
    await tell(one, sessionId, 'notes.md first');
    await two.runtime.sessions.send(sessionId, { type: 'user.message', text: 'notes.md' });
    const { head } = await setup.state(sessionId);
    await expect(two.runtime.wake(sessionId)).rejects.toMatchObject({
      code: 'WORKSPACE_COPY_ELSEWHERE',
      message: expect.stringContaining('is left to its home one: its environment "gpu" is bound') as string,
    });
    expect((await setup.state(sessionId)).head).toBe(head);
    expect(await setup.due()).toEqual([sessionId]);
    expect(await tell(one, sessionId, 'notes.md')).toBe('It was: first');
    expect((await copies.latest(sessionId))?.copy).toBeUndefined();
  });

  it('is set aside by the worker of another machine, later and later, and comes to the one of its home', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    bounds.set(sessionId, 'so it is');
    await tell(one, sessionId, 'notes.md first');
    await two.runtime.sessions.send(sessionId, { type: 'user.message', text: 'notes.md' });
    const worker = two.runtime.startWorker();
    const told: string[] = [];
    worker.events$.subscribe((event) =>
      told.push(event.type === 'contended' ? `contended ${event.reason?.code ?? ''}` : event.type),
    );
    for (let round = 0; round < 4; round += 1) {
      await expect.poll(() => worker.status().setAside[0]?.attempts).toBe(round + 1);
      expect(worker.status().setAside[0]).toMatchObject({
        sessionId,
        phase: 'elsewhere',
        reason: { code: 'WORKSPACE_COPY_ELSEWHERE', details: { host: 'one' } },
      });
      await setup.clock.advance(1_000 * 2 ** round);
    }
    expect(new Set(told.filter((type) => type !== 'woke' && type !== 'idle'))).toEqual(
      new Set(['contended WORKSPACE_COPY_ELSEWHERE']),
    );
    await one.runtime.wake(sessionId);
    expect((await setup.dataOf(sessionId, 'agent.message')).at(-1)?.text).toBe('It was: first');
    await worker.stop();
  });

  it('goes anywhere once a person has released it', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    const sessionId = await newSession();
    await tell(one, sessionId, 'notes.md first');
    bounds.set(sessionId, 'so it is');
    await tell(one, sessionId, 'notes.md second');
    await expect(tell(two, sessionId, 'notes.md')).rejects.toMatchObject({ code: 'WORKSPACE_COPY_ELSEWHERE' });
    await copies.release(sessionId, 3);
    expect(await tell(two, sessionId, 'notes.md')).toBe('It was: first');
    await expect(tell(one, sessionId, 'notes.md')).rejects.toMatchObject({
      code: 'WORKSPACE_COPY_ELSEWHERE',
      details: { host: 'two' },
    });
  });

  it('is left alone where the folder is missing that it was given, but at home', async () => {
    const [one, two] = [await machine('one'), await machine('two')];
    await coder();
    const given = join(setup.layout.home, 'project');
    const [sessionId, other] = [await givenSession(given), await givenSession(join(setup.layout.home, 'nowhere'))];
    await mkdir(given);
    await tell(one, sessionId, 'notes.md first');
    expect(await readFile(join(given, 'notes.md'), 'utf8')).toBe('first');
    await rm(given, { recursive: true });
    await expect(tell(two, sessionId, 'notes.md')).rejects.toMatchObject({
      code: 'WORKSPACE_COPY_ELSEWHERE',
      message: expect.stringContaining('which is not on two') as string,
    });
    await expect(tell(two, other, 'notes.md')).rejects.toMatchObject({
      code: 'WORKSPACE_COPY_ELSEWHERE',
      message: expect.stringContaining('the machine that has its folder') as string,
    });
    expect(await tell(one, sessionId, 'notes.md')).toBe('It was: nothing');
  });
});

async function givenSession(workspace: string): Promise<string> {
  const { sessionId } = await setup.runtime.sessions.create({ agentId: 'coder' });
  const { store } = setup;
  const other = sessionId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  const [created, ...rest] = await store.read(sessionId);
  if (created?.type !== 'session.created') throw new Error('expected a session to begin with its creation');
  const { id, at, type, v } = created;
  await store.create({ sessionId: other, agentId: 'coder' }, [
    { id, at, type, v, data: { ...created.data, workspace } },
    ...rest,
  ]);
  return other;
}

function workspaceCopiesOf({ folders, host }: Machine): WorkspaceCopies {
  return createWorkspaceCopies({
    copies,
    folders: { ...folders, host },
    boundBecause: async () => undefined,
    limits,
    onTrouble: () => undefined,
  });
}

/**
 * Does what a wake does that is killed after it has worked and before it could leave a copy. @returns what it could
 * have left one with
 */
async function diesInTheMiddle(on: Machine, sessionId: string, text: string): Promise<ArrivedWorkspaceCopy> {
  const { store } = setup;
  const before = await setup.state(sessionId);
  const right = await store.acquireWakeRight(sessionId, { epoch: before.epoch, isOpen: false });
  const arrived = await arrivesAndDies(on, sessionId, right.epoch);
  await mkdir(on.layout.ownWorkspace(before), { recursive: true });
  await writeFile(on.path(sessionId, 'notes.md'), text);
  await right.release();
  return arrived;
}

async function arrivesAndDies(on: Machine, sessionId: string, epoch: number): Promise<ArrivedWorkspaceCopy> {
  const arrived = await workspaceCopiesOf(on).arrive(await setup.state(sessionId), { epoch });
  const beginning = { wakeId: 'wake_dead', epoch, owner: 'one:9', queuedWakeIds: [], host: arrived.host };
  await setup.store.append(sessionId, [
    {
      id: '01900000-0000-7000-8000-00000000dead',
      type: 'wake.started',
      v: 1,
      at: '2026-01-01T00:00:00.000Z',
      data: beginning,
      epoch,
    },
  ]);
  return arrived;
}
