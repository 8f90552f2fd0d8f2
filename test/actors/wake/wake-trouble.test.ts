/** Wakes that fail, that are stopped, and that another one took for dead: what they leave, and what comes next. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import type { AppendResult } from '../../../src/actors/session/event-store.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { dataIn, newEvent, wakeEnded, wakeStarted } from '../../support/session-events.ts';
import { AGENT, openSetup, shellRun, until } from '../../support/session-setup.ts';
import type { SessionSetup, SessionSetupOptions } from '../../support/session-setup.ts';

let setup: SessionSetup;
const open = async (options?: SessionSetupOptions): Promise<SessionSetup> => {
  setup = await openSetup(options);
  return setup;
};
afterEach(() => setup.close());

function expectNothingOpen({ openWake, openSpanId, openToolCalls }: SessionState): void {
  expect([openWake, openSpanId, openToolCalls]).toEqual([undefined, undefined, []]);
}

describe('a wake that goes wrong', () => {
  it('on a failure of the backend ends with a record of it, keeps the message, and the next wake goes on', async () => {
    const { runtime, session, log } = await open();
    const id = await session(
      [{ error: { kind: 'rate_limit', message: 'slow down', retryAfterMs: 1500 } }, { text: 'Now.' }],
      { message: 'Go' },
    );
    expect(await runtime.wake(id)).toMatchObject({
      outcome: 'failed',
      status: 'idle',
      error: { code: 'RUN_FAILED', category: 'provider' },
      summary:
        'The wake failed: the model step failed (rate_limit): slow down. Wait until the provider allows more calls, then wake the session again. The provider asks to wait 2 seconds.',
    });
    expect(dataIn(await log(id), 'span.completed')).toMatchObject([
      { outcome: 'failed', error: { kind: 'rate_limit', retryAfterMs: 1500 } },
    ]);
    expect((await runtime.sessions.get(id)).pending).toHaveLength(1);
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Now.' });
  });

  it('over an unmet expectation says what came, and tries the same step again', async () => {
    const { runtime, session, write } = await open();
    const id = await session([{ text: 'x', expect: { lastUserMessageIncludes: 'please' } }], { message: 'Go' });
    expect((await runtime.wake(id)).summary).toContain(
      'step 1: expected the last user message to include "please", received: "Go"',
    );
    await write([{ text: 'Fine.' }]);
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Fine.' });
  });

  it.each<[string, (home: string) => Promise<void>, RegExp]>([
    [
      'whose agent file is broken',
      (home) => writeFile(join(home, 'agents', AGENT, 'agent.md'), '---\nname: x\n---\n'),
      /agent file player\/agent\.md is not valid: line 2/,
    ],
    [
      'whose backend is missing',
      async (home) => {
        const path = join(home, 'agents', AGENT, 'agent.md');
        await writeFile(path, (await readFile(path, 'utf8')).replace('provider: script', 'provider: moon'));
      },
      /expected a backend for the provider "moon"; registered: script/,
    ],
    [
      'whose script is missing',
      (home) => writeFile(join(home, 'agents', AGENT, 'play.json'), '{'),
      /script play\.json is not JSON/,
    ],
  ])('%s rests with a summary that says so', async (_what, damage, pattern) => {
    const { runtime, session } = await open();
    const id = await session([{ text: 'x' }], { message: 'Go' });
    await damage(setup.home);
    const outcome = await runtime.wake(id);
    expect(outcome).toMatchObject({ outcome: 'failed', status: 'idle' });
    expect(outcome.summary).toMatch(pattern);
    expectNothingOpen(await runtime.sessions.get(id));
  });

  it('whose backend breaks its promises rests all the same', async () => {
    const broken: AgentRuntime = {
      id: 'broken',
      run: () => Promise.resolve({}) as never,
      abort: async () => undefined,
      isRunActive: () => false,
    };
    const { runtime, session, log } = await open({ runtimes: [broken] });
    const id = await session([], { message: 'Go', agent: { provider: 'broken' } });
    const message = expect.stringContaining('the backend "broken" returned what is no result of a run') as string;
    expect(await runtime.wake(id)).toMatchObject({
      outcome: 'failed',
      status: 'idle',
      modelSteps: 1,
      error: { code: 'RUN_FAILED', category: 'provider', message },
    });
    expect(dataIn(await log(id), 'span.completed')).toMatchObject([
      { outcome: 'failed', modelSteps: 0, error: { kind: 'unknown', message } },
    ]);
    expect((await runtime.sessions.get(id)).pending).toHaveLength(1);
    expectNothingOpen(await runtime.sessions.get(id));
  });

  it('stops at its budget of steps, and the next wake goes on from there', async () => {
    const { runtime, session } = await open();
    const id = await session(
      [{ toolCalls: [{ name: 'none' }] }, { toolCalls: [{ name: 'none' }] }, { text: 'Done.' }],
      { message: 'Go', agent: { budget: { maxModelStepsPerWake: 2 } } },
    );
    expect(await runtime.wake(id)).toMatchObject({
      outcome: 'budget_reached',
      modelSteps: 2,
      summary: expect.stringContaining('maxModelStepsPerWake (2)') as string,
    });
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Done.', modelSteps: 1 });
  });

  it('that cannot write releases the session and tells the caller, and the next wake puts it right', async () => {
    let isFull = false;
    class FullStore extends MemoryEventStore {
      override append(...parameters: Parameters<MemoryEventStore['append']>): Promise<AppendResult> {
        return isFull
          ? Promise.reject(new RuntimeError('STORAGE_FAILED', 'the disk is full', { category: 'storage' }))
          : super.append(...parameters);
      }
    }
    const { runtime, session, clock, log } = await open({ store: () => new FullStore() });
    const id = await session([{ text: 'x', delayMs: 10 }, { text: 'After.' }], { message: 'Go' });
    const waking = codeOf(runtime.wake(id));
    await until(() => clock.pendingTimers > 0);
    isFull = true;
    await clock.advance(10);
    expect(await waking).toBe('STORAGE_FAILED');
    isFull = false;
    expect(await runtime.sessions.get(id)).toMatchObject({ status: 'running' });
    const again = runtime.wake(id);
    await until(() => clock.pendingTimers > 0);
    await clock.advance(10);
    expect(await again).toMatchObject({ outcome: 'sleep', epoch: 2 });
    expect(dataIn(await log(id), 'wake.ended')).toMatchObject([{ outcome: 'lost' }, { outcome: 'sleep' }]);
    expect(dataIn(await log(id), 'span.completed')).toMatchObject([
      { outcome: 'lost', modelSteps: 0 },
      { outcome: 'completed' },
    ]);
  });

  it('is not failed by a view that cannot be kept', async () => {
    class BlindStore extends MemoryEventStore {
      override saveView(): Promise<void> {
        return Promise.reject(new Error('no view'));
      }
    }
    const { runtime, session } = await open({ store: () => new BlindStore() });
    const id = await session([{ text: 'x' }], { message: 'Go' });
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
  });

  it('skips tools that nobody has, and says so', async () => {
    const { runtime, session, log } = await open();
    const id = await session([{ toolCalls: [shellRun()] }, { text: 'x' }], {
      message: 'Go',
      agent: { tools: ['teleport'] },
    });
    await runtime.wake(id);
    expect(dataIn(await log(id), 'tool.skipped')).toEqual([
      { name: 'teleport', reason: 'no tool of this name is available' },
    ]);
    expect(dataIn(await log(id), 'agent.tool_result')).toMatchObject([
      { output: 'There is no tool "shell_run". Available: none.' },
    ]);
  });

  it('runs no tool of an agent that may run none', async () => {
    const { runtime, session, log, processes } = await open();
    const id = await session([{ toolCalls: [shellRun()] }, { text: 'x' }], {
      message: 'Go',
      agent: { permission: 'deny' },
    });
    await runtime.wake(id);
    expect(processes.works).toEqual([]);
    expect(dataIn(await log(id), 'agent.tool_result')).toMatchObject([{ outcome: 'failed' }]);
  });
});

describe('a wake that another one took for dead', () => {
  it('is stopped at once, writes nothing more, and says why; the other one goes on', async () => {
    const { runtime, session, clock, log, store } = await open();
    const id = await session([{ text: 'x', delayMs: 1_000, toolCalls: [shellRun()] }, { text: 'Mine.' }], {
      message: 'Go',
    });
    const first = codeOf(runtime.wake(id));
    await until(() => clock.pendingTimers === 1);
    const [began] = (await log(id)).flatMap((event) => (event.type === 'wake.started' ? [event.data.wakeId] : []));
    await store.append(id, [newEvent(901, wakeEnded(began ?? '', 'lost'), 3), newEvent(902, wakeStarted(3), 3)]);
    const right = await store.acquireWakeRight(id, { epoch: 3, isOpen: true });
    expect(await first).toMatch(/^(WAKE|EPOCH)_SUPERSEDED$/);
    expect(clock.pendingTimers).toBe(0);
    expect(setup.processes.works).toEqual([]);
    expect((await runtime.sessions.get(id)).openWake).toMatchObject({ wakeId: 'wake_3', epoch: 3 });
    await right.release();
    await setup.write([{ text: 'Mine.' }]);
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Mine.', epoch: 4 });
  });
});

describe('a wake that is stopped', () => {
  it('in a model step aborts it, keeps the message and rests', async () => {
    const { runtime, session, clock } = await open();
    const id = await session([{ text: 'x', delayMs: 60_000 }], { message: 'Go' });
    const controller = new AbortController();
    const waking = runtime.wake(id, { signal: controller.signal });
    await until(() => clock.pendingTimers > 0);
    controller.abort('the user left');
    expect(await waking).toMatchObject({
      outcome: 'aborted',
      status: 'idle',
      summary: 'The wake was stopped: the user left. Wake the session again to go on.',
    });
    expect(await runtime.sessions.get(id)).toMatchObject({
      pending: [{ type: 'user.message' }],
      openSpanId: undefined,
      modelSteps: 0,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('in a tool call stops the process, records the call as cancelled, and never runs it again', async () => {
    const { runtime, session, log, processes } = await open();
    const id = await session(
      [{ toolCalls: [shellRun('sleep')] }, { text: 'Understood.', expect: { lastToolResultOutcome: 'cancelled' } }],
      { message: 'Go' },
    );
    const controller = new AbortController();
    const waking = runtime.wake(id, { signal: controller.signal });
    await until(() => processes.works.length === 1);
    controller.abort('enough');
    expect(await waking).toMatchObject({ outcome: 'aborted' });
    expect(processes.works[0]?.cancelReasons).toEqual(['enough']);
    expect(dataIn(await log(id), 'agent.tool_result')).toMatchObject([
      { outcome: 'cancelled', output: 'The call was stopped: enough.' },
    ]);
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Understood.' });
    expect(processes.works).toHaveLength(1);
  });

  it('before it began leaves no trace', async () => {
    const { runtime, session, types } = await open();
    const id = await session([{ text: 'x' }], { message: 'Go' });
    expect(await runtime.wake(id, { signal: AbortSignal.abort('early') })).toMatchObject({
      outcome: 'aborted',
      summary: 'The wake was stopped before it began: early.',
    });
    expect(await types(id)).toEqual(['session.created', 'user.message']);
  });

  it('ends though the backend is deaf', async () => {
    const deaf: AgentRuntime = {
      id: 'deaf',
      run: () => new Promise(() => undefined),
      abort: async () => undefined,
      isRunActive: () => true,
    };
    const { runtime, session, clock, types } = await open({ runtimes: [deaf] });
    const id = await session([], { message: 'Go', agent: { provider: 'deaf' } });
    const controller = new AbortController();
    const waking = runtime.wake(id, { signal: controller.signal });
    await until(async () => (await types(id)).includes('span.started'));
    controller.abort('enough');
    await until(() => clock.pendingTimers > 0);
    await clock.advance(5_000);
    expect(await waking).toMatchObject({ outcome: 'aborted', status: 'idle' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('by a shutdown closes its calls and lets go', async () => {
    const { runtime, session, processes, store } = await open({
      store: ({ home, clock }) => new FileEventStore({ home, clock }),
    });
    const id = await session([{ toolCalls: [shellRun('sleep'), shellRun('sleep')] }], { message: 'Go' });
    const waking = runtime.wake(id);
    await until(() => processes.works.length === 2);
    await Promise.all([runtime.shutdown('closing time'), runtime.shutdown()]);
    expect(await waking).toMatchObject({
      outcome: 'aborted',
      summary: 'The wake was stopped: closing time. Wake the session again to go on.',
    });
    expect(await codeOf(runtime.wake(id))).toBe('RUNTIME_SHUT_DOWN');
    expect(await codeOf(store.read(id))).toBe('STORE_CLOSED');
    const after = new FileEventStore({ home: setup.home, clock: setup.clock });
    expect((await after.read(id)).filter(({ type }) => type === 'agent.tool_result')).toMatchObject([
      { data: { outcome: 'cancelled' } },
      { data: { outcome: 'cancelled' } },
    ]);
    await (await after.acquireWakeRight(id, { epoch: 1, isOpen: false })).release();
    await after.close();
  });

  it('by the end of its session takes no further step', async () => {
    const { runtime, session, clock, types } = await open();
    const id = await session([{ text: 'x', delayMs: 10, toolCalls: [{ name: 'none' }] }, { text: 'never' }], {
      message: 'Go',
    });
    const waking = runtime.wake(id);
    await until(() => clock.pendingTimers > 0);
    await runtime.sessions.terminate(id, { reason: 'obsolete' });
    await clock.advance(10);
    expect(await waking).toMatchObject({ outcome: 'terminated', status: 'terminated', modelSteps: 1 });
    expect((await types(id)).at(-1)).toBe('wake.ended');
    expect(await codeOf(runtime.wake(id))).toBe('SESSION_TERMINATED');
  });
});
