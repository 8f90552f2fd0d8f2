/**
 * Pairs that race over one session, in two processes, with every operation of their store in the order of a scheduler:
 * one of them decides, nothing is lost, and the log says the same.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { modelRuns } from '../../support/model-runs.ts';
import { inTurn, racingStore } from '../../support/racing-store.ts';
import type { RacingStore, StoreDefect } from '../../support/racing-store.ts';
import { expectSettled } from '../../support/settled-session.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

const EXPIRES_SECONDS = 600;
/** No scheduler ever lets more happen in one race. */
const RUNS = modelRuns(8, { atMost: 2_000 });

let setup: TurnSetup;
let racing: RacingStore;
let one: Runtime;
let other: Runtime;
let ran: string[];
/** What the model says in each of its steps, by what it reads. */
let speak: () => Promise<Said> | Said = () => ({ text: 'Done.' });

beforeAll(async () => {
  const store = new MemoryEventStore();
  const tools = noteTools();
  ran = tools.ran;
  setup = await openTurnSetup({
    store,
    tools: [tools.tool('launch', { permissionPolicy: 'always_ask' }), tools.tool('check')],
  });
  share(racingStore(store));
  await setup.agent('worker', () => speak(), {
    tools: ['launch', 'check'],
    permission: { mode: 'preapproved', expiresAfterSeconds: EXPIRES_SECONDS },
  });
});
afterAll(() => setup[Symbol.asyncDispose]());

/** Two processes, over views of one store. */
function share(between: RacingStore): void {
  racing = between;
  one = setup.open({ store: racing.view('one') });
  other = setup.open({ store: racing.view('other') });
}

type Code = string | undefined;

async function codeOf(work: Promise<unknown>): Promise<Code> {
  return work.then(
    () => undefined,
    (error: unknown) => (RuntimeError.is(error) ? error.code : String(error)),
  );
}

/** Both at once, and whatever follows from them. */
async function race<First, Second>(
  scheduler: fc.Scheduler,
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> {
  racing.raceUnder(scheduler);
  try {
    return await scheduler.waitFor(
      Promise.all([inTurn(scheduler, 'first', first)(), inTurn(scheduler, 'second', second)()]),
    );
  } finally {
    racing.raceUnder(undefined);
    // What nobody waits for goes on by itself.
    await scheduler.waitIdle();
  }
}

/** A session whose agent waits for leave to launch. */
async function waiting(): Promise<string> {
  const script: Said[] = [{ calls: [{ name: 'launch' }] }];
  speak = () => script.shift() ?? { text: 'Done.' };
  ran.length = 0;
  const id = await setup.start('worker');
  await setup.runtime.wake(id);
  return id;
}

async function settle(id: string): Promise<readonly SessionEvent[]> {
  for (let wakes = 0; wakes < 5; wakes += 1) if ((await setup.runtime.wake(id)).outcome === 'nothing_to_do') break;
  const log = await setup.log(id);
  expectSettled(log, await setup.state(id));
  return log;
}

const count = (log: readonly SessionEvent[], type: SessionEvent['type']): number =>
  log.filter((event) => event.type === type).length;
const clear = (id: string): Promise<void> => setup.runtime.sessions.delete(id);

/** Epochs never go back, and each wake that began has one end at most, before the next begins. */
function expectOneWakeAtATime(log: readonly SessionEvent[]): void {
  let open: string | undefined;
  let epoch = 0;
  for (const { type, data } of log) {
    if (type === 'wake.started') {
      expect([open, data.epoch > epoch]).toEqual([undefined, true]);
      open = data.wakeId;
      epoch = data.epoch;
    }
    if (type !== 'wake.ended') continue;
    expect(data.wakeId).toBe(open);
    open = undefined;
  }
}

describe('an answer that races an interruption', () => {
  const takenBack = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    const id = await waiting();
    const [answer, interruption] = await race(
      scheduler,
      () => codeOf(setup.confirm(id, { by: one })),
      () => codeOf(other.sessions.interrupt(id)),
    );
    expect([undefined, 'REQUEST_NOT_PENDING']).toContain(answer);
    expect(interruption).toBeUndefined();
    const log = await settle(id);
    expect([count(log, 'agent.tool_result'), count(log, 'user.tool_confirmation')]).toEqual([
      1,
      answer === undefined ? 1 : 0,
    ]);
    // Whichever was first: the interruption takes the call back.
    expect(ran).toEqual([]);
    await clear(id);
  });

  it('is refused, or counts; the call has one result, and nothing runs that was interrupted before', async () => {
    await fc.assert(takenBack, RUNS);
  });

  it('is found to count for nothing, in a store that forgets it', () => expectFound(takenBack, 'forgetful'));
});

