/** Sessions of other runtimes, brought over into a real home. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImportedSessionReport } from '../../../src/machines/import/import-report.ts';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import { OPENBOA_SESSION, RUN, lines, openboaEvents, openboaSession, put, rowboatEvents } from './foreign-home.ts';
import { ImportHouse } from './import-house.ts';

let house: ImportHouse;

beforeAll(async () => {
  house = await ImportHouse.open();
});

afterAll(() => house.close());

const rowboatHome = async (events: string, run = RUN): Promise<string> => {
  const home = house.place();
  await put(join(home, 'runs', `${run}.jsonl`), events);
  return home;
};

const only = ({ sessions }: { readonly sessions: readonly ImportedSessionReport[] }): ImportedSessionReport => {
  const [report, ...more] = sessions;
  if (report === undefined || more.length > 0) throw new Error(`expected one session, received ${sessions.length}`);
  return report;
};

const uniqueId = (n: number): string => `0192f0c1-9999-7abc-8def-${String(n).padStart(12, '0')}`;

/** A rowboat run of its own, with these records after its start. */
const SAID = { type: 'message', message: { role: 'user', content: 'x' } };

const runOf = (name: string, ...records: readonly object[]): string =>
  lines(
    { runId: name, type: 'start', agentName: 'copilot', subflow: [], ts: '2026-01-05T10:00:00Z' },
    ...records.map((record) => ({ runId: name, subflow: [], ...record })),
  );

