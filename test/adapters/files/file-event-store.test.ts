import { mkdir, readFile, readdir, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { openLogsWithin } from '../../../src/adapters/files/log-cache.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { FileEventStoreOptions } from '../../../src/adapters/files/file-event-store.ts';
import { codeOf, describeEventStore } from '../../contracts/event-store.contract.ts';
import {
  AGENT_ID,
  IDENTITY,
  SESSION_ID,
  created,
  foldAll,
  idOf,
  message,
  newEvent,
  queued,
} from '../../support/session-events.ts';
import { openFilesOf } from '../../setup/open-files.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const clock = createSimulatedClock();

for (const [name, options] of [
  ['the file store', {}],
  ['the file store without sync', { durability: 'os' }],
] as const satisfies readonly (readonly [string, Partial<FileEventStoreOptions>])[]) {
  describeEventStore(name, async () => {
    const home = await temporaryHome();
    const store = new FileEventStore({ home: home.path, clock, ...options });
    return {
      store,
      async dispose() {
        await store.close();
        await home.remove();
      },
    };
  });
}

describe('the file store', () => {
  let home: TemporaryHome;
  const opened: FileEventStore[] = [];
  const open = (options: Partial<FileEventStoreOptions> = {}): FileEventStore => {
    const store = new FileEventStore({ home: home.path, clock, ...options });
    opened.push(store);
    return store;
  };
  const folder = (): string => join(home.path, 'agents', AGENT_ID, 'sessions', SESSION_ID);
  const log = (): string => join(folder(), 'events.jsonl');

  beforeEach(async () => {
    home = await temporaryHome();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await home.remove();
  });

  it('lays a session out in its folder, for its owner only', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created), newEvent(2, queued('q'))]);
    await store.saveView(foldAll(await store.read(SESSION_ID)));
    expect((await readdir(folder())).toSorted()).toEqual([
      'events.end',
      'events.jsonl',
      'runtime',
      'session.json',
      'workspace',
    ]);
    for (const name of ['events.end', 'events.jsonl', 'session.json'])
      expect((await stat(join(folder(), name))).mode & 0o777).toBe(0o600);
    for (const name of ['.', '..', '../..', 'runtime', 'workspace'])
      expect((await stat(join(folder(), name))).mode & 0o777).toBe(0o700);
  });

  it('writes one JSON object per line, which any tool can read', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    await store.append(SESSION_ID, [newEvent(2, message('one\ntwo')), newEvent(3, message('three'))]);
    const lines = (await readFile(log(), 'utf8')).split('\n').filter((line) => line !== '');
    const records = lines.map((line) => JSON.parse(line) as { record: { events: { id: string }[] } });
    expect(records.map(({ record }) => record.events.map(({ id }) => id))).toEqual([[idOf(1)], [idOf(2), idOf(3)]]);
  });

  it('finds everything again in another process’s place', async () => {
    const first = open();
    await first.create(IDENTITY, [newEvent(1, created)]);
    await first.append(SESSION_ID, [newEvent(2, message('x'))], { idempotencyKey: 'k' });
    await first.close();
    const second = open();
    expect(await second.identify(SESSION_ID)).toEqual(IDENTITY);
    expect(await second.append(SESSION_ID, [newEvent(3, message('y'))], { idempotencyKey: 'k' })).toMatchObject({
      isDuplicate: true,
      events: [{ id: idOf(2) }],
    });
    expect(await second.head(SESSION_ID)).toBe(2);
  });

  it('sees what others append to the same file, and numbers its own behind it', async () => {
    const one = open();
    const other = open();
    await one.create(IDENTITY, [newEvent(1, created)]);
    await other.append(SESSION_ID, [newEvent(2, message('other'))]);
    expect(await one.append(SESSION_ID, [newEvent(3, message('one'))])).toMatchObject({ events: [{ seq: 3 }] });
    expect(await codeOf(other.append(SESSION_ID, [newEvent(4, message('x'))], { expectedHead: 2 }))).toBe('HEAD_MOVED');
    expect((await other.read(SESSION_ID)).map(({ id }) => id)).toEqual([1, 2, 3].map(idOf));
  });

  it('agrees with every other store on the order when all append at once', async () => {
    const stores = [open(), open(), open()];
    await stores[0]?.create(IDENTITY, [newEvent(1, created)]);
    const results = await Promise.all(
      stores.flatMap((store, owner) =>
        Array.from({ length: 40 }, (_, index) =>
          store.append(
            SESSION_ID,
            [newEvent(100 * (owner + 1) + index, message(`${owner}/${index}`))],
            index % 4 === 0 ? { idempotencyKey: `k${index}` } : {},
          ),
        ),
      ),
    );
    const logs = await Promise.all(stores.map((store) => store.read(SESSION_ID)));
    expect(logs[1]).toEqual(logs[0]);
    expect(logs[2]).toEqual(logs[0]);
    expect(logs[0]).toHaveLength(1 + 3 * 30 + 10);
    for (const { events } of results) for (const event of events) expect(logs[0]?.[event.seq - 1]).toEqual(event);
  });

  it('lets one of several stores win an expected head, and one claim an epoch', async () => {
    const stores = [open(), open(), open(), open()];
    await stores[0]?.create(IDENTITY, [newEvent(1, created)]);
    const codes = await Promise.all(
      stores.map((store, index) =>
        codeOf(store.append(SESSION_ID, [newEvent(10 + index, message('x'))], { expectedHead: 1 })),
      ),
    );
    expect(codes.toSorted()).toEqual(['HEAD_MOVED', 'HEAD_MOVED', 'HEAD_MOVED', 'it succeeded']);
    expect(await Promise.all(stores.map((store) => store.head(SESSION_ID)))).toEqual([2, 2, 2, 2]);
  });

  it('holds one wake at a time across stores and across ways to the same home', async () => {
    const one = open();
    await one.create(IDENTITY, [newEvent(1, created)]);
    await symlink(home.path, `${home.path}-link`);
    const other = new FileEventStore({ home: `${home.path}-link`, clock });
    opened.push(other);
    const right = await one.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
    expect(await codeOf(other.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false }))).toBe('WAKE_CONFLICT');
    await right.release();
    await (await other.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false })).release();
    await unlink(`${home.path}-link`);
  });

  it('tells a follower what another process appended', async () => {
    const one = open();
    const other = open();
    await one.create(IDENTITY, [newEvent(1, created)]);
    let onChange: () => void = () => undefined;
    const stop = one.watch(SESSION_ID, () => onChange());
    // The first change says that watching has begun.
    await new Promise<void>((resolve) => {
      onChange = resolve;
    });
    const change = new Promise<void>((resolve) => {
      onChange = resolve;
    });
    await other.append(SESSION_ID, [newEvent(2, message('x'))]);
    await change;
    stop();
    expect(await one.head(SESSION_ID)).toBe(2);
  });

  it('passes over folders that are no sessions', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    await mkdir(join(home.path, 'agents', AGENT_ID, 'sessions', '.new-left-by-a-crash'));
    await mkdir(join(home.path, 'agents', AGENT_ID, 'sessions', idOf(70)));
    await mkdir(join(home.path, 'agents', 'Not An Agent'));
    await writeFile(join(home.path, 'agents', 'file'), '');
    expect(await store.list()).toMatchObject([IDENTITY]);
    expect(await codeOf(store.identify(idOf(70)))).toBe('SESSION_NOT_FOUND');
  });

  it.each<[string, (text: string) => string]>([
    ['empty', () => ''],
    ['half', (text) => text.slice(0, text.trimEnd().length / 2)],
    ['changed by hand', (text) => text.replace('"messages": 0', '"messages": 7')],
    ['of another session', (text) => text.replaceAll(SESSION_ID, idOf(9))],
    ['of another version', (text) => text.replace('wakechart-session/2', 'wakechart-session/9')],
  ])('does not believe a view that is %s', async (_what, change) => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    await store.saveView(foldAll(await store.read(SESSION_ID)));
    const path = join(folder(), 'session.json');
    await writeFile(path, change(await readFile(path, 'utf8')));
    expect((await store.list())[0]).not.toHaveProperty('view');
  });

  it('leaves the log alone when a view cannot be written', async () => {
    const store = open();
    await store.create(IDENTITY, [newEvent(1, created)]);
    await mkdir(join(folder(), 'session.json'));
    expect(await codeOf(store.saveView(foldAll(await store.read(SESSION_ID))))).toBe('STORAGE_FAILED');
    expect((await readdir(folder())).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await store.head(SESSION_ID)).toBe(1);
  });

  it.runIf(process.platform === 'linux')('keeps few files open, however many sessions are used', async () => {
    const store = open({ durability: 'os', maxOpenLogs: 16 });
    const ids = Array.from({ length: 200 }, (_, index) => idOf(1_000 + index));
    for (const sessionId of ids) await store.create({ sessionId, agentId: AGENT_ID }, [newEvent(1, created)]);
    await Promise.all(ids.map((sessionId) => store.append(sessionId, [newEvent(2, message('x'))])));
    expect(await Promise.all(ids.map((sessionId) => store.head(sessionId)))).toEqual(ids.map(() => 2));
    expect(openFilesOf(home.path)).toBeLessThan(46);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses to keep %s logs open', (maxOpenLogs) => {
    expect(() => open({ maxOpenLogs })).toThrow(expect.objectContaining({ code: 'STORE_OPTIONS_INVALID' }));
  });

  it('keeps as many logs open as the descriptors of the process allow, within bounds', () => {
    expect([256, 1_024, 4_096, 20_000, Infinity].map(openLogsWithin)).toEqual([128, 128, 256, 512, 512]);
  });
});
