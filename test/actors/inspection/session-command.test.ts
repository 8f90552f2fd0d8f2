/** What a person has sessions do from an inspector: as the commands of the same names, with the same records. */
import { describe, expect, it } from 'vitest';
import { MAX_FAILURES_IN_A_ROW } from '../../../src/machines/session/limits.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SessionCommands } from '../../../src/actors/inspection/session-command.ts';
import type { SessionCommandsOptions } from '../../../src/actors/inspection/session-command.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import { createRuntimeSource } from '../../../src/actors/inspection/runtime-source.ts';
import type { RuntimeSourceOptions, ClosableSource } from '../../../src/actors/inspection/runtime-source.ts';
import { createHomeSource } from '../../../src/node/inspector.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import { createAgentRuntime } from '../../../src/actors/run/create-agent-runtime.ts';
import { SPEAKER } from '../../support/speaking-backend.ts';
import { AGENT, openSetup, until } from '../../support/session-setup.ts';
import type { SessionSetup, SessionSetupOptions } from '../../support/session-setup.ts';

interface Setup extends AsyncDisposable {
  readonly setup: SessionSetup;
  readonly source: ClosableSource;
}

async function open(
  options: Partial<RuntimeSourceOptions> & { readonly wakes?: boolean } = {},
  more: SessionSetupOptions = {},
): Promise<Setup> {
  const { wakes = true, ...given } = options;
  const setup = await openSetup(more);
  const { sessions, trigger } = setup.runtime;
  const source = createRuntimeSource({
    title: 'a setup',
    sessions,
    clock: setup.clock,
    commands: { sessions, ...(wakes ? { wake: (id) => trigger(id) } : {}) },
    onProblem: () => undefined,
    ...given,
  });
  return {
    setup,
    source,
    [Symbol.asyncDispose]: async () => {
      source.close();
      await setup.close();
    },
  };
}

describe('a wake', () => {
  it('runs, and its end is told where it comes soon', async () => {
    await using opened = await open();
    const { setup, source } = opened;
    const session = await setup.session([{ text: 'Done.' }], { message: 'Go.' });
    expect(source.about().canWake).toBe(true);
    expect(await source.command?.(session, { type: 'wake' })).toEqual({ text: 'Woken: sleep. Done.' });
    expect((await setup.log(session)).find(({ type }) => type === 'wake.started')).toBeDefined();
    expect((await source.command?.(session, { type: 'wake' }))?.text).toMatch(/Nothing is unread/);
  });

  it('lets a parked session go on', async () => {
    await using opened = await open();
    const { setup, source } = opened;
    const failing = { error: { kind: 'overloaded', message: 'busy' } };
    const steps = [...Array.from({ length: MAX_FAILURES_IN_A_ROW }, () => failing), { text: 'Well again.' }];
    const session = await setup.session(steps, { message: 'Go.' });
    for (let count = 0; count < MAX_FAILURES_IN_A_ROW; count += 1) await setup.runtime.wake(session);
    const { parked } = await setup.runtime.sessions.status(session);
    expect((await source.command?.(session, { type: 'wake' }))?.text).toBe('Woken: sleep. Well again.');
    expect([parked?.code, (await setup.runtime.sessions.status(session)).parked]).toEqual(['failures', undefined]);
  });

  it('is not waited for when it takes long, and no more than eight run that were begun here', async () => {
    let asked = 0;
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const backend = createAgentRuntime({
      id: SPEAKER.provider,
      answer: () => {
        asked += 1;
        return gate;
      },
    });
    await using opened = await open({}, { runtimes: [backend] });
    const { setup, source } = opened;
    const first = await setup.session([], { message: 'Go.', agent: SPEAKER });
    const others: string[] = [];
    while (others.length < 8) {
      const { sessionId } = await setup.runtime.sessions.create({ agentId: AGENT });
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go.' });
      others.push(sessionId);
    }
    const sent = [first, ...others].map(async (id) => (await source.command?.(id, { type: 'wake' }))?.text);
    await until(() => asked === 8);
    await setup.clock.advance(1_500);
    const texts = await Promise.all(sent);
    expect(texts.filter((text) => text === 'Woken: its wake runs')).toHaveLength(8);
    expect(texts.filter((text) => text?.startsWith('It is woken as soon as'))).toHaveLength(1);
    expect(asked).toBe(8);
    release();
    await until(async () => asked === 9 && (await openWakes(setup)) === 0);
  });

  it('is refused where nothing is woken, with the command, and for a session that is over', async () => {
    await using opened = await open({ wakes: false });
    const { setup, source } = opened;
    const session = await setup.session([{ text: 'Done.' }], { message: 'Go.' });
    expect(source.about().canWake).toBeUndefined();
    await expect(source.command?.(session, { type: 'wake' })).rejects.toMatchObject({
      code: 'INSPECTION_WAKES_NOTHING',
      hint: expect.stringContaining(`wakechart wake --session ${session}`),
    });
    await setup.runtime.sessions.terminate(session);
    await expect(source.command?.(session, { type: 'wake' })).rejects.toMatchObject({ code: 'SESSION_TERMINATED' });
  });
});

