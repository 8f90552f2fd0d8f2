/** What a wake may use up: limits hold within a step too, and whoever writes after one is heard first. */
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentRunParams, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { openSetup, until } from '../../support/session-setup.ts';
import type { SessionSetup, SessionSetupOptions } from '../../support/session-setup.ts';

let setup: SessionSetup;
let id: string;
afterEach(() => setup.close());
const open = async (
  steps: readonly object[],
  options: SessionSetupOptions & { readonly agent?: object; readonly script?: object } = {},
): Promise<void> => {
  setup = await openSetup(options);
  id = await setup.session(steps, { message: 'Go', ...options });
};

const say = (text: string): Promise<unknown> => setup.runtime.sessions.send(id, { type: 'user.message', text });
const wakeByItself = (): Promise<WakeOutcome> => setup.runtime.wake(id, { isAutonomous: true });
const dataOf = async (type: SessionEvent['type']): Promise<unknown[]> =>
  (await setup.log(id)).filter((event) => event.type === type).map(({ data }) => data);
/** A call of a tool that is not there: it has a result at once. */
const looping = { toolCalls: [{ name: 'nothing_there', input: {} }] };

/** A backend that says something and then takes for ever, until it is stopped. */
const slow: AgentRuntime = {
  id: 'slow',
  run: ({ abortSignal, onEvent, runId }: AgentRunParams) =>
    new Promise((resolve) => {
      onEvent?.({
        runId,
        seq: 1,
        ts: '2026-01-01T00:00:00.000Z',
        stream: 'assistant',
        data: { kind: 'text', text: 'So far' },
      });
      abortSignal?.addEventListener('abort', () =>
        resolve({ payloads: [], meta: { error: { kind: 'aborted', message: 'stopped' }, modelSteps: 0 } }),
      );
    }),
  abort: async () => undefined,
  isRunActive: () => true,
};

describe('after a wake came to its limit', () => {
  it('a message is read by the first step of the next one, though the turn before has no end', async () => {
    await open([looping, looping, { text: 'I stop.', expect: { lastUserMessageIncludes: 'please stop' } }], {
      agent: { budget: { maxModelStepsPerWake: 2 } },
    });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    await say('please stop');
    expect(await wakeByItself()).toMatchObject({ outcome: 'sleep', summary: 'I stop.' });
  });

  it('messages cost one wake each, and nothing wakes it by itself in between', async () => {
    await open([looping], { agent: { budget: { maxModelStepsPerWake: 2 } }, script: { onEnd: 'repeat-last' } });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
    await say('still there?');
    expect(await wakeByItself()).toMatchObject({ outcome: 'budget_reached' });
    expect((await setup.runtime.sessions.get(id)).pending).toEqual([]);
    expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
  });
});

describe('a limit of time', () => {
  it('cuts a model short that takes too long, keeps what it said, and does not ask it again', async () => {
    await open([], { runtimes: [slow], agent: { provider: 'slow', budget: { maxSecondsPerWake: 30 } } });
    const waking = setup.runtime.wake(id);
    await until(async () => (await setup.types(id)).includes('span.started'));
    await setup.clock.advance(30_000);
    expect(await waking).toMatchObject({ outcome: 'budget_reached', status: 'idle' });
    expect(await dataOf('agent.message')).toMatchObject([{ text: 'So far', partial: true }]);
    expect(await dataOf('wake.ended')).toMatchObject([{ budget: { name: 'maxSecondsPerWake', value: 30 } }]);
    expect(await wakeByItself()).toMatchObject({ outcome: 'nothing_to_do' });
  });

  it('cuts a command short', async () => {
    await open([{ toolCalls: [{ name: 'shell_run', input: { command: 'sleep 300' } }] }], {
      agent: { budget: { maxSecondsPerWake: 30 } },
    });
    const waking = setup.runtime.wake(id);
    await until(() => setup.processes.works.length === 1);
    await setup.clock.advance(29_999);
    expect((await setup.runtime.sessions.get(id)).status).toBe('running');
    await setup.clock.advance(1);
    expect(await waking).toMatchObject({ outcome: 'budget_reached' });
    expect((await setup.runtime.sessions.get(id)).openToolCalls).toEqual([]);
  });
});

describe('going on', () => {
  it('later is not going on in a row', async () => {
    const poll = { directive: { outcome: 'continue', summary: 'poll', followUpSeconds: 1 } };
    await open([
      poll,
      poll,
      poll,
      poll,
      poll,
      { directive: { outcome: 'continue', summary: 'on' } },
      { text: 'Done.' },
    ]);
    for (let n = 0; n < 5; n += 1) {
      expect(await wakeByItself()).toMatchObject({ outcome: 'rescheduled' });
      await setup.clock.advance(1_000);
    }
    expect(await wakeByItself()).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
  });

  it('later is taken back by an interruption, and the session rests', async () => {
    await open([{ directive: { outcome: 'continue', summary: 'later', followUpSeconds: 60 } }]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'rescheduled', status: 'rescheduling' });
    await setup.runtime.sessions.interrupt(id);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({ status: 'idle', stopReason: 'idle', queuedWakes: [] });
  });

  it('later ends with the session', async () => {
    await open([
      {
        directive: {
          outcome: 'sleep',
          summary: 'later',
          queuedWakes: [{ reason: 'x', delaySeconds: 60 }],
          customToolRequest: { name: 'deploy', input: {} },
        },
      },
    ]);
    await setup.runtime.wake(id);
    await setup.runtime.sessions.terminate(id);
    expect(await setup.runtime.sessions.get(id)).toMatchObject({
      status: 'terminated',
      queuedWakes: [],
      pendingActions: [],
    });
  });
});

describe('one thing that is sent twice at the same time', () => {
  it('is stored once, and both senders get the same receipt', async () => {
    await open([
      { directive: { outcome: 'sleep', summary: 'asked', customToolRequest: { name: 'deploy', input: {} } } },
    ]);
    await setup.runtime.wake(id);
    const requestId = (await setup.runtime.sessions.get(id)).pendingActions[0]?.requestId ?? '';
    const answer = (): Promise<unknown> =>
      setup.runtime.sessions.send(
        id,
        { type: 'user.custom_tool_result', requestId, toolName: 'deploy', output: 1 },
        { idempotencyKey: 'k' },
      );
    const receipts = await Promise.all([answer(), answer(), answer(), answer()]);
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
  });

  it.each([['a key of the runtime itself', { idempotencyKey: 'wakechart:parent-told:1' }]])(
    'is refused under %s',
    async (_what, options) => {
      await open([]);
      expect(await codeOf(setup.runtime.sessions.send(id, { type: 'user.message', text: 'x' }, options))).toBe(
        'SESSION_REQUEST_INVALID',
      );
    },
  );

  it('is refused when the id belongs to something else', async () => {
    await open([]);
    const { eventId } = await setup.runtime.sessions.interrupt(id);
    expect(await codeOf(setup.runtime.sessions.send(id, { type: 'user.message', text: 'x' }, { eventId }))).toBe(
      'EVENT_ID_TAKEN',
    );
  });
});