describe('a session of openboa', () => {
  it('comes with its id, its times, its conversation, its outcome, its learnings and its queue', async () => {
    const home = house.place();
    await openboaSession(home);
    const report = only(await house.import({ from: 'openboa', path: home }));
    expect(report).toMatchObject({
      status: 'imported',
      sessionId: OPENBOA_SESSION,
      agentId: 'alpha',
      title: 'State of the tree',
      damaged: 0,
      unread: 1,
      queuedWakes: 1,
      isParked: true,
      leftOver: { 'span.started': 1 },
    });
    const state = await house.runtime.sessions.get(OPENBOA_SESSION);
    expect(state).toMatchObject({
      status: 'idle',
      createdAt: '2026-01-05T10:00:00.000Z',
      outcome: { title: 'The tests pass', by: 'agent' },
      importedThroughSeq: report.events,
      restriction: { mode: 'ask', deny: [], ask: [] },
      openToolCalls: [],
      parked: { code: 'imported' },
    });
    expect(state.queuedWakes).toMatchObject([
      { reason: 'check back', priority: 'high', dueAt: '2026-01-05T12:00:00.000Z' },
    ]);
    const events = await house.eventsOf(OPENBOA_SESSION);
    expect(events.find(({ type }) => type === 'user.message')).toMatchObject({
      id: '0192f0c1-2346-7abc-8def-000000000002',
      at: '2026-01-05T10:00:01.000Z',
    });
    expect(events.find(({ type }) => type === 'learning.captured')?.data).toMatchObject({
      kind: 'lesson',
      promoteToMemory: false,
    });
    expect(assembleTranscript(events)).toMatchObject([
      { role: 'user', content: [{ text: 'Review the current state.' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_call', callId: 'call-1', name: 'shell_exec', input: { command: 'git status' } }],
      },
      { role: 'tool', content: [{ outcome: 'completed', output: 'clean' }] },
      { role: 'assistant', content: [{ text: 'All is clean.' }] },
      { role: 'user' },
    ]);
    const workspace = house.layout.ownWorkspace({ agentId: 'alpha', sessionId: OPENBOA_SESSION });
    expect(await readFile(join(workspace, 'imported', 'runtime', 'session-state.md'), 'utf8')).toBe('# State\n');
    expect(JSON.parse(await readFile(join(workspace, 'imported', 'left-over.jsonl'), 'utf8'))).toMatchObject({
      line: 3,
      type: 'span.started',
      record: { spanId: 's1' },
    });
    expect((await stat(join(workspace, 'imported', 'left-over.jsonl'))).mode & 0o077).toBe(0);
  });

  it('wakes nobody by itself, and goes on when it is woken', async () => {
    const home = house.place();
    await openboaSession(home, {
      session: uniqueId(1),
      events: lines({ id: 'a', type: 'user.message', at: '2026-02-01T10:00:00Z', text: 'Somebody there?' }),
    });
    await house.import({ from: 'openboa', path: home });
    const worker = house.runtime.startWorker({ untilIdle: true });
    await worker.ended;
    expect((await house.runtime.sessions.get(uniqueId(1))).wakes).toBe(0);
    expect(await house.runtime.wake(uniqueId(1))).toMatchObject({ outcome: 'sleep' });
    expect(await house.runtime.sessions.get(uniqueId(1))).toMatchObject({ wakes: 1, pending: [] });
  });

  it('is found from its home, its agent, its folder and its log', async () => {
    const home = join(house.place(), '.openboa');
    const folder = await openboaSession(home, { session: uniqueId(2) });
    for (const path of [
      join(home, '..'),
      home,
      join(home, 'agents'),
      join(home, 'agents', 'alpha'),
      join(folder, '..'),
      folder,
      join(folder, 'events.jsonl'),
    ]) {
      expect(only(await house.import({ from: 'openboa', path, dryRun: true }))).toMatchObject({
        status: 'would_import',
        sessionId: uniqueId(2),
        agentId: 'alpha',
      });
    }
  });

  it('that was terminated stays so', async () => {
    const home = house.place();
    const folder = await openboaSession(home, { session: uniqueId(3) });
    await put(join(folder, 'session.json'), JSON.stringify({ sessionId: uniqueId(3), status: 'terminated' }));
    expect(only(await house.import({ from: 'openboa', path: home }))).toMatchObject({
      status: 'imported',
      isParked: false,
    });
    expect(await house.runtime.sessions.get(uniqueId(3))).toMatchObject({ status: 'terminated', queuedWakes: [] });
  });
});

describe('a run of rowboat', () => {
  it('comes with messages, calls, approvals and questions; approvals hold for nothing here', async () => {
    const home = await rowboatHome(lines(...rowboatEvents));
    const report = only(await house.import({ from: 'rowboat', path: home }));
    expect(report).toMatchObject({
      status: 'imported',
      agentId: 'copilot',
      title: 'List the files.',
      closedCalls: 1,
      leftOver: { 'spawn-subflow': 1, 'message of a subflow': 1 },
      isParked: false,
    });
    const id = report.sessionId ?? '';
    expect(await house.runtime.sessions.get(id)).toMatchObject({
      openToolCalls: [],
      pendingActions: [],
      sessionRules: [],
      status: 'idle',
    });
    expect(assembleTranscript(await house.eventsOf(id))).toMatchObject([
      { role: 'user', content: [{ text: 'List the files.' }] },
      {
        role: 'assistant',
        content: [{ type: 'reasoning' }, { type: 'text', text: 'Looking.' }, { type: 'tool_call', callId: 'c1' }],
      },
      { role: 'tool', content: [{ outcome: 'completed', output: { stdout: 'a.txt' } }] },
      {
        role: 'assistant',
        content: [{ text: 'There is a.txt.' }, { type: 'tool_call', callId: 'c2', name: 'ask-human' }],
      },
      { role: 'tool', content: [{ callId: 'c2', outcome: 'cancelled' }] },
    ]);
    await house.runtime.sessions.send(id, { type: 'user.message', text: 'Go on.' });
    expect(await house.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
  });

  it('says of a call without an end that nobody knows how it ended, and of one that was denied that it was', async () => {
    const call = (id: string): object => ({
      type: 'message',
      message: {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: id, toolName: 'executeCommand', arguments: { command: 'rm x' } }],
      },
    });
    const home = await rowboatHome(
      runOf(
        'r-open',
        call('a'),
        call('b'),
        { type: 'tool-permission-request', toolCall: { toolCallId: 'b' } },
        { type: 'tool-permission-response', toolCallId: 'b', response: 'deny' },
      ),
      'r-open',
    );
    const { sessionId = '' } = only(await house.import({ from: 'rowboat', path: home }));
    const results = (await house.eventsOf(sessionId)).flatMap((event) =>
      event.type === 'agent.tool_result' ? [[event.data.callId, event.data.outcome]] : [],
    );
    expect(results).toEqual([
      ['a', 'unknown'],
      ['b', 'denied'],
    ]);
  });

  it('asks nobody for a call that has its result', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'executeCommand', arguments: { command: 'ls' } };
    const home = await rowboatHome(
      runOf(
        'r-answered',
        { type: 'message', message: { role: 'assistant', content: [call] } },
        { type: 'tool-permission-request', toolCall: call },
        { type: 'message', message: { role: 'tool', toolCallId: 'a', content: 'done' } },
      ),
      'r-answered',
    );
    const { sessionId = '' } = only(await house.import({ from: 'rowboat', path: home }));
    expect(await house.runtime.sessions.get(sessionId)).toMatchObject({ pendingActions: [], openToolCalls: [] });
  });
});