async function openWakes({ runtime }: SessionSetup): Promise<number> {
  return (await runtime.sessions.list()).filter(({ openWake }) => openWake !== undefined).length;
}

describe('what waits for its turn', () => {
  it('is woken once however often it was asked for, bounded, and not after the close', async () => {
    const woken: string[] = [];
    const gates: (() => void)[] = [];
    const outcome = { outcome: 'sleep', summary: 'Done.' } as unknown as WakeOutcome;
    const clock = createSimulatedClock();
    const commands = new SessionCommands({
      sessions: { status: async () => ({ status: 'idle' }) } as unknown as SessionCommandsOptions['sessions'],
      clock,
      onProblem: () => undefined,
      wake: (id) => {
        woken.push(id);
        return new Promise((resolve) => gates.push(() => resolve(outcome)));
      },
    });
    const wake = (id: string): Promise<unknown> => commands.take(id, { type: 'wake' });
    const begun = Array.from({ length: 8 }, (_, index) => wake(`running ${index}`));
    await until(() => woken.length === 8);
    for (let click = 0; click < 5; click += 1) await wake('clicked');
    for (let count = 1; count < 500; count += 1) await wake(`queued ${count}`);
    await expect(wake('one more')).rejects.toMatchObject({ code: 'WAKE_QUEUE_FULL' });
    await wake('clicked');
    gates[0]?.();
    gates[1]?.();
    await until(() => woken.length === 10);
    expect(woken.slice(8)).toEqual(['clicked', 'queued 1']);
    commands.close();
    await expect(wake('too late')).rejects.toMatchObject({ code: 'INSPECTION_ENDED' });
    for (const release of gates) release();
    await Promise.all(begun);
    expect(woken).toHaveLength(10);
  });
});

describe('an end', () => {
  it('is stored as the command line stores it, with the reason, and told again without another record', async () => {
    await using opened = await open();
    const { setup, source } = opened;
    const session = await setup.session([{ text: 'Done.' }], { message: 'Go.' });
    expect((await source.command?.(session, { type: 'interrupt', reason: 'wrong branch' }))?.text).toMatch(
      /^Interrupted: stored as event \d+$/,
    );
    expect((await source.command?.(session, { type: 'terminate', reason: 'no use' }))?.text).toMatch(/^Terminated/);
    const log = await setup.log(session);
    expect(log.find(({ type }) => type === 'user.interrupt')?.data).toMatchObject({ reason: 'wrong branch' });
    expect(log.at(-1)).toMatchObject({ type: 'session.status_changed', data: { to: 'terminated', reason: 'no use' } });
    expect(await source.command?.(session, { type: 'terminate' })).toEqual({ text: 'It was terminated before' });
    expect(await setup.log(session)).toHaveLength(log.length);
  });

  it('is taken over a home in which nothing runs, and wakes nothing there', async () => {
    const home = await temporaryHome();
    const worker = await createNodeRuntime({ home: home.path });
    await worker.agents.create({
      agentId: AGENT,
      source: { frontmatter: { name: AGENT, provider: 'script', model: 'play.json' }, instructions: 'Play.' },
    });
    const { sessionId } = await worker.sessions.create({ agentId: AGENT });
    await worker.shutdown();
    const viewer = await createNodeRuntime({ home: home.path, reconcileOnStart: false, readsOnly: true });
    const source = createHomeSource(viewer, { title: 'a home' });
    try {
      expect((await source.command?.(sessionId, { type: 'interrupt' }))?.text).toMatch(/^Interrupted/);
      expect((await source.command?.(sessionId, { type: 'terminate' }))?.text).toMatch(/^Terminated/);
      expect(source.about()).toMatchObject({ canAnswer: true });
      expect(source.about().canWake).toBeUndefined();
    } finally {
      source.close();
      await viewer.shutdown();
      await home.remove();
    }
  });

  it('is refused by an inspector that takes no answers', async () => {
    await using opened = await open({ canAnswer: false });
    const { setup, source } = opened;
    const session = await setup.session([{ text: 'Done.' }], { message: 'Go.' });
    await expect(source.command?.(session, { type: 'terminate' })).rejects.toMatchObject({
      code: 'INSPECTION_READ_ONLY',
    });
    expect(source.about().canWake).toBeUndefined();
  });
});
