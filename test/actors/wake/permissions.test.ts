/** Calls that wait for somebody: they ask, the session rests, the answer counts once, and the next wake goes on. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { SessionIngress } from '../../../src/machines/session/session-requests.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { newEvent, toolStarted } from '../../support/session-events.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openSetup } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

let setup: SessionSetup;
let store: HookedStore;
let id: string;
let ran: string[];
afterEach(() => setup.close());

const tool = (name: string, changes: Partial<Tool['definition']> = {}): Tool => ({
  definition: {
    name,
    description: name,
    inputSchema: z.looseObject({}),
    ownership: 'managed',
    permissionPolicy: 'always_allow',
    readOnly: true,
    destructive: false,
    interruptBehavior: 'cancel',
    ...changes,
  },
  run: async (input) => {
    ran.push(name);
    return { name, input };
  },
});

async function open(steps: readonly object[], agent: object = {}): Promise<void> {
  ran = [];
  store = new HookedStore();
  setup = await openSetup({
    store: () => store,
    tools: [tool('check'), tool('change', { readOnly: false }), tool('launch', { permissionPolicy: 'always_ask' })],
  });
  id = await setup.session(steps, { message: 'Go', agent });
}

const call = (name: string, input: object = {}): object => ({ name, input });
const send = (message: SessionIngress): Promise<unknown> => setup.runtime.sessions.send(id, message);
const requests = async (): Promise<readonly string[]> =>
  (await setup.runtime.sessions.get(id)).pendingActions.map(({ requestId }) => requestId);
const dataOf = async (type: SessionEvent['type']): Promise<unknown[]> =>
  (await setup.log(id)).filter((event) => event.type === type).map(({ data }) => data);
const confirm = (
  requestId: string | undefined,
  allowed: boolean,
  toolName = 'launch',
  note?: string,
): Promise<unknown> =>
  send({
    type: 'user.tool_confirmation',
    requestId: requestId ?? '',
    toolName,
    allowed,
    ...(note === undefined ? {} : { note }),
  });
const isDueFor = async (): Promise<number> =>
  (await store.activations.due({ nowMs: setup.clock.now(), limit: 10 })).due.length;

describe('a tool call asks', () => {
  it.each<[string, string, object, boolean]>([
    ['when its tool always does', 'launch', {}, true],
    ['when it can change something and the agent asks before that', 'change', { permission: 'ask' }, true],
    ['not when it changes nothing', 'check', { permission: 'ask' }, false],
    ['not when its agent may do it', 'change', { permission: 'preapproved' }, false],
  ])('%s', async (_why, name, agent, asks) => {
    await open([{ toolCalls: [call(name)] }, { text: 'Done.' }], agent);
    expect(await setup.runtime.wake(id)).toMatchObject(
      asks
        ? { outcome: 'requires_action', stopReason: 'requires_action', modelSteps: 1 }
        : { outcome: 'sleep', modelSteps: 2 },
    );
    expect(ran).toEqual(asks ? [] : [name]);
  });

  it('while the others of its step run, and no model speaks before the answer', async () => {
    await open([
      { toolCalls: [call('check'), call('launch', { n: 1 })] },
      { text: 'Launched.', expect: { lastToolResultIncludes: ['check', 'launch'] } },
    ]);
    expect(await setup.runtime.wake(id)).toMatchObject({
      outcome: 'requires_action',
      summary: 'Waits for an answer: permission to run launch',
    });
    expect(ran).toEqual(['check']);
    await send({ type: 'user.message', text: 'Are you there?' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
    expect([(await setup.runtime.sessions.get(id)).pending.length, await isDueFor()]).toEqual([1, 0]);
    await confirm((await requests())[0], true);
    expect(await isDueFor()).toBe(1);
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual(['check', 'launch']);
    const types = await setup.types(id);
    expect(types.indexOf('permission.resolved')).toBeLessThan(types.lastIndexOf('agent.tool_started'));
    expect(await dataOf('permission.resolved')).toMatchObject([{ decision: 'allowed' }]);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({ pending: [], pendingActions: [], openToolCalls: [] });
  });

  it('and is told when it was denied, with the reason', async () => {
    await open([
      { toolCalls: [call('launch')] },
      { text: 'A pity.', expect: { lastToolResultIncludes: 'not on a Friday' } },
    ]);
    await setup.runtime.wake(id);
    await confirm((await requests())[0], false, 'launch', 'not on a Friday');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'A pity.' });
    expect([ran, await dataOf('agent.tool_started')]).toEqual([[], []]);
    expect(await dataOf('agent.tool_result')).toMatchObject([{ outcome: 'denied' }]);
  });

  it('nobody when its input is wrong, which the model is told', async () => {
    await open([{ toolCalls: [call('ask_human', { question: '' })] }, { text: 'Sorry.' }]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(await dataOf('agent.tool_result')).toMatchObject([{ outcome: 'failed' }]);
  });

  it('one after the other when several wait: each goes on by itself, the model when all have', async () => {
    await open([
      { toolCalls: [call('launch'), call('launch'), call('ask_human', { question: 'Which?' })] },
      { text: 'All.' },
    ]);
    await setup.runtime.wake(id);
    const [one, two, question] = await requests();
    await confirm(two, true);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action', modelSteps: 0 });
    expect(ran).toEqual(['launch']);
    await send({ type: 'user.answer', requestId: question ?? '', response: 'The blue one' });
    await confirm(one, true);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', modelSteps: 1 });
    expect(ran).toEqual(['launch', 'launch']);
  });
});

describe('a question', () => {
  it('is put to somebody, and the answer is the result of the call', async () => {
    await open([
      { toolCalls: [call('ask_human', { question: 'Which?', choices: ['red', 'blue'] })] },
      { text: 'Blue.', expect: { lastToolResultIncludes: 'the blue one' } },
    ]);
    expect(await setup.runtime.wake(id)).toMatchObject({
      outcome: 'requires_action',
      summary: 'Waits for an answer: Which?',
    });
    expect(await dataOf('agent.question_asked')).toMatchObject([{ question: 'Which?', choices: ['red', 'blue'] }]);
    await send({ type: 'user.answer', requestId: (await requests())[0] ?? '', response: 'the blue one' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Blue.' });
  });
});

describe('an answer', () => {
  it('counts once, of the right kind and for the right tool', async () => {
    await open([{ toolCalls: [call('launch'), call('ask_human', { question: 'Which?' })] }, { text: 'x' }]);
    await setup.runtime.wake(id);
    const [permission, question] = await requests();
    expect(await codeOf(confirm('request_of_nobody', true))).toBe('REQUEST_NOT_PENDING');
    expect(await codeOf(confirm(permission, true, 'land'))).toBe('REQUEST_TOOL_MISMATCH');
    expect(await codeOf(confirm(question, true, 'ask_human'))).toBe('REQUEST_KIND_MISMATCH');
    expect(await codeOf(send({ type: 'user.answer', requestId: permission ?? '', response: 'yes' }))).toBe(
      'REQUEST_KIND_MISMATCH',
    );
    expect(
      await codeOf(
        send({ type: 'user.custom_tool_result', requestId: permission ?? '', toolName: 'launch', output: 1 }),
      ),
    ).toBe('REQUEST_KIND_MISMATCH');
    const codes = await Promise.all([true, false, true].map((allowed) => codeOf(confirm(permission, allowed))));
    expect(codes.toSorted()).toEqual(['REQUEST_NOT_PENDING', 'REQUEST_NOT_PENDING', 'it succeeded']);
    expect(await dataOf('user.tool_confirmation')).toHaveLength(1);
  });

  it('that meets an interruption is either first, or refused', async () => {
    for (const first of ['answer', 'interruption'] as const) {
      await open([{ toolCalls: [call('launch')] }, { text: 'x' }]);
      await setup.runtime.wake(id);
      const [requestId] = await requests();
      const { sessions } = setup.runtime;
      if (first === 'answer') store.before('user.interrupt', () => confirm(requestId, true));
      else store.before('user.tool_confirmation', () => sessions.interrupt(id));
      const code = first === 'answer' ? await codeOf(sessions.interrupt(id)) : await codeOf(confirm(requestId, true));
      expect([first, code]).toEqual([first, first === 'answer' ? 'it succeeded' : 'REQUEST_NOT_PENDING']);
      // Either way the call was cut short before it started.
      expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
      expect([ran, await dataOf('agent.tool_result')]).toMatchObject([[], [{ outcome: 'cancelled' }]]);
      if (first === 'answer') await setup.close();
    }
  });

  it('that comes in the moment the wake goes to rest over the request is acted upon by that wake', async () => {
    await open([{ toolCalls: [call('launch')] }, { text: 'Launched.' }]);
    store.before('wake.ended', async () => confirm((await requests())[0], true));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Launched.' });
    expect(ran).toEqual(['launch']);
  });
});

describe('after a process died', () => {
  /** The wake cannot write any more from the first event of this type on, as if its process had been killed there. */
  const dieAt = async (type: SessionEvent['type']): Promise<void> => {
    store.before(type, () => Promise.reject(new Error('killed')));
    store.before('wake.ended', () => Promise.reject(new Error('killed')));
    expect(await codeOf(setup.runtime.wake(id))).not.toBe('it succeeded');
  };

  it('a call that was only asked for is cancelled, and has had no effect', async () => {
    await open([{ toolCalls: [call('check')] }, { text: 'Again?', expect: { lastToolResultOutcome: 'cancelled' } }]);
    await dieAt('agent.tool_started');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Again?' });
    expect(ran).toEqual([]);
  });

  it('a call that had started is unknown, and is not run again', async () => {
    await open([{ toolCalls: [call('check')] }, { text: 'Did it?', expect: { lastToolResultOutcome: 'unknown' } }]);
    await dieAt('agent.tool_result');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Did it?' });
    expect(ran).toEqual(['check']);
  });

  it('a call that waits still waits, and one that was allowed and did not start is run', async () => {
    await open([{ toolCalls: [call('launch'), call('check')] }, { text: 'Launched.' }]);
    await dieAt('agent.tool_started');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    await confirm((await requests())[0], true);
    await dieAt('permission.resolved');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Launched.' });
    expect(ran).toEqual(['launch']);
  });

  it('an interruption that it did not live to see still holds: nothing is gone on with', async () => {
    await open([{ toolCalls: [call('check'), call('launch')] }, { text: 'never' }]);
    store.before('agent.tool_result', async () => {
      await setup.runtime.sessions.interrupt(id);
      throw new Error('killed');
    });
    store.before('wake.ended', () => Promise.reject(new Error('killed')));
    expect(await codeOf(setup.runtime.wake(id))).not.toBe('it succeeded');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', modelSteps: 0 });
    expect(await dataOf('wake.ended')).toMatchObject([{ outcome: 'interrupted' }, { outcome: 'sleep' }]);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({
      openToolCalls: [],
      pendingActions: [],
      unansweredResults: 0,
    });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
    expect(await isDueFor()).toBe(0);
  });

  it('a call cannot be said to start twice', async () => {
    await open([{ toolCalls: [call('check')] }, { text: 'x' }]);
    store.before('agent.tool_result', async () => {
      const [open1] = (await setup.runtime.sessions.get(id)).openToolCalls;
      await store.append(id, [newEvent(901, toolStarted(open1?.callId ?? ''), 1)]);
    });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual(['check']);
  });
});