describe('the same source', () => {
  it('brings nothing twice, also by another path and for another agent', async () => {
    const home = await rowboatHome(
      runOf('r-twice', { type: 'message', message: { role: 'user', content: 'x' } }),
      'r-twice',
    );
    const first = only(await house.import({ from: 'rowboat', path: home }));
    for (const request of [
      { path: home },
      { path: join(home, 'runs', 'r-twice.jsonl') },
      { path: home, agentId: 'helper' },
      { path: home, dryRun: true },
    ]) {
      expect(only(await house.import({ from: 'rowboat', ...request }))).toMatchObject({
        status: 'already',
        sessionId: first.sessionId,
        agentId: 'copilot',
      });
    }
  });

  it('that has grown is refused, and says what to do', async () => {
    const home = await rowboatHome(
      runOf('r-grown', { type: 'message', message: { role: 'user', content: 'x' } }),
      'r-grown',
    );
    const { sessionId } = only(await house.import({ from: 'rowboat', path: home }));
    await put(
      join(home, 'runs', 'r-grown.jsonl'),
      runOf(
        'r-grown',
        { type: 'message', message: { role: 'user', content: 'x' } },
        { type: 'message', message: { role: 'user', content: 'y' } },
      ),
    );
    const again = only(await house.import({ from: 'rowboat', path: home }));
    expect(again).toMatchObject({ status: 'failed', code: 'IMPORT_SOURCE_CHANGED' });
    expect(again.hint).toContain(`delete it`);
    expect(again.because).toContain(sessionId);
  });

  it('is imported once by two imports at once', async () => {
    const home = house.place();
    for (let n = 0; n < 8; n += 1) await openboaSession(home, { session: uniqueId(100 + n) });
    const both = await Promise.all([
      house.import({ from: 'openboa', path: home }),
      house.import({ from: 'openboa', path: home }),
    ]);
    const statuses = both.flatMap(({ sessions }) => sessions.map(({ status }) => status)).toSorted();
    expect(statuses).toEqual([...Array<string>(8).fill('already'), ...Array<string>(8).fill('imported')]);
  });

  it('gets a new id where its own is that of another session', async () => {
    const { sessionId } = await house.runtime.sessions.create({ agentId: 'alpha' });
    const home = house.place();
    await openboaSession(home, { session: sessionId });
    const report = only(await house.import({ from: 'openboa', path: home }));
    expect(report).toMatchObject({ status: 'imported', source: { sessionId } });
    expect(report.sessionId).not.toBe(sessionId);
    expect(only(await house.import({ from: 'openboa', path: home }))).toMatchObject({
      status: 'already',
      sessionId: report.sessionId,
    });
  });
});

