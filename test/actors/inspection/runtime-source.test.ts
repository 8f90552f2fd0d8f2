/** A living runtime, and the store of one, as an inspector sees them. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRecorder } from '../../../src/actors/inspection/recorder.ts';
import { createRuntimeSource } from '../../../src/actors/inspection/runtime-source.ts';
import { shownSteps } from '../../../src/actors/inspection/shown-answers.ts';
import type { ClosableSource, RuntimeSourceOptions } from '../../../src/actors/inspection/runtime-source.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { createRuntime } from '../../../src/runtime.ts';
import { allRecords, inspectionSourceContract } from '../../support/inspection-source-contract.ts';
import type { OpenSource } from '../../support/inspection-source-contract.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

const STEPS = [
  { toolCalls: [{ name: 'shell_run', input: { command: 'rm -rf build' } }] },
  { text: 'Done.', directive: { outcome: 'sleep', summary: 'Done.' } },
];

interface Setup extends OpenSource {
  readonly source: ClosableSource;
  readonly setup: SessionSetup;
  readonly session: string;
  readonly problems: unknown[];
}

async function open(options: Partial<RuntimeSourceOptions> & { readonly isStore?: boolean } = {}): Promise<Setup> {
  const { isStore = false, ...more } = options;
  const setup = await openSetup({ store: ({ home, clock }) => new FileEventStore({ home, clock }) });
  const { runtime, clock } = setup;
  const problems: unknown[] = [];
  const onProblem = (error: unknown): void => void problems.push(error);
  const recorder = isStore ? undefined : createRecorder({ root: runtime.tasks.supervisor, clock });
  const session = await setup.session(STEPS, { message: 'Clean up.', agent: { permission: { mode: 'ask' } } });
  await runtime.wake(session);
  const source = createRuntimeSource({
    title: 'a setup',
    sessions: runtime.sessions,
    agents: runtime.agents,
    clock,
    recorder,
    tasks: [runtime.tasks, runtime.subagents.getBackgroundTaskManager()],
    onProblem,
    ...more,
  });
  const act = async (): Promise<void> => {
    await runtime.tasks.spawn({ kind: 'process', label: 'tests', parentSessionId: 's', cwd: '/', command: 'true' });
  };
  const actInSession = async (): Promise<void> => {
    await runtime.sessions.send(session, { type: 'user.message', text: 'And then?' });
  };
  const close = async (): Promise<void> => {
    source.close();
    recorder?.detach();
    await setup.close();
  };
  return {
    setup,
    source,
    session,
    problems,
    act: isStore ? undefined : act,
    actInSession,
    [Symbol.asyncDispose]: close,
  };
}

inspectionSourceContract('a runtime', () => open());
inspectionSourceContract('a store', () => open({ isStore: true }));

const requestOf = async ({ source, session }: Setup): Promise<string> =>
  (await source.session(session))?.pendingActions[0]?.requestId ?? '';

describe('an answer', () => {
  it('is stored once, also by the next source, and another one is refused', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    const requestId = await requestOf(opened);
    const [first, twin] = await Promise.all([
      source.answer(session, { type: 'allow', requestId }),
      source.answer(session, { type: 'allow', requestId, scope: 'once' }),
    ]);
    expect(twin).toEqual(first);
    const later = createRuntimeSource({
      title: 'later',
      sessions: setup.runtime.sessions,
      clock: setup.clock,
      onProblem: () => undefined,
    });
    expect(await later.answer(session, { type: 'allow', requestId })).toEqual(first);
    for (const other of [
      { type: 'deny', requestId },
      { type: 'allow', requestId, note: 'x' },
      { type: 'answer', requestId, text: 'yes' },
    ] as const) {
      await expect(later.answer(session, other)).rejects.toMatchObject({
        code: 'REQUEST_NOT_PENDING',
        category: 'conflict',
      });
    }
    expect((await setup.types(session)).filter((type) => type === 'user.tool_confirmation')).toHaveLength(1);
  });

  it('of the wrong kind changes nothing', async () => {
    await using opened = await open();
    const requestId = await requestOf(opened);
    await expect(
      opened.source.answer(opened.session, { type: 'answer', requestId, text: 'yes' }),
    ).rejects.toMatchObject({ code: 'REQUEST_KIND_MISMATCH' });
    await expect(opened.source.answer(opened.session, { type: 'allow', requestId: 'never' })).rejects.toMatchObject({
      category: 'conflict',
    });
    expect(await requestOf(opened)).toBe(requestId);
  });

  it('to a question is what its agent is told, again after the restart as well', async () => {
    await using opened = await open();
    const { setup, source } = opened;
    const session = await asking(setup, { toolCalls: [{ name: 'ask_human', input: { question: 'Which one?' } }] });
    const requestId = (await source.session(session))?.pendingActions[0]?.requestId ?? '';
    const first = await source.answer(session, { type: 'answer', requestId, text: '{"not":"parsed"}' });
    expect(await source.answer(session, { type: 'answer', requestId, text: '{"not":"parsed"}' })).toEqual(first);
    expect((await setup.log(session))[first.seq - 1]).toMatchObject({
      type: 'user.answer',
      data: { response: '{"not":"parsed"}' },
    });
  });

  it('is not taken where none is to be', async () => {
    await using opened = await open({ canAnswer: false });
    expect(opened.source.about().canAnswer).toBe(false);
    await expect(
      opened.source.answer(opened.session, { type: 'allow', requestId: await requestOf(opened) }),
    ).rejects.toMatchObject({ code: 'INSPECTION_READ_ONLY', category: 'permission' });
  });
});

async function asking(setup: SessionSetup, step: object): Promise<string> {
  await setup.write([step, { text: 'Done.' }]);
  const { sessionId } = await setup.runtime.sessions.create({ agentId: 'player' });
  await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go.' });
  await setup.runtime.wake(sessionId);
  return sessionId;
}

describe('what goes out', () => {
  it('has no secret in it that has become known since it was stored', async () => {
    let secret = '\0';
    await using opened = await open({ redact: (text) => text.replaceAll(secret, '[redacted]') });
    const { source, session, setup } = opened;
    const token = 'tok_1234567890';
    await setup.runtime.sessions.send(session, { type: 'user.message', text: `${'x'.repeat(1_990)}${token} and more` });
    secret = token;
    const recording = await source.recordingOf(session);
    const events = await source.events(session, { from: 1, limit: 100 });
    const told = JSON.stringify(events === undefined ? undefined : shownSteps(events));
    expect([told.includes('tok_12345'), told.includes('[redacted]')]).toEqual([false, true]);
    const all = JSON.stringify([
      await source.session(session),
      events,
      await source.sessions({ limit: 5 }),
      await allRecords(recording ?? source),
    ]);
    expect(all).not.toContain('tok_12345');
    expect(all).toContain('[redacted]');
  });

  it('is left out whole where it cannot be redacted', async () => {
    await using opened = await open({
      redact: () => {
        throw new Error('broken');
      },
    });
    const events = await opened.source.events(opened.session, { from: 2, limit: 1 });
    expect(events?.events[0]).toMatchObject({
      type: 'user.message',
      data: { '[left out: it could not be redacted]': '[left out: it could not be redacted]' },
    });
  });

  it('is bounded, event by event and page by page', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    for (let count = 0; count < 20; count += 1)
      await setup.runtime.sessions.send(session, { type: 'user.message', text: 'y'.repeat(256_000) });
    const head = (await source.session(session))?.state.head ?? 0;
    const page = await source.events(session, { from: head - 19, limit: 1_000 });
    expect([page?.head, (page?.events.length ?? 0) < 20, JSON.stringify(page).length < 5_000_000]).toEqual([
      head,
      true,
      true,
    ]);
    const rest = await source.events(session, { from: (page?.events.at(-1)?.seq ?? 0) + 1, limit: 1_000 });
    expect(rest?.events.at(-1)?.seq).toBe(head);
    const recording = await source.recordingOf(session);
    expect(JSON.stringify(await allRecords(recording ?? source)).length).toBeLessThan(500_000);
  });
});

describe('the list of sessions', () => {
  it('begins with those that wait for a person, then has the newest first', async () => {
    await using opened = await open();
    const { setup, source, session } = opened;
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      await setup.clock.advance(1_000);
      made.push((await setup.runtime.sessions.create({ agentId: 'player', title: `nr ${count}` })).sessionId);
    }
    const { sessions, total } = await source.sessions({ limit: 3 });
    expect([sessions.map(({ sessionId }) => sessionId), total]).toEqual([[session, made[2], made[1]], 4]);
    expect(sessions[1]).toMatchObject({ title: 'nr 2', status: 'idle', updatedAt: expect.any(String) });
  });

  it('asks the store once for all who ask at the same time', async () => {
    let asked = 0;
    await using opened = await open();
    const { sessions } = opened.setup.runtime;
    const counted = {
      list: () => {
        asked += 1;
        return sessions.list();
      },
      status: sessions.status.bind(sessions),
      events: sessions.events.bind(sessions),
      send: sessions.send.bind(sessions),
      hasWakeDied: sessions.hasWakeDied.bind(sessions),
    };
    const source = createRuntimeSource({
      title: 'x',
      sessions: counted,
      clock: opened.setup.clock,
      onProblem: () => undefined,
    });
    await Promise.all(Array.from({ length: 8 }, () => source.sessions({ limit: 5 })));
    expect(asked).toBe(1);
  });
});

describe('the recording of a session', () => {
  it('is one for all who ask, is kept for a minute, and then given up', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    const first = await source.recordingOf(session);
    expect(await source.recordingOf(session)).toBe(first);
    await setup.clock.advance(130_000);
    const second = await source.recordingOf(session);
    expect(second).not.toBe(first);
    expect(await allRecords(second ?? source)).toEqual(await allRecords(first ?? source));
  });

  it('is kept as long as it is followed, and holds nothing after', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    const first = await source.recordingOf(session);
    const leave = first?.follow(() => undefined);
    await setup.clock.advance(300_000);
    expect(await source.recordingOf(session)).toBe(first);
    leave?.();
    await setup.clock.advance(130_000);
    expect(await source.recordingOf(session)).not.toBe(first);
  });

  it('is one of eight at most that none follows', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    const first = await source.recordingOf(session);
    for (let count = 0; count < 8; count += 1)
      await source.recordingOf((await setup.runtime.sessions.create({ agentId: 'player' })).sessionId);
    expect(await source.recordingOf(session)).not.toBe(first);
  });

  it('misses nothing when followers come and go while the log grows', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    const recording = await source.recordingOf(session);
    if (recording === undefined) throw new Error('there is no recording');
    for (let count = 0; count < 12; count += 1) {
      const leave = recording.follow(() => undefined);
      const sent = setup.runtime.sessions.send(session, { type: 'user.message', text: `message ${count}` });
      if (count % 3 === 0) await sent;
      leave();
      await sent;
      if (count % 4 === 1) await source.recordingOf(session);
    }
    await source.recordingOf(session);
    const texts = (await allRecords(recording)).flatMap((record) =>
      record.k === 'event' && record.type === 'user.message' ? [(record.data as { readonly text: string }).text] : [],
    );
    expect(texts.slice(1)).toEqual(Array.from({ length: 12 }, (_, count) => `message ${count}`));
    const numbers = (await allRecords(recording)).map(({ s }) => s);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe('on a bad day', () => {
  /** Another process over the same home. */
  function lCheckedLater({ setup, problems }: Setup): ClosableSource {
    const { clock, home } = setup;
    const store = new FileEventStore({ home, clock });
    const later = createRuntime({
      clock,
      store,
      directories: new HomeLayout(home),
      agents: setup.runtime.agents,
      runtimes: [],
      tasks: new BackgroundTaskManager({ clock }),
    });
    const source = createRuntimeSource({
      title: 'later',
      sessions: later.sessions,
      clock,
      onProblem: (error) => void problems.push(error),
    });
    onTestFinished(async () => {
      source.close();
      await later.shutdown();
    });
    return source;
  }

  it('a session of whose log an event is damaged says so, and shows no state that leaves it out', async () => {
    await using opened = await open();
    const { session, setup } = opened;
    const log = new HomeLayout(setup.home).log({ sessionId: session, agentId: 'player' });
    await writeFile(log, (await readFile(log, 'utf8')).replace('"agent.tool_use"', '"agent.tool_#se"'));
    const shown = await lCheckedLater(opened).session(session);
    expect(shown).toMatchObject({
      state: {
        sessionId: session,
        unreadable: { code: 'SESSION_HISTORY_LOST', hint: expect.stringContaining('doctor') as string },
      },
      pendingActions: [],
    });
  });

  it('a store that has lost events is shown with a note of how many', async () => {
    await using opened = await open();
    const { sessions } = opened.setup.runtime;
    const events = async function* lossy(id: string) {
      for await (const event of sessions.events(id)) if (event.seq !== 4 && event.seq !== 6) yield event;
    } as unknown as typeof sessions.events;
    const source = createRuntimeSource({
      title: 'lossy',
      sessions: {
        list: () => sessions.list(),
        status: (id) => sessions.status(id),
        hasWakeDied: (id) => sessions.hasWakeDied(id),
        send: sessions.send.bind(sessions),
        events,
      },
      clock: opened.setup.clock,
      onProblem: () => undefined,
    });
    expect((await allRecords((await source.recordingOf(opened.session)) ?? source)).length).toBeGreaterThan(5);
    expect(source.about().notes).toEqual([
      expect.stringContaining('2 events are damaged and missing, the first of them event 4'),
    ]);
    source.close();
  });

  it('a session whose log cannot be read at all says so, and hides no other', async () => {
    await using opened = await open();
    const { session, setup, problems } = opened;
    const other = (await setup.runtime.sessions.create({ agentId: 'player' })).sessionId;
    const folder = new HomeLayout(setup.home).session({ sessionId: session, agentId: 'player' });
    for (const name of await readdir(folder))
      if (name !== 'workspace') await rm(join(folder, name), { recursive: true });
    await mkdir(join(folder, 'events.jsonl'));
    const later = lCheckedLater(opened);
    const shown = await later.session(session);
    expect(shown).toMatchObject({
      state: { sessionId: session, agentId: 'player', unreadable: { code: expect.any(String) } },
      why: { reasons: [{ kind: 'unreadable' }] },
      pendingActions: [],
    });
    const { sessions } = await later.sessions({ limit: 10 });
    expect(new Map(sessions.map(({ sessionId, why }) => [sessionId, why?.kind === 'unreadable']))).toEqual(
      new Map([
        [session, true],
        [other, false],
      ]),
    );
    const recording = await later.recordingOf(session);
    expect(await allRecords(recording ?? later)).toEqual([]);
    expect(later.about().notes).toEqual([
      expect.stringContaining(`The log of session ${session} cannot be read beyond event 0`),
    ]);
    expect(problems.length).toBeGreaterThan(0);
    expect(await later.session(other)).toMatchObject({ state: { sessionId: other } });
  });

  it('a runtime that is shut down while it is watched says so, and what was recorded stays', async () => {
    await using opened = await open();
    const { source, session, setup, act } = opened;
    const recording = await source.recordingOf(session);
    recording?.follow(() => undefined);
    await act?.();
    const shown = (await allRecords(recording ?? source)).length;
    await setup.runtime.shutdown();
    await expect(source.sessions({ limit: 5 })).rejects.toMatchObject({
      code: 'INSPECTION_ENDED',
      category: 'conflict',
    });
    await expect(source.session(session)).rejects.toMatchObject({ code: 'INSPECTION_ENDED' });
    expect(source.about()).toMatchObject({
      hasEnded: true,
      canAnswer: false,
      notes: [expect.stringContaining('shut down')],
    });
    expect((await allRecords(recording ?? source)).length).toBeGreaterThanOrEqual(shown);
    expect((await allRecords(source)).length).toBeGreaterThan(0);
  });

  it('a session that was deleted is not there any more, also for those who follow it', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    const recording = await source.recordingOf(session);
    recording?.follow(() => undefined);
    await setup.runtime.sessions.delete(session);
    expect(await source.recordingOf(session)).toBeUndefined();
    expect(await source.session(session)).toBeUndefined();
    expect(await source.events(session, { from: 1, limit: 5 })).toBeUndefined();
  });

  it('nothing holds on to a log after it was closed', async () => {
    await using opened = await open();
    const { source, session, setup } = opened;
    const timers = setup.clock.pendingTimers;
    (await source.recordingOf(session))?.follow(() => undefined);
    source.close();
    source.close();
    expect(setup.clock.pendingTimers).toBe(timers);
  });
});
