/**
 * What the receipt of a message says about who reads it, and whether that holds whatever happens in the same moment.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import type { SendReceipt } from '../../../src/actors/session/ingress.ts';
import { PlaceSearch, placeOf } from '../../../src/machines/session/message-reader.ts';
import type { SessionEventOf } from '../../../src/machines/session/session-event.ts';
import { foldSession } from '../../../src/machines/session/session-fold.ts';
import type { SendOptions } from '../../../src/machines/session/session-requests.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openSetup, until } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

let setup: SessionSetup;
let store: HookedStore;
let id: string;
afterEach(() => setup.close());

interface Turner extends AgentRuntime {
  /** What it took while it ran. */
  readonly taken: string[];
  /** Ends the oldest run. */
  answer(text: string): void;
  readonly runs: 'step' | 'turn';
}

/** A backend whose runs end when a test says so. */
function turner(intake: 'next_step' | 'running' | 'next_turn', takes = true): Turner {
  const answers: ((text: string) => void)[] = [];
  const taken: string[] = [];
  return {
    id: 'turner',
    runs: intake === 'next_step' ? 'step' : 'turn',
    messageIntake: intake,
    taken,
    answer: (text) => answers.shift()?.(text),
    run: ({ abortSignal }) =>
      new Promise((resolve) => {
        answers.push((text) => resolve({ payloads: [{ type: 'text', text }] }));
        abortSignal?.addEventListener(
          'abort',
          () => resolve({ payloads: [], meta: { error: { kind: 'aborted', message: 'stopped' } } }),
          { once: true },
        );
      }),
    abort: async () => undefined,
    isRunActive: () => answers.length > 0,
    async queueMessage(_runId, text) {
      if (takes) taken.push(text);
      return takes;
    },
  };
}

async function open(runtime: AgentRuntime, message?: string): Promise<void> {
  store = new HookedStore();
  setup = await openSetup({ store: () => store, runtimes: [runtime] });
  id = await setup.session([], {
    agent: { provider: runtime.id, model: 'm' },
    ...(message === undefined ? {} : { message }),
  });
}

const say = (text: string, options: SendOptions = {}): Promise<SendReceipt> =>
  setup.runtime.sessions.send(id, { type: 'user.message', text }, options);
const steer = (text: string, options: SendOptions = {}): Promise<SendReceipt> =>
  say(text, { ...options, delivery: 'steer' });
const spans = async (): Promise<number> => (await setup.types(id)).filter((type) => type === 'span.started').length;

/** Wakes the session; resolves when its first step is asked for. */
async function wakeToStep(): Promise<Promise<WakeOutcome>[]> {
  const waking = setup.runtime.wake(id);
  await until(async () => (await spans()) === 1);
  return [waking];
}

/** Which span read the message. */
async function readIn(eventId: string): Promise<number> {
  const events = await setup.log(id);
  const started = events
    .filter((event): event is SessionEventOf<'span.started'> => event.type === 'span.started')
    .map(({ data }) => data.spanId);
  const read = events.find((event) => event.type === 'message.consumed' && event.data.eventIds.includes(eventId));
  return read?.type === 'message.consumed' ? started.indexOf(read.data.spanId) + 1 : 0;
}

describe('the receipt of a message', () => {
  it.each(['queue', 'steer', 'interrupt'] as const)(
    'to a session that rests says that the next wake reads it (%s)',
    async (delivery) => {
      await open(turner('running'));
      expect(await say('x', { delivery })).toMatchObject({ acceptedAs: delivery, readBy: 'next_wake' });
    },
  );

  it('is without it for what is no message', async () => {
    await open(turner('running'));
    expect(await setup.runtime.sessions.send(id, { type: 'user.define_outcome', title: 'Done' })).not.toHaveProperty(
      'readBy',
    );
    expect(await setup.runtime.sessions.interrupt(id)).not.toHaveProperty('readBy');
  });

  it('says that the turn that runs is given it, where a program can hear', async () => {
    const runtime = turner('running');
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    const receipt = await steer('quick');
    expect(receipt).toMatchObject({ acceptedAs: 'steer', readBy: 'running_turn' });
    await until(() => runtime.taken.length === 1);
    runtime.answer('Done.');
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 1 });
    expect(await readIn(receipt.eventId)).toBe(1);
  });

  it('means the next step, when the turn ends before it has taken the message', async () => {
    const runtime = turner('running', false);
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    const receipt = await steer('quick');
    expect(receipt.readBy).toBe('running_turn');
    runtime.answer('Done.');
    await until(async () => (await spans()) === 2);
    runtime.answer('Done again.');
    await waking;
    expect(await readIn(receipt.eventId)).toBe(2);
  });

  it('says that it is queued, where the turn that runs takes no messages', async () => {
    const runtime = turner('next_turn');
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    const receipt = await steer('later');
    expect(receipt).toMatchObject({ acceptedAs: 'queue', readBy: 'next_turn' });
    expect((await setup.runtime.sessions.status(id)).pending.at(-1)).toMatchObject({
      eventId: receipt.eventId,
      delivery: 'queue',
    });
    runtime.answer('Done.');
    await until(async () => (await spans()) === 2);
    runtime.answer('And that.');
    expect(await waking).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
    expect(await readIn(receipt.eventId)).toBe(2);
  });

  it.each([
    ['queue', 'next_turn'],
    ['steer', 'next_step'],
    ['interrupt', 'next_wake'],
  ] as const)('of %s while a model step runs says %s', async (delivery, readBy) => {
    const runtime = turner('next_step');
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    expect(await say('x', { delivery })).toMatchObject({ acceptedAs: delivery, readBy });
    runtime.answer('Done.');
    await until(async () => delivery === 'interrupt' || (await spans()) === 2);
    runtime.answer('Done.');
    await waking;
  });

  it('of what comes after an interruption says that the next wake reads it', async () => {
    await open(turner('running'), 'Go');
    const [waking] = await wakeToStep();
    store.before('wake.ended', async () => {
      expect(await steer('x', { idempotencyKey: 'k' })).toMatchObject({ acceptedAs: 'steer', readBy: 'next_wake' });
    });
    await setup.runtime.sessions.interrupt(id);
    await waking;
    expect(await steer('x', { idempotencyKey: 'k' })).toMatchObject({ readBy: 'next_wake' });
  });
});

