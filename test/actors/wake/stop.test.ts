/** How a turn is stopped: in two stages, with a result for each call, and nothing of it runs again. */
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import type { Runtime } from '../../../src/runtime.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import { expectSettled } from '../../support/settled-session.ts';
import { until } from '../../support/session-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let ran: string[];
let id: string;
/** Lets `slow` and `finishing` come to their end. */
let finish: () => void;
afterEach(() => setup[Symbol.asyncDispose]());

const FINISH_GRACE_MS = 30_000;
const STOP_GRACE_MS = 5_000;

async function open(
  steps: readonly Said[],
  options: {
    readonly ports?: (setup: TurnSetup) => Parameters<TurnSetup['open']>[0];
    readonly tools?: (tool: ReturnType<typeof noteTools>['tool']) => readonly Tool[];
  } = {},
): Promise<void> {
  const { tool, ran: noted } = noteTools();
  ran = noted;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const stopped = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
    );
  setup = await openTurnSetup({
    tools: [
      tool('quick'),
      tool('failing', { run: () => Promise.reject(new Error('boom')) }),
      tool('obedient', { run: (_input, { signal }) => stopped(signal) }),
      tool('deaf', { run: () => new Promise(() => undefined) }),
      tool('finishing', {
        interruptBehavior: 'finish',
        run: (_input, { signal }) => Promise.race([finished.then(() => 'came to its end'), stopped(signal)]),
      }),
      tool('launch', { permissionPolicy: 'always_ask' }),
      ...(options.tools?.(tool) ?? []),
    ],
  });
  if (options.ports !== undefined) setup.open(options.ports(setup));
  await setup.agent('worker', steps);
  id = await setup.start('worker');
}

const call = (...names: readonly string[]): Said => ({ calls: names.map((name) => ({ name })) });
const outcomes = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await setup.dataOf(id, 'agent.tool_result')).map(({ name, outcome }) => [name, outcome]));

function wake(): {
  readonly waking: ReturnType<Runtime['wake']>;
  readonly abort: AbortController;
  readonly force: AbortController;
} {
  const [abort, force] = [new AbortController(), new AbortController()];
  return { waking: setup.runtime.wake(id, { signal: abort.signal, force: force.signal }), abort, force };
}

describe('a turn that is stopped', () => {
  it('lets a tool that is not to be cut short come to its end, and cuts the others', async () => {
    await open([call('finishing', 'obedient'), { text: 'never' }]);
    const { waking, abort } = wake();
    await until(() => ran.length === 2);
    abort.abort('enough');
    await until(async () => (await setup.results(id)).length === 1);
    expect(await outcomes()).toEqual({ obedient: 'cancelled' });
    finish();
    expect(await waking).toMatchObject({ outcome: 'aborted' });
    expect(await outcomes()).toEqual({ finishing: 'completed', obedient: 'cancelled' });
    expect(setup.asked).toHaveLength(1);
  });

  it('for the second time, by force, waits for nobody', async () => {
    await open([call('finishing', 'deaf', 'obedient'), { text: 'never' }]);
    const { waking, abort, force } = wake();
    await until(() => ran.length === 3);
    abort.abort('enough');
    force.abort('at once');
    expect(await waking).toMatchObject({ outcome: 'aborted' });
    expect(await outcomes()).toEqual({ finishing: 'cancelled', deaf: 'cancelled', obedient: 'cancelled' });
    expect((await setup.results(id)).some(({ output }) => String(output).includes('may still be at work'))).toBe(true);
  });

  it('does not wait for ever for what is to come to its end, nor for what is deaf', async () => {
    await open([call('finishing', 'deaf'), { text: 'never' }]);
    const { waking, abort } = wake();
    await until(() => ran.length === 2);
    abort.abort('enough');
    await setup.clock.advance(STOP_GRACE_MS);
    await until(async () => (await outcomes())['deaf'] === 'cancelled');
    await setup.clock.advance(FINISH_GRACE_MS - STOP_GRACE_MS - 1);
    expect(await outcomes()).toEqual({ deaf: 'cancelled' });
    await setup.clock.advance(1);
    expect(await waking).toMatchObject({ outcome: 'aborted' });
    expect(await outcomes()).toEqual({ deaf: 'cancelled', finishing: 'cancelled' });
  });

  it('has a result for each of its calls, begun or not, and those that wait for somebody still wait', async () => {
    await open([call(...Array.from({ length: 12 }, () => 'obedient'), 'quick', 'launch'), { text: 'On.' }]);
    const { waking, abort } = wake();
    await until(() => ran.length === 4);
    abort.abort('enough');
    expect(await waking).toMatchObject({ outcome: 'aborted' });
    expect((await setup.results(id)).filter(({ outcome }) => outcome === 'cancelled')).toHaveLength(13);
    expect(await setup.state(id)).toMatchObject({ openToolCalls: [{ name: 'launch', phase: 'waiting' }] });
    expectSettled(await setup.log(id), await setup.state(id));
    expect(ran).toHaveLength(4);
    await setup.confirm(id);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'On.' });
    expect(ran.filter((name) => name !== 'launch')).toHaveLength(4);
  });

  it('by a shutdown is gone on with by the next process: the model hears what became of its calls, and none is run again', async () => {
    await open([call('obedient', 'quick'), { text: 'Where were we?' }]);
    const waking = setup.runtime.wake(id);
    await until(async () => (await setup.results(id)).length === 1 && ran.length === 2);
    const close = setup.store.close.bind(setup.store);
    setup.store.close = async () => undefined;
    await setup.runtime.shutdown('the machine is switched off');
    setup.store.close = close;
    expect(await waking).toMatchObject({ outcome: 'aborted' });
    setup.open();
    expect(await setup.due()).toEqual([id]);
    await setup.settle();
    expect(await setup.state(id)).toMatchObject({ summary: 'Where were we?' });
    expect(ran.toSorted()).toEqual(['obedient', 'quick']);
    expect(setup.asked.at(-1)?.read).toContain('switched off');
  });

  it('by an interruption is not gone on with by itself, and what runs is told', async () => {
    await open([call('obedient', 'launch'), { text: 'never' }]);
    const { waking } = wake();
    await until(() => ran.length === 1);
    await setup.runtime.sessions.interrupt(id, { reason: 'wrong way' });
    expect(await waking).toMatchObject({ outcome: 'interrupted', summary: 'The turn was interrupted: wrong way.' });
    expect(await outcomes()).toEqual({ obedient: 'cancelled', launch: 'cancelled' });
    await setup.settle();
    expect([setup.asked.length, ran]).toEqual([1, ['obedient']]);
  });

  it('by its end, terminated, keeps what a call came to that had begun', async () => {
    await open([call('finishing'), { text: 'never' }]);
    const { waking } = wake();
    await until(() => ran.length === 1);
    await setup.runtime.sessions.terminate(id);
    finish();
    expect(await waking).toMatchObject({ outcome: 'terminated' });
    expect(await outcomes()).toEqual({ finishing: 'completed' });
    expect(await setup.due()).toEqual([]);
  });
});

