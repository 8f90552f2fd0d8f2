/** Sessions of other runtimes, brought over into a real home. */
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import {
  OPENBOA_SESSION,
  lines,
  openboaEvents,
  openboaSession,
  put,
  rowboatEvents,
  runOf,
  uniqueId,
} from './foreign-home.ts';
import { ImportSetup, only } from './import-setup.ts';

let setup: ImportSetup;

beforeAll(async () => {
  setup = await ImportSetup.open();
});

afterAll(() => setup.close());

const SAID = { type: 'message', message: { role: 'user', content: 'x' } };

describe('a session of openboa', () => {
  it('comes with its id, its times, its conversation, its outcome, its learnings and its queue', async () => {
    const home = setup.place();
    await openboaSession(home);
    const report = only(await setup.import({ from: 'openboa', path: home }));
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
    const state = await setup.runtime.sessions.get(OPENBOA_SESSION);
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
    const events = await setup.eventsOf(OPENBOA_SESSION);
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
    const workspace = setup.layout.ownWorkspace({ agentId: 'alpha', sessionId: OPENBOA_SESSION });
    expect(await readFile(join(workspace, 'imported', 'runtime', 'session-state.md'), 'utf8')).toBe('# State\n');
    expect(JSON.parse(await readFile(join(workspace, 'imported', 'left-over.jsonl'), 'utf8'))).toMatchObject({
      line: 3,
      type: 'span.started',
      record: { spanId: 's1' },
    });
    expect((await stat(join(workspace, 'imported', 'left-over.jsonl'))).mode & 0o077).toBe(0);
  });

  it('wakes nobody by itself, and goes on when it is woken', async () => {
    const home = setup.place();
    await openboaSession(home, {
      session: uniqueId(1),
      events: lines({ id: 'a', type: 'user.message', at: '2026-02-01T10:00:00Z', text: 'Somebody there?' }),
    });
    await setup.import({ from: 'openboa', path: home });
    const worker = setup.runtime.startWorker({ untilIdle: true });
    await worker.ended;
    expect((await setup.runtime.sessions.get(uniqueId(1))).wakes).toBe(0);
    expect(await setup.runtime.wake(uniqueId(1))).toMatchObject({ outcome: 'sleep' });
    expect(await setup.runtime.sessions.get(uniqueId(1))).toMatchObject({ wakes: 1, pending: [] });
  });

  it('is found from its home, its agent, its folder and its log', async () => {
    const home = join(setup.place(), '.openboa');
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
      expect(only(await setup.import({ from: 'openboa', path, dryRun: true }))).toMatchObject({
        status: 'would_import',
        sessionId: uniqueId(2),
        agentId: 'alpha',
      });
    }
  });

  it('that was terminated stays so', async () => {
    const home = setup.place();
    const folder = await openboaSession(home, { session: uniqueId(3) });
    await put(join(folder, 'session.json'), JSON.stringify({ sessionId: uniqueId(3), status: 'terminated' }));
    expect(only(await setup.import({ from: 'openboa', path: home }))).toMatchObject({
      status: 'imported',
      isParked: false,
    });
    expect(await setup.runtime.sessions.get(uniqueId(3))).toMatchObject({ status: 'terminated', queuedWakes: [] });
  });
});

