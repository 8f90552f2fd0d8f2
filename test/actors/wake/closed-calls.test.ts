/** Calls that a dead wake left open end in their charts too: whoever inspects sees each of them come to its end. */
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { afterEach, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { createManualRunner } from '../../support/manual-runner.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
afterEach(() => setup[Symbol.asyncDispose]());

/** Another process, whose actors are inspected: the last state of each call, by its id. */
function openInspected(): { readonly runtime: Runtime; readonly ends: ReadonlyMap<string, string> } {
  const ends = new Map<string, string>();
  const inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.snapshot') return;
    const { value } = event.snapshot as { readonly value?: unknown };
    if (typeof value === 'string') ends.set((event.actorRef as AnyActorRef).id, value);
  };
  const tasks = new BackgroundTaskManager({
    runners: { process: createManualRunner('process') },
    clock: setup.clock,
    inspect,
  });
  return { runtime: setup.open({ tasks }), ends };
}

/** A wake asks a question and runs a tool, and its process dies when the first result is about to be stored. */
async function dieInAStep(meanwhile?: (other: Runtime, sessionId: string) => Promise<unknown>): Promise<string> {
  const store = new HookedStore();
  setup = await openTurnSetup({ store, tools: [noteTools().tool('touch')] });
  await setup.agent(
    'worker',
    [{ calls: [{ name: 'ask_human', input: { question: 'Which?' } }, { name: 'touch' }] }, { text: 'Done.' }],
    { tools: ['ask_human', 'touch'] },
  );
  const id = await setup.start('worker');
  const mortal = new MortalStore(store);
  const dying = setup.open({ store: mortal });
  const other = setup.open();
  if (meanwhile !== undefined) store.before('agent.question_asked', () => meanwhile(other, id));
  store.before('agent.tool_result', async () => {
    await mortal.kill();
    throw new Error('the process was killed');
  });
  await dying.wake(id).catch(() => undefined);
  return id;
}

async function callNamed(sessionId: string, name: string): Promise<string | undefined> {
  return (await setup.state(sessionId)).openToolCalls.find((call) => call.name === name)?.callId;
}

it('as unknown where it ran', async () => {
  const id = await dieInAStep();
  const touched = await callNamed(id, 'touch');
  const { runtime, ends } = openInspected();
  await runtime.wake(id);
  expect([...ends]).toContainEqual([touched, 'unknown']);
});

it('as cancelled where it had not begun when the turn was cut short', async () => {
  const id = await dieInAStep((other, sessionId) => other.sessions.interrupt(sessionId));
  const asked = await callNamed(id, 'ask_human');
  const { runtime, ends } = openInspected();
  await runtime.wake(id);
  expect([...ends]).toContainEqual([asked, 'cancelled']);
});

it('as cancelled where an earlier version asked a person after the turn was cut short', async () => {
  const id = await dieInAStep((other, sessionId) => other.sessions.interrupt(sessionId));
  const asked = await callNamed(id, 'ask_human');
  const { epoch } = await setup.state(id);
  if (asked === undefined) throw new Error('the question is not open');
  const requestId = createIdSource(setup).next();
  const question = { requestId, callId: asked, question: 'Which?' };
  const at = new Date(setup.clock.now()).toISOString();
  await setup.store.append(id, [{ id: requestId, at, epoch, type: 'agent.question_asked', v: 1, data: question }]);
  expect(await setup.requests(id)).toEqual([requestId]);
  const { runtime, ends } = openInspected();
  await runtime.wake(id);
  expect([...ends]).toContainEqual([asked, 'cancelled']);
  expect(await setup.requests(id)).toEqual([]);
});