describe('an answer that races its expiry', () => {
  const decidedOnce = fc.asyncProperty(fc.scheduler(), fc.constantFrom(-1, 0, 1), async (scheduler, offByMs) => {
    const id = await waiting();
    await setup.clock.advance(EXPIRES_SECONDS * 1_000 + offByMs);
    const [answer] = await race(
      scheduler,
      () => codeOf(setup.confirm(id, { by: one })),
      () => codeOf(other.wake(id)),
    );
    expect([undefined, 'REQUEST_NOT_PENDING', 'REQUEST_EXPIRED']).toContain(answer);
    if (offByMs >= 0) expect(answer).not.toBeUndefined();
    await setup.clock.advance(1_000);
    const log = await settle(id);
    expect(count(log, 'agent.tool_result')).toBe(1);
    const decisions = log.flatMap(({ type, data }) => (type === 'permission.resolved' ? [data.decision] : []));
    expect(decisions).toHaveLength(1);
    expect(ran).toEqual(decisions[0] === 'allowed' ? ['launch'] : []);
    if (answer !== undefined) expect(ran).toEqual([]);
    // One that was taken in time may come to nothing all the same, when nobody acts upon it in time.
    expect(count(log, 'user.tool_confirmation')).toBe(answer === undefined ? 1 : 0);
    await clear(id);
  });

  it('lets the call run once, or comes too late; the log has one decision', async () => {
    await fc.assert(decidedOnce, RUNS);
  });

  it('is found to be in time and void all the same, in a store that forgets it', () =>
    expectFound(decidedOnce, 'forgetful'));
});

describe('two processes that wake one session', () => {
  const oneDoesIt = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    let steps = 0;
    speak = () => ({ text: `Said ${(steps += 1)}.` });
    const id = await setup.start('worker');
    const outcomes = await race(
      scheduler,
      () => outcomeOf(one, id),
      () => outcomeOf(other, id),
    );
    expect(outcomes.filter((outcome) => outcome === 'sleep')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'WAKE_CONFLICT' || outcome === 'nothing_to_do')).toHaveLength(1);
    const log = await settle(id);
    expectOneWakeAtATime(log);
    expect([steps, count(log, 'wake.started'), count(log, 'message.consumed'), count(log, 'agent.message')]).toEqual([
      1, 1, 1, 1,
    ]);
    await clear(id);
  });

  it('do not both do it: its message is read once, and the other is told', async () => {
    await fc.assert(oneDoesIt, RUNS);
  });

  it('are found to both do it where everybody gets the right to', () => expectFound(oneDoesIt, 'lawless'));
});

describe('a message that races the end of a wake', () => {
  const inTime = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    speak = () => ({ text: 'Said.' });
    const id = await setup.start('worker');
    await race(
      scheduler,
      () => outcomeOf(one, id),
      () => other.sessions.send(id, { type: 'user.message', text: 'More.' }),
    );
    expectMessagesReadInTime(await setup.log(id));
    const { pending } = await setup.state(id);
    // What a planted defect left due is not ours.
    expect((await setup.due()).filter((due) => due === id)).toEqual(pending.length > 0 ? [id] : []);
    const log = await settle(id);
    expect(log.flatMap(({ type, data }) => (type === 'message.consumed' ? data.eventIds : []))).toHaveLength(2);
    await clear(id);
  });

  it('is read before the end that the log says it came before, or makes the session due', async () => {
    await fc.assert(inTime, RUNS);
  });

  it('is found to be lost, in a store that forgets it', () => expectFound(inTime, 'forgetful'));
});