describe('a run of rowboat', () => {
  it('comes with messages, calls, approvals and questions; approvals hold for nothing here', async () => {
    const home = await setup.rowboatHome(lines(...rowboatEvents));
    const report = only(await setup.import({ from: 'rowboat', path: home }));
    expect(report).toMatchObject({
      status: 'imported',
      agentId: 'copilot',
      title: 'List the files.',
      closedCalls: 1,
      leftOver: { 'spawn-subflow': 1, 'message of a subflow': 1 },
      isParked: false,
    });
    const id = report.sessionId ?? '';
    expect(await setup.runtime.sessions.get(id)).toMatchObject({
      openToolCalls: [],
      pendingActions: [],
      sessionRules: [],
      status: 'idle',
    });
    expect(assembleTranscript(await setup.eventsOf(id))).toMatchObject([
      { role: 'user', content: [{ text: 'List the files.' }] },
      {
        role: 'assistant',
        content: [{ type: 'reasoning' }, { type: 'text', text: 'Checking.' }, { type: 'tool_call', callId: 'c1' }],
      },
      { role: 'tool', content: [{ outcome: 'completed', output: { stdout: 'a.txt' } }] },
      {
        role: 'assistant',
        content: [{ text: 'There is a.txt.' }, { type: 'tool_call', callId: 'c2', name: 'ask-human' }],
      },
      { role: 'tool', content: [{ callId: 'c2', outcome: 'cancelled' }] },
    ]);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Go on.' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
  });

  it('says of a call without an end that nobody knows how it ended, and of one that was denied that it was', async () => {
    const call = (id: string): object => ({
      type: 'message',
      message: {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: id, toolName: 'executeCommand', arguments: { command: 'rm x' } }],
      },
    });
    const home = await setup.rowboatHome(
      runOf(
        'r-open',
        call('a'),
        call('b'),
        { type: 'tool-permission-request', toolCall: { toolCallId: 'b' } },
        { type: 'tool-permission-response', toolCallId: 'b', response: 'deny' },
      ),
      'r-open',
    );
    const { sessionId = '' } = only(await setup.import({ from: 'rowboat', path: home }));
    const results = (await setup.eventsOf(sessionId)).flatMap((event) =>
      event.type === 'agent.tool_result' ? [[event.data.callId, event.data.outcome]] : [],
    );
    expect(results).toEqual([
      ['a', 'unknown'],
      ['b', 'denied'],
    ]);
  });

  it('asks nobody for a call that has its result', async () => {
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'executeCommand', arguments: { command: 'ls' } };
    const home = await setup.rowboatHome(
      runOf(
        'r-answered',
        { type: 'message', message: { role: 'assistant', content: [call] } },
        { type: 'tool-permission-request', toolCall: call },
        { type: 'message', message: { role: 'tool', toolCallId: 'a', content: 'done' } },
      ),
      'r-answered',
    );
    const { sessionId = '' } = only(await setup.import({ from: 'rowboat', path: home }));
    expect(await setup.runtime.sessions.get(sessionId)).toMatchObject({ pendingActions: [], openToolCalls: [] });
  });
});

describe('the same source', () => {
  it('brings nothing twice, also by another path and for another agent', async () => {
    const home = await setup.rowboatHome(
      runOf('r-twice', { type: 'message', message: { role: 'user', content: 'x' } }),
      'r-twice',
    );
    const first = only(await setup.import({ from: 'rowboat', path: home }));
    for (const request of [
      { path: home },
      { path: join(home, 'runs', 'r-twice.jsonl') },
      { path: home, agentId: 'helper' },
      { path: home, dryRun: true },
    ]) {
      expect(only(await setup.import({ from: 'rowboat', ...request }))).toMatchObject({
        status: 'already',
        sessionId: first.sessionId,
        agentId: 'copilot',
      });
    }
  });

  it('that has grown is refused, and says what to do', async () => {
    const home = await setup.rowboatHome(
      runOf('r-grown', { type: 'message', message: { role: 'user', content: 'x' } }),
      'r-grown',
    );
    const { sessionId } = only(await setup.import({ from: 'rowboat', path: home }));
    await put(
      join(home, 'runs', 'r-grown.jsonl'),
      runOf(
        'r-grown',
        { type: 'message', message: { role: 'user', content: 'x' } },
        { type: 'message', message: { role: 'user', content: 'y' } },
      ),
    );
    const again = only(await setup.import({ from: 'rowboat', path: home }));
    expect(again).toMatchObject({ status: 'failed', code: 'IMPORT_SOURCE_CHANGED' });
    expect(again.hint).toContain(`delete it`);
    expect(again.because).toContain(sessionId);
  });

  it('is imported once by two imports at once', async () => {
    const home = setup.place();
    for (let n = 0; n < 8; n += 1) await openboaSession(home, { session: uniqueId(100 + n) });
    const both = await Promise.all([
      setup.import({ from: 'openboa', path: home }),
      setup.import({ from: 'openboa', path: home }),
    ]);
    const statuses = both.flatMap(({ sessions }) => sessions.map(({ status }) => status)).toSorted();
    expect(statuses).toEqual([...Array<string>(8).fill('already'), ...Array<string>(8).fill('imported')]);
  });

  it('gets a new id where its own is that of another session', async () => {
    const { sessionId } = await setup.runtime.sessions.create({ agentId: 'alpha' });
    const home = setup.place();
    await openboaSession(home, { session: sessionId });
    const report = only(await setup.import({ from: 'openboa', path: home }));
    expect(report).toMatchObject({ status: 'imported', source: { sessionId } });
    expect(report.sessionId).not.toBe(sessionId);
    expect(only(await setup.import({ from: 'openboa', path: home }))).toMatchObject({
      status: 'already',
      sessionId: report.sessionId,
    });
  });
});