describe('a receipt promises what holds, when in the very moment in which the message is stored', () => {
  it.each(['running', 'next_turn'] as const)('the step ends (%s)', async (intake) => {
    const runtime = turner(intake, false);
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    store.before('user.message', async () => {
      runtime.answer('Done.');
      await waking;
    });
    expect(await steer('late')).toMatchObject({ acceptedAs: 'steer', readBy: 'next_wake' });
    expect((await setup.runtime.sessions.status(id)).pending).toHaveLength(1);
  });

  it('a step begins that takes no messages', async () => {
    const runtime = turner('next_turn');
    await open(runtime, 'Go');
    const wakings: Promise<WakeOutcome>[] = [];
    store.before('user.message', async () => {
      wakings.push(...(await wakeToStep()));
    });
    expect(await steer('now')).toMatchObject({ acceptedAs: 'queue', readBy: 'next_turn' });
    runtime.answer('Done.');
    await until(async () => (await spans()) === 2);
    runtime.answer('Done.');
    await Promise.all(wakings);
  });

  it('a step begins, and the message is queued', async () => {
    const runtime = turner('next_step');
    await open(runtime, 'Go');
    const wakings: Promise<WakeOutcome>[] = [];
    store.before('user.message', async () => {
      wakings.push(...(await wakeToStep()));
    });
    expect(await say('now')).toMatchObject({ acceptedAs: 'queue', readBy: 'next_turn' });
    runtime.answer('Done.');
    await until(async () => (await spans()) === 2);
    runtime.answer('Done.');
    await Promise.all(wakings);
  });

  it('the wake dies: what the dead step would have been given is read by the next one', async () => {
    const runtime = turner('running', false);
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    const receipt = await steer('x');
    await setup.runtime.sessions.interrupt(id);
    await waking;
    const again = setup.runtime.wake(id);
    await until(async () => (await spans()) === 2);
    runtime.answer('gone');
    runtime.answer('Done.');
    await again;
    expect(await readIn(receipt.eventId)).toBe(2);
  });
});

describe('a receipt that is asked for again', () => {
  it('is the same, long after the message was read', async () => {
    const runtime = turner('running');
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    const first = await steer('quick', { idempotencyKey: 'k' });
    const second = await say('slow', { idempotencyKey: 'q' });
    expect([first.readBy, second.readBy]).toEqual(['running_turn', 'next_turn']);
    runtime.answer('Done.');
    await until(async () => (await spans()) === 2);
    runtime.answer('Done.');
    await waking;
    expect(await steer('quick', { idempotencyKey: 'k' })).toEqual(first);
    expect(await say('slow', { idempotencyKey: 'q' })).toEqual(second);
  });

  it('is given to each of many who write at once', async () => {
    const runtime = turner('running');
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    const receipts = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? steer(`s${index}`) : say(`q${index}`))),
    );
    expect(new Set(receipts.map(({ acceptedAs, readBy }) => `${acceptedAs} ${readBy}`))).toEqual(
      new Set(['steer running_turn', 'queue next_turn']),
    );
    expect(new Set(receipts.map(({ seq }) => seq)).size).toBe(200);
    runtime.answer('Done.');
    await until(async () => (await spans()) === 2);
    runtime.answer('Done.');
    await waking;
  });

  it('is what the log says at each place, as the folded session does', async () => {
    const runtime = turner('running');
    await open(runtime, 'Go');
    const [waking] = await wakeToStep();
    await steer('quick');
    store.before('wake.ended', () => say('between'));
    runtime.answer('Done.');
    await until(async () => (await spans()) === 2);
    await setup.runtime.sessions.interrupt(id);
    await waking;
    await say('more');
    const again = setup.runtime.wake(id);
    await until(async () => (await spans()) === 3);
    runtime.answer('gone');
    runtime.answer('Done.');
    await again;
    const events = await setup.log(id);
    let state = initialSessionState({ sessionId: id, agentId: 'player' });
    for (const [index, event] of events.entries()) {
      state = foldSession(state, event);
      const search = new PlaceSearch();
      const found =
        events
          .slice(0, index + 1)
          .reduceRight<ReturnType<PlaceSearch['take']>>((place, each) => place ?? search.take(each), undefined) ??
        search.end('no_wake');
      expect([event.seq, event.type, found]).toEqual([event.seq, event.type, placeOf(state)]);
    }
  });
});