/** A wake that comes to rest has read everything that stands before its end. */
function expectMessagesReadInTime(log: readonly SessionEvent[]): void {
  const unread = new Set<string>();
  for (const { type, data, id } of log) {
    if (type === 'user.message') unread.add(id);
    if (type === 'message.consumed') for (const eventId of data.eventIds) unread.delete(eventId);
    if (type === 'wake.ended' && data.outcome === 'sleep') expect([...unread]).toEqual([]);
  }
}

describe('a lease that runs out while its wake ends', () => {
  const oneSays = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    let begin: () => void = () => undefined;
    const hasBegun = new Promise<void>((resolve) => (begin = resolve));
    let goOn: () => void = () => undefined;
    const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
    let steps = 0;
    speak = async () => {
      if ((steps += 1) > 1) return { text: 'Said by the other.' };
      begin();
      await mayGoOn;
      return { text: 'Said by the one.' };
    };
    const id = await setup.start('worker');
    const first = outcomeOf(one, id);
    await hasBegun;
    await racing.forgetRightsOf('one');
    const [passed, outcome] = await race(
      scheduler,
      async () => {
        goOn();
        return first;
      },
      () => outcomeOf(other, id),
    );
    const log = await settle(id);
    expectOneWakeAtATime(log);
    // The one came to its end before the other began, or hears that it was too late.
    expect(outcome).toBe(passed === 'sleep' ? 'nothing_to_do' : 'sleep');
    expect(['sleep', 'WAKE_SUPERSEDED', 'EPOCH_SUPERSEDED', 'WAKE_NOT_OPEN']).toContain(passed);
    expect(count(log, 'message.consumed')).toBe(1);
    await clear(id);
  });

  it('leaves one wake to say how it ended: what the one that was passed over still writes changes nothing', async () => {
    await fc.assert(oneSays, RUNS);
  });

  it('is found to be taken for nothing by a store that does not check epochs', () => expectFound(oneSays));
});

describe('a termination that races a wake', () => {
  const lastWord = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    speak = () => ({ text: 'Said.' });
    const id = await setup.start('worker');
    const [outcome] = await race(
      scheduler,
      () => outcomeOf(one, id),
      () => other.sessions.terminate(id),
    );
    expect(['sleep', 'terminated', 'SESSION_TERMINATED', 'nothing_to_do']).toContain(outcome);
    const log = await setup.log(id);
    const { status, openWake } = await setup.state(id);
    expect([status, openWake]).toEqual(['terminated', undefined]);
    expectOneWakeAtATime(log);
    const endedAt = log.findIndex(({ type, data }) => type === 'session.status_changed' && data.to === 'terminated');
    expect(
      log
        .slice(endedAt)
        .filter(({ type }) => type === 'wake.started' || type === 'agent.message' || type === 'session.status_changed'),
    ).toHaveLength(1);
    await clear(id);
  });

  it('is the last word: no wake begins after it, and what was open is closed', async () => {
    await fc.assert(lastWord, RUNS);
  });

  it('is found not to be, in a store that does not check where the log ends', () => expectFound(lastWord));
});

/** The property is worth something: with a store that takes everything it fails. */
async function expectFound<Given>(property: fc.IAsyncProperty<Given>, defect: StoreDefect = 'blind'): Promise<void> {
  const sound = racing;
  share(racingStore(setup.store, { defect }));
  try {
    expect((await fc.check(property, { numRuns: 400, seed: 1, endOnFailure: true })).failed).toBe(true);
  } finally {
    for (const { sessionId } of await setup.runtime.sessions.list()) await codeOf(clear(sessionId));
    share(sound);
  }
}

async function outcomeOf(runtime: Runtime, id: string): Promise<string> {
  return runtime.wake(id).then(
    ({ outcome }) => outcome,
    (error: unknown) => (RuntimeError.is(error) ? error.code : String(error)),
  );
}