describe('tools of one step', () => {
  it('of which one fails, one is killed and one hangs, each have what became of them, in the order in which they were asked for', async () => {
    const clock = createSystemClock();
    const process = createManagedShellProcessRunner({
      processTree: createProcessTree({ clock }),
      clock,
      environment: () => ({}),
    });
    const shell = (command: string): { readonly name: string; readonly input: object } => ({
      name: 'shell_run',
      input: { command },
    });
    await open(
      [
        { calls: [shell('echo before; kill -9 $$'), { name: 'deaf' }, { name: 'failing' }, shell('echo fine')] },
        { text: 'All told.' },
      ],
      {
        ports: () => ({ tasks: new BackgroundTaskManager({ runners: { process }, clock }) }),
      },
    );
    const { waking, abort } = wake();
    await until(async () => (await setup.results(id)).length === 3);
    abort.abort('too long');
    await setup.clock.advance(STOP_GRACE_MS);
    expect(await waking).toMatchObject({ outcome: 'aborted' });
    await setup.settle();
    const results = await setup.dataOf(id, 'agent.tool_result');
    const byCall = (await setup.dataOf(id, 'agent.tool_use')).map(({ callId }) =>
      results.filter((result) => result.callId === callId),
    );
    expect(byCall).toMatchObject([
      [{ outcome: 'completed', output: { output: 'before\n', exitCode: null } }],
      [{ outcome: 'cancelled' }],
      [{ outcome: 'failed', output: 'boom' }],
      [{ outcome: 'completed', output: { output: 'fine\n', exitCode: 0 } }],
    ]);
    const read = setup.asked.at(-1)?.read ?? '';
    const places = ['before', 'did not stop in time', 'boom', 'fine'].map((text) => read.lastIndexOf(text));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(await setup.state(id)).toMatchObject({ summary: 'All told.' });
  });

  it('come to the model in the order in which it asked, whichever ends first', async () => {
    const gates = new Map<string, () => void>();
    await open(
      [{ calls: ['a', 'b', 'c'].map((letter) => ({ name: 'gated', input: { letter } })) }, { text: 'Read.' }],
      {
        tools: (tool) => [
          tool('gated', {
            run: (input) =>
              new Promise((resolve) =>
                gates.set((input as { letter: string }).letter, () =>
                  resolve(`result of ${(input as { letter: string }).letter}`),
                ),
              ),
          }),
        ],
      },
    );
    const waking = setup.runtime.wake(id);
    await until(() => gates.size === 3);
    for (const letter of ['c', 'a', 'b']) {
      const before = (await setup.results(id)).length;
      gates.get(letter)?.();
      await until(async () => (await setup.results(id)).length === before + 1);
    }
    await waking;
    expect((await setup.results(id)).map(({ output }) => output)).toEqual([
      'result of c',
      'result of a',
      'result of b',
    ]);
    const read = setup.asked.at(-1)?.read ?? '';
    const places = ['a', 'b', 'c'].map((letter) => read.indexOf(`result of ${letter}`));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });
});