describe('an import', () => {
  it('asks for the agent that is not there, before anything is made', async () => {
    const home = setup.place();
    await openboaSession(home, { agent: 'nobody-here', session: uniqueId(9) });
    const report = only(await setup.import({ from: 'openboa', path: home }));
    expect(report).toMatchObject({ status: 'failed', code: 'IMPORT_NO_AGENT' });
    expect(report.hint).toContain('wakechart agent create nobody-here');
    await expect(setup.import({ from: 'openboa', path: home, agentId: 'not-there' })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    expect(only(await setup.import({ from: 'openboa', path: home, agentId: 'helper' }))).toMatchObject({
      status: 'imported',
      agentId: 'helper',
    });
  });

  it('leaves no half session where the disk is full', async () => {
    const home = setup.place();
    await openboaSession(home, { session: uniqueId(10) });
    const full = join(setup.place(), 'not-a-folder');
    await mkdir(join(full, '..'), { recursive: true });
    await writeFile(full, '');
    expect(only(await setup.import({ from: 'openboa', path: home }, { workspaceOf: () => full }))).toMatchObject({
      status: 'failed',
      code: 'STORAGE_FAILED',
    });
    expect(await readdir(setup.layout.sessionsOf('alpha'))).not.toContain(uniqueId(10));
  });

  it('puts back what a crash has kept from being written beside a session', async () => {
    const home = setup.place();
    await openboaSession(home, { session: uniqueId(11) });
    await setup.import({ from: 'openboa', path: home });
    const place = join(setup.layout.ownWorkspace({ agentId: 'alpha', sessionId: uniqueId(11) }), 'imported');
    await rm(place, { recursive: true });
    expect(only(await setup.import({ from: 'openboa', path: home }))).toMatchObject({ status: 'already' });
    expect(await readdir(place)).toContain('session.json');
  });

  it('that is stopped ends between two sessions, and says how many it did not reach', async () => {
    const home = await setup.rowboatHome(runOf('r-stop-1', SAID), 'r-stop-1');
    for (const run of ['r-stop-2', 'r-stop-3']) await put(join(home, 'runs', `${run}.jsonl`), runOf(run, SAID));
    const stop = new AbortController();
    const first = await setup.import({
      from: 'rowboat',
      path: home,
      signal: stop.signal,
      onSession: () => stop.abort(),
    });
    expect(first).toMatchObject({ sessions: [{ status: 'imported' }], notReached: 2 });
    const rest = await setup.import({ from: 'rowboat', path: home });
    expect([rest.sessions.map(({ status }) => status), rest.notReached]).toEqual([
      ['already', 'imported', 'imported'],
      0,
    ]);
  });

  it('makes nothing when it only checks', async () => {
    const home = setup.place();
    await openboaSession(home, { session: uniqueId(12) });
    expect(only(await setup.import({ from: 'openboa', path: home, dryRun: true }))).toMatchObject({
      status: 'would_import',
      events: expect.any(Number) as number,
    });
    await expect(setup.runtime.sessions.get(uniqueId(12))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('keeps what is too long as a beginning, and all of it beside the session', async () => {
    const long = 'word '.repeat(100_000);
    const home = setup.place();
    await openboaSession(home, {
      session: uniqueId(13),
      events: lines(...openboaEvents.slice(0, 1), {
        id: 'long',
        type: 'user.message',
        at: '2026-02-01T10:00:00Z',
        text: long,
      }),
    });
    expect(only(await setup.import({ from: 'openboa', path: home }))).toMatchObject({
      status: 'imported',
      leftOver: { 'user.message': 1 },
    });
    const left = await readFile(
      join(setup.layout.ownWorkspace({ agentId: 'alpha', sessionId: uniqueId(13) }), 'imported', 'left-over.jsonl'),
      'utf8',
    );
    expect(left).toContain(long.trimEnd());
  });

  it('finds nothing where there is nothing', async () => {
    const place = await put(join(setup.place(), 'note.txt'), 'hello');
    await expect(setup.import({ from: 'openboa', path: join(place, '..') })).rejects.toMatchObject({
      code: 'IMPORT_NOTHING_FOUND',
    });
    await expect(setup.import({ from: 'openboa', path: join(place, '..', 'gone') })).rejects.toMatchObject({
      code: 'IMPORT_UNREADABLE',
    });
  });
});