describe('a damaged log', () => {
  const message = (text: string): object => ({ type: 'message', message: { role: 'user', content: text } });

  it.each([
    [
      'a torn end',
      (log: string) => `${log}{"runId":"r","type":"mess`,
      { line: 3, what: 'the last line is only the beginning of a record', repaired: false },
    ],
    [
      'a damaged line in the middle',
      (log: string) => log.replace('\n', '\n\0\0\0 garbage\n'),
      { line: 2, what: 'the line is no record', repaired: false },
    ],
    [
      'a record on the half of another',
      (log: string) => log.replace('\n', '\n{"type":"message","mess'),
      { line: 2, what: 'the line is no record; what follows in it is', repaired: false },
    ],
    [
      'records without a line end',
      (log: string) => `${log.trimEnd().replaceAll('\n', '')}\n`,
      { line: 1, what: 'records without a line end between them were parted', repaired: true },
    ],
    [
      'line ends of Windows',
      (log: string) => log.replaceAll('\n', '\r\n'),
      { line: 0, what: '2 lines end with a carriage return, which was left out', repaired: true },
    ],
    [
      'a byte order mark',
      (log: string) => `\uFEFF${log}`,
      { line: 0, what: 'it begins with a byte order mark, which was left out', repaired: true },
    ],
    [
      'a record that is too long',
      (log: string) => `${log}${'x'.repeat(9 * 1024 * 1024)}\n`,
      { line: 3, what: 'the line is longer than a record may be', repaired: false },
    ],
  ] as const)('with %s is brought over, and the place is named', async (name, spoil, damage) => {
    const run = `r-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
    const spoilt = spoil(runOf(run, message('still here')));
    const home = await rowboatHome(spoilt, run);
    const report = only(await house.import({ from: 'rowboat', path: home }));
    expect(report).toMatchObject({ status: 'imported', damaged: 1, damage: [damage] });
    expect(JSON.stringify(assembleTranscript(await house.eventsOf(report.sessionId ?? '')))).toContain('still here');
    expect(await readFile(join(home, 'runs', `${run}.jsonl`), 'utf8')).toBe(spoilt);
  });

  it('has records once that stand there twice, and texts twice that somebody said twice', async () => {
    const twice = { id: uniqueId(7), ...message('once') };
    const home = await rowboatHome(runOf('r-dup', twice, twice, message('again'), message('again')), 'r-dup');
    const report = only(await house.import({ from: 'rowboat', path: home }));
    expect(report).toMatchObject({ repeated: 1, unread: 3 });
  });

  it('that is empty is no session', async () => {
    expect(only(await house.import({ from: 'rowboat', path: await rowboatHome('', 'r-empty') }))).toMatchObject({
      status: 'failed',
      code: 'IMPORT_EMPTY',
    });
  });

  it.each([
    [
      'another file',
      'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/bin/sh\n',
      'found none: 0 unknown and 2 damaged',
    ],
    ['bytes', '\u0000\u0001\u0002 \ufffd', 'found none: 0 unknown and 1 damaged'],
    ['records of something else', '{"a":1}\n[1,2]\n', 'found none: 1 unknown and 1 damaged'],
  ])('that is no log at all (%s) is not copied to where agents can read it', async (_what, content, complaint) => {
    const before = (await house.runtime.sessions.list()).length;
    for (const dryRun of [true, false]) {
      const report = only(
        await house.import({
          from: 'rowboat',
          path: await rowboatHome(content, 'r-strange'),
          agentId: 'alpha',
          dryRun,
        }),
      );
      expect(report).toMatchObject({
        status: 'failed',
        code: 'IMPORT_NOT_UNDERSTOOD',
        because: expect.stringContaining(complaint) as string,
        hint: expect.stringContaining('--from openboa') as string,
      });
    }
    expect(await house.runtime.sessions.list()).toHaveLength(before);
  });

  it('names what is no file where a log was expected, and brings the others', async () => {
    const home = await rowboatHome(runOf('r-whole', message('x')), 'r-whole');
    await mkdir(join(home, 'runs', 'folder.jsonl'));
    execFileSync('mkfifo', [join(home, 'runs', 'pipe.jsonl')]);
    expect(await house.import({ from: 'rowboat', path: home })).toMatchObject({
      sessions: [{ status: 'imported' }],
      passedOver: [
        {
          path: join('runs', 'pipe.jsonl'),
          because: 'a pipe, a socket or a device, which is not opened',
          isTrouble: false,
        },
        {
          path: join('runs', 'folder.jsonl'),
          because: 'a folder, where the log of a run was expected',
          isTrouble: true,
        },
      ],
    });
  });

  it('is not followed out of the place that was named', async () => {
    const home = await rowboatHome(runOf('r-fine', message('x')), 'r-fine');
    const secret = await put(join(house.place(), 'secret.jsonl'), runOf('r-secret', message('SECRET')));
    await symlink(secret, join(home, 'runs', 'link.jsonl'));
    const outcome = await house.import({ from: 'rowboat', path: home });
    expect(outcome).toMatchObject({
      sessions: [{ status: 'imported' }],
      passedOver: [{ path: join('runs', 'link.jsonl'), isTrouble: false }],
    });
    const folder = await openboaSession(house.place(), { session: uniqueId(8) });
    await rm(join(folder, 'runtime'), { recursive: true });
    await symlink(join(secret, '..'), join(folder, 'runtime'));
    await rm(join(folder, 'events.jsonl'));
    await symlink(secret, join(folder, 'events.jsonl'));
    expect(only(await house.import({ from: 'openboa', path: folder }))).toMatchObject({
      status: 'failed',
      code: 'IMPORT_UNREADABLE',
    });
  });

  it('of Wakechart itself is refused', async () => {
    const { sessionId } = await house.runtime.sessions.create({ agentId: 'alpha' });
    const path = house.layout.session({ agentId: 'alpha', sessionId });
    expect(only(await house.import({ from: 'openboa', path }))).toMatchObject({
      status: 'failed',
      code: 'IMPORT_OURS',
    });
  });
});

describe('an import', () => {
  it('asks for the agent that is not there, before anything is made', async () => {
    const home = house.place();
    await openboaSession(home, { agent: 'nobody-here', session: uniqueId(9) });
    const report = only(await house.import({ from: 'openboa', path: home }));
    expect(report).toMatchObject({ status: 'failed', code: 'IMPORT_NO_AGENT' });
    expect(report.hint).toContain('wakechart agent create nobody-here');
    await expect(house.import({ from: 'openboa', path: home, agentId: 'not-there' })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    expect(only(await house.import({ from: 'openboa', path: home, agentId: 'helper' }))).toMatchObject({
      status: 'imported',
      agentId: 'helper',
    });
  });

  it('leaves no half session where the disk is full', async () => {
    const home = house.place();
    await openboaSession(home, { session: uniqueId(10) });
    const full = join(house.place(), 'not-a-folder');
    await mkdir(join(full, '..'), { recursive: true });
    await writeFile(full, '');
    expect(only(await house.import({ from: 'openboa', path: home }, { workspaceOf: () => full }))).toMatchObject({
      status: 'failed',
      code: 'STORAGE_FAILED',
    });
    expect(await readdir(house.layout.sessionsOf('alpha'))).not.toContain(uniqueId(10));
  });

  it('puts back what a crash has kept from being written beside a session', async () => {
    const home = house.place();
    await openboaSession(home, { session: uniqueId(11) });
    await house.import({ from: 'openboa', path: home });
    const place = join(house.layout.ownWorkspace({ agentId: 'alpha', sessionId: uniqueId(11) }), 'imported');
    await rm(place, { recursive: true });
    expect(only(await house.import({ from: 'openboa', path: home }))).toMatchObject({ status: 'already' });
    expect(await readdir(place)).toContain('session.json');
  });

  it('that is stopped ends between two sessions, and says how many it did not reach', async () => {
    const home = await rowboatHome(runOf('r-stop-1', SAID), 'r-stop-1');
    for (const run of ['r-stop-2', 'r-stop-3']) await put(join(home, 'runs', `${run}.jsonl`), runOf(run, SAID));
    const stop = new AbortController();
    const first = await house.import({
      from: 'rowboat',
      path: home,
      signal: stop.signal,
      onSession: () => stop.abort(),
    });
    expect(first).toMatchObject({ sessions: [{ status: 'imported' }], notReached: 2 });
    const rest = await house.import({ from: 'rowboat', path: home });
    expect([rest.sessions.map(({ status }) => status), rest.notReached]).toEqual([
      ['already', 'imported', 'imported'],
      0,
    ]);
  });

  it('makes nothing when it only looks', async () => {
    const home = house.place();
    await openboaSession(home, { session: uniqueId(12) });
    expect(only(await house.import({ from: 'openboa', path: home, dryRun: true }))).toMatchObject({
      status: 'would_import',
      events: expect.any(Number) as number,
    });
    await expect(house.runtime.sessions.get(uniqueId(12))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('keeps what is too long as a beginning, and all of it beside the session', async () => {
    const long = 'word '.repeat(100_000);
    const home = house.place();
    await openboaSession(home, {
      session: uniqueId(13),
      events: lines(...openboaEvents.slice(0, 1), {
        id: 'long',
        type: 'user.message',
        at: '2026-02-01T10:00:00Z',
        text: long,
      }),
    });
    expect(only(await house.import({ from: 'openboa', path: home }))).toMatchObject({
      status: 'imported',
      leftOver: { 'user.message': 1 },
    });
    const left = await readFile(
      join(house.layout.ownWorkspace({ agentId: 'alpha', sessionId: uniqueId(13) }), 'imported', 'left-over.jsonl'),
      'utf8',
    );
    expect(left).toContain(long.trimEnd());
  });

  it('finds nothing where there is nothing', async () => {
    const place = await put(join(house.place(), 'note.txt'), 'hello');
    await expect(house.import({ from: 'openboa', path: join(place, '..') })).rejects.toMatchObject({
      code: 'IMPORT_NOTHING_FOUND',
    });
    await expect(house.import({ from: 'openboa', path: join(place, '..', 'gone') })).rejects.toMatchObject({
      code: 'IMPORT_UNREADABLE',
    });
  });
});
