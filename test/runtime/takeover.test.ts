/** What a runtime does about the wake of a process that died, and what it releases when its own parts fail. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import type { Tool } from '../../src/actors/turn/tool.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { createRuntime } from '../../src/runtime.ts';
import type { Runtime, RuntimePorts } from '../../src/runtime.ts';
import { codeOf } from '../contracts/event-store.contract.ts';
import { newEvent, running, spanStarted, wakeStarted } from '../support/session-events.ts';
import { until } from '../support/session-setup.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let home: TemporaryHome;
let clock: SimulatedClock;
let store: MemoryEventStore;
beforeEach(async () => {
  home = await temporaryHome();
  clock = createSimulatedClock();
  store = new MemoryEventStore();
});
afterEach(() => home.remove());

/** A runtime whose model calls the tool `wait` and then says that it is done. */
function open(ports: Partial<RuntimePorts> = {}): Runtime {
  const layout = new HomeLayout(home.path);
  return createRuntime({
    // Nobody moves the clock on while a step waits.
    runLimits: { maxBackOffs: 0 },
    clock,
    store,
    directories: layout,
    agents: new FileAgentCatalog({ agentsDirectory: layout.agents }),
    runtimes: [
      {
        id: 'speaker',
        run: async ({ modelStepsTaken }) => ({
          payloads:
            modelStepsTaken === 0
              ? [{ type: 'tool_call', callId: 'c', name: 'wait', input: {} }]
              : [{ type: 'text', text: 'Done.' }],
        }),
        abort: async () => undefined,
        isRunActive: () => false,
      },
    ],
    tasks: new BackgroundTaskManager({ clock }),
    ...ports,
  });
}

async function session(runtime: Runtime): Promise<string> {
  await runtime.agents.create({
    agentId: 'speaker',
    source: { frontmatter: { name: 'Speaker', provider: 'speaker', model: 'm' }, instructions: '' },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'speaker' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
  return sessionId;
}

/** A session in the middle of a model step of a wake that died. */
async function orphan(runtime: Runtime): Promise<string> {
  const id = await session(runtime);
  await store.append(id, [
    newEvent(101, wakeStarted(1), 1),
    newEvent(102, running, 1),
    newEvent(103, spanStarted('s'), 1),
  ]);
  return id;
}

const lostSummary = (events: readonly SessionEvent[]): string =>
  events
    .flatMap((event) => (event.type === 'wake.ended' && event.data.outcome === 'lost' ? [event.data.summary] : []))
    .join('');

describe('a wake that takes over from one that died', () => {
  it('writes nothing before what the dead process left running is gone', async () => {
    let finish: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let asked = 0;
    const runtime = open({
      processTree: {
        reconcile: () => {
          asked += 1;
          return gone.then(() => []);
        },
      },
    });
    const id = await orphan(runtime);
    const waking = runtime.wake(id);
    await until(() => asked === 1);
    expect(await store.head(id)).toBe(5);
    finish();
    expect(await waking).toMatchObject({ outcome: 'sleep', epoch: 2, summary: 'Done.' });
    expect(lostSummary(await store.read(id))).toBe(
      'The process of this wake (test) died, or did not answer for longer than its lease, before the wake ended.',
    );
    await runtime.shutdown();
  });

  it('goes on when that cannot be ended, reports it, and says so in the log', async () => {
    const reported: unknown[] = [];
    const runtime = open({
      processTree: { reconcile: () => Promise.reject(new Error('no process table')) },
      onListenerError: (error) => reported.push(error),
    });
    const id = await orphan(runtime);
    expect(await runtime.wake(id)).toMatchObject({ outcome: 'sleep', epoch: 2 });
    expect(reported).toMatchObject([{ message: 'no process table' }]);
    expect(lostSummary(await store.read(id))).toMatch(/What it left running may still be at work: no process table\.$/);
    await runtime.shutdown();
  });

  it('sees that the session was terminated while it waited', async () => {
    const runtime = open({
      processTree: {
        reconcile: async () => {
          await runtime.sessions.terminate(id, { reason: 'obsolete' }).catch(() => undefined);
          return [];
        },
      },
    });
    const id = await orphan(runtime);
    expect(await codeOf(runtime.wake(id))).toBe('SESSION_TERMINATED');
    expect((await store.read(id)).filter(({ type }) => type === 'wake.started')).toHaveLength(1);
    await (await store.acquireWakeRight(id, { epoch: 2, isOpen: false })).release();
    await runtime.shutdown();
  });

  it('does not search for survivors when the one before it ended', async () => {
    let asked = 0;
    const runtime = open({
      processTree: {
        reconcile: async () => {
          asked += 1;
          return [];
        },
      },
    });
    const id = await session(runtime);
    await runtime.wake(id);
    await runtime.sessions.send(id, { type: 'user.message', text: 'More' });
    await runtime.wake(id);
    expect(asked).toBe(0);
    await runtime.shutdown();
  });
});

describe('a wake that meets a defect', () => {
  it('rests, and asks for a report', async () => {
    const runtime = open({
      directories: {
        agentDirectory: () => '/',
        workspaceDirectory: () => {
          throw new TypeError('x is not a function');
        },
      },
    });
    const id = await session(runtime);
    expect(await runtime.wake(id)).toMatchObject({
      outcome: 'failed',
      status: 'idle',
      error: { code: 'WAKE_CRASHED', message: 'the wake broke: x is not a function' },
    });
    await runtime.shutdown();
  });
});

describe('a runtime that is shut down', () => {
  it('is not held by a tool that is deaf to its signal', async () => {
    const deaf: Tool = {
      definition: {
        name: 'wait',
        description: 'Waits.',
        inputSchema: z.looseObject({}),
        ownership: 'custom',
        permissionPolicy: 'always_allow',
        readOnly: true,
        destructive: false,
        interruptBehavior: 'cancel',
      },
      run: () => new Promise(() => undefined),
    };
    const runtime = open({ tools: [deaf] });
    const id = await session(runtime);
    const waking = runtime.wake(id);
    await until(async () => (await store.read(id)).some(({ type }) => type === 'agent.tool_use'));
    const ending = runtime.shutdown('closing time');
    await until(() => clock.pendingTimers > 0);
    await clock.advance(5_000);
    expect(await waking).toMatchObject({ outcome: 'aborted', status: 'idle' });
    await ending;
    expect(await codeOf(store.head(id))).toBe('STORE_CLOSED');
  });

  it('releases its store though its tasks cannot be shut down, and tells', async () => {
    class StuckTasks extends BackgroundTaskManager {
      override async shutdown(reason?: string): Promise<void> {
        await super.shutdown(reason);
        throw new Error('the tasks are stuck');
      }
    }
    const runtime = open({ tasks: new StuckTasks({ clock }) });
    await expect(runtime.shutdown()).rejects.toThrow('the tasks are stuck');
    expect(await codeOf(store.list())).toBe('STORE_CLOSED');
  });
});
