/**
 * Random commands through the real sessions service and real wakes, by processes that die between any two steps of the
 * store. Whatever happens: what was acknowledged is in the log, nothing takes effect twice, and who has something to do
 * is found in the index.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { createIdSource } from '../../src/actors/session/id-source.ts';
import type { AgentRuntime } from '../../src/actors/run/agent-runtime.ts';
import { removeSpentHints, removeStrayHints } from '../../src/actors/session/spent-hints.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import type { Tool } from '../../src/actors/turn/tool.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { RuntimeError } from '../../src/machines/errors.ts';
import type { RunPayload } from '../../src/machines/run/run-output.ts';
import { foldSession } from '../../src/machines/session/session-fold.ts';
import { stateAfter } from '../../src/machines/session/session-rules.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { createRuntime } from '../../src/runtime.ts';
import type { Runtime } from '../../src/runtime.ts';
import { hintsOf, mortalView, wholeLog } from '../support/mortal-process.ts';
import type { MortalView } from '../support/mortal-process.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

const AGENT = 'chooser';

/** What the model does at each of its steps; after them it says something and sleeps. */
const MODEL_STEPS = [
  'say',
  'tool',
  'two tools',
  'ask',
  'launch',
  'custom',
  'queue',
  'continue',
  'fail',
  'sleep over a tool',
] as const;
type ModelStep = (typeof MODEL_STEPS)[number];

const call = (name: string, input: object = {}): RunPayload => ({ type: 'tool_call', callId: 'x', name, input });
const directive = (changes: object): RunPayload => ({
  type: 'directive',
  directive: { outcome: 'sleep', summary: 's', ...changes },
});
const PAYLOADS: Readonly<Record<ModelStep, readonly RunPayload[]>> = {
  say: [{ type: 'text', text: 'Said.' }],
  tool: [call('effect')],
  'two tools': [call('effect'), call('launch')],
  ask: [call('ask_human', { question: 'Which?' })],
  launch: [call('launch')],
  custom: [directive({ customToolRequest: { name: 'approve', input: {} } })],
  queue: [directive({ queuedWakes: [{ reason: 'later', delaySeconds: 30 }] })],
  continue: [directive({ outcome: 'continue' })],
  fail: [],
  'sleep over a tool': [call('effect'), directive({})],
};

type Command =
  | {
      readonly kind: 'send';
      readonly delivery: 'queue' | 'steer' | 'interrupt' | 'reject-if-busy';
      readonly to: number;
    }
  | {
      readonly kind:
        | 'interrupt'
        | 'wake'
        | 'wake by itself'
        | 'trigger'
        | 'answer'
        | 'terminate'
        | 'child'
        | 'fork'
        | 'outcome';
      readonly to: number;
    }
  | { readonly kind: 'advance'; readonly ms: number };

const to = fc.nat(3);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      delivery: fc.constantFrom('queue', 'steer', 'interrupt', 'reject-if-busy'),
      to,
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('wake', 'wake by itself', 'trigger', 'answer'), to }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('interrupt', 'child', 'fork', 'outcome'), to }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('terminate' as const), to }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 5_000, 60_000) }) },
);

/** Commands given at the same time, and after how many steps of the store their process dies, if it does. */
const act = fc.record({
  commands: fc.array(command, { minLength: 1, maxLength: 3 }),
  diesAfter: fc.option(fc.nat(14), { freq: 4, nil: undefined }),
});

const story = fc.record({
  steps: fc.array(fc.constantFrom(...MODEL_STEPS), { maxLength: 8 }),
  acts: fc.array(act, { minLength: 1, maxLength: 14 }),
  pauses: fc.infiniteStream(fc.nat(3)),
});

interface Story {
  readonly steps: ModelStep[];
  readonly acts: { readonly commands: Command[]; readonly diesAfter: number | undefined }[];
  readonly pauses: fc.Stream<number>;
}

const atOnce = (diesAfter: number | undefined, ...commands: Command[]): Story['acts'][number] => ({
  commands,
  diesAfter,
});
const wakes: Command = { kind: 'wake', to: 0 };
const sends: Command = { kind: 'send', delivery: 'queue', to: 0 };

function* without(): Generator<number> {
  for (;;) yield 0;
}

/**
 * What was found once: wakes that began before anything was due, and left nothing by which a worker would have found
 * them dead.
 */
const COUNTEREXAMPLES: readonly (readonly [string, () => Story])[] = [
  [
    'over a permission that is void in a week, after another that died',
    () => ({
      steps: ['two tools'],
      acts: [atOnce(undefined, sends, wakes), atOnce(4, wakes), atOnce(3, wakes), atOnce(undefined, wakes)],
      pauses: fc.stream(without()),
    }),
  ],
  [
    'within a back-off that a message ends later',
    () => ({
      steps: ['fail', 'two tools'],
      acts: [atOnce(undefined, sends), atOnce(undefined, wakes), atOnce(4, wakes), atOnce(undefined, sends)],
      pauses: fc.stream(without()),
    }),
  ],
];

let home: TemporaryHome;
beforeAll(async () => {
  home = await temporaryHome();
  await new FileAgentCatalog({ agentsDirectory: new HomeLayout(home.path).agents }).create({
    agentId: AGENT,
    source: {
      frontmatter: { name: 'Chooser', provider: 'chooser', model: 'm', budget: { maxModelStepsPerWake: 6 } },
      instructions: '',
    },
  });
});
afterAll(() => home.remove());

class World {
  readonly clock: SimulatedClock = createSimulatedClock();
  readonly store = new MemoryEventStore();
  readonly ids = createIdSource({ clock: this.clock });
  readonly sessions: string[] = [];
  /** By session: the receipts that somebody holds. */
  readonly receipts: { readonly sessionId: string; readonly eventId: string; readonly seq: number }[] = [];
  /** Ids of the calls that took effect, each time one did. */
  readonly effects: string[] = [];
  readonly #steps: readonly ModelStep[];
  readonly #pause: () => Promise<void>;
  view: MortalView;
  runtime: Runtime;

  constructor(steps: readonly ModelStep[], pause: () => Promise<void>) {
    this.#steps = steps;
    this.#pause = pause;
    this.view = mortalView(this.store, pause);
    this.runtime = this.#open();
  }

  #open(): Runtime {
    const layout = new HomeLayout(home.path);
    const effect = (name: string, changes: Partial<Tool['definition']> = {}): Tool => ({
      definition: {
        name,
        description: name,
        inputSchema: z.looseObject({}),
        ownership: 'managed',
        permissionPolicy: 'always_allow',
        readOnly: false,
        destructive: true,
        interruptBehavior: 'cancel',
        ...changes,
      },
      run: async (_input, { callId }) => {
        this.effects.push(callId);
        await this.#pause();
        return 'ok';
      },
    });
    const chooser: AgentRuntime = {
      id: 'chooser',
      run: async ({ modelStepsTaken }) => {
        await this.#pause();
        const step = this.#steps[modelStepsTaken] ?? 'say';
        return step === 'fail'
          ? { payloads: [], meta: { error: { kind: 'overloaded', message: 'busy' }, modelSteps: 1 } }
          : { payloads: PAYLOADS[step] };
      },
      abort: async () => undefined,
      isRunActive: () => false,
    };
    return createRuntime({
      // Nobody moves the clock on while a step waits.
      runLimits: { maxBackOffs: 0 },
      clock: this.clock,
      store: this.view,
      ids: this.ids,
      directories: { agentDirectory: (id) => layout.agentDirectory(id), workspaceDirectory: async () => home.path },
      agents: new FileAgentCatalog({ agentsDirectory: layout.agents }),
      runtimes: [chooser],
      tasks: new BackgroundTaskManager({ clock: this.clock }),
      tools: [effect('effect'), effect('launch', { permissionPolicy: 'always_ask' })],
      onListenerError: () => undefined,
    });
  }

  /** The process is killed, and another one takes its place. */
  async die(): Promise<void> {
    await this.view.kill();
    await this.runtime.shutdown().catch(() => undefined);
    this.view = mortalView(this.store, this.#pause);
    this.runtime = this.#open();
  }

  async perform(given: Command): Promise<void> {
    if (given.kind === 'advance') return this.clock.advance(given.ms);
    const sessionId = this.sessions[given.to % this.sessions.length] ?? '';
    const { sessions } = this.runtime;
    switch (given.kind) {
      case 'send': {
        const receipt = await sessions.send(
          sessionId,
          { type: 'user.message', text: 'x' },
          { delivery: given.delivery },
        );
        return void this.receipts.push({ sessionId, ...receipt });
      }
      case 'outcome':
        return void this.receipts.push({
          sessionId,
          ...(await sessions.send(sessionId, { type: 'user.define_outcome', title: 'All green' })),
        });
      case 'interrupt':
        return void this.receipts.push({ sessionId, ...(await sessions.interrupt(sessionId)) });
      case 'answer':
        return this.#answer(sessionId);
      case 'child':
        return void (
          this.sessions.length < 4 &&
          this.sessions.push((await sessions.create({ agentId: AGENT, parentSessionId: sessionId })).sessionId)
        );
      case 'fork':
        return void (this.sessions.length < 4 && this.sessions.push((await sessions.fork(sessionId)).sessionId));
      case 'terminate':
        return void (await sessions.terminate(sessionId));
      case 'trigger':
      case 'wake':
      case 'wake by itself':
        return void (await (given.kind === 'trigger'
          ? this.runtime.trigger(sessionId)
          : this.runtime.wake(sessionId, { isAutonomous: given.kind === 'wake by itself' })));
    }
  }

  async #answer(sessionId: string): Promise<void> {
    const [action] = (await this.runtime.sessions.get(sessionId)).pendingActions;
    if (action === undefined) return;
    const { requestId, toolName, kind } = action;
    const answers = {
      permission: { type: 'user.tool_confirmation', requestId, toolName, allowed: this.receipts.length % 2 === 0 },
      answer: { type: 'user.answer', requestId, response: 'this one' },
      custom_tool: { type: 'user.custom_tool_result', requestId, toolName, output: 1 },
    } as const;
    this.receipts.push({ sessionId, ...(await this.runtime.sessions.send(sessionId, answers[kind])) });
  }
}

const EXPECTED_CODES = new Set([
  'WAKE_CONFLICT',
  'SESSION_TERMINATED',
  'SESSION_BUSY',
  'REQUEST_NOT_PENDING',
  'SESSION_TOO_DEEP',
  'EPOCH_SUPERSEDED',
  'WAKE_SUPERSEDED',
  'RUNTIME_SHUT_DOWN',
]);

/** Whether a refusal is one that a caller has to reckon with. */
function isExpected(error: unknown, view: MortalView): boolean {
  return view.isDead || (RuntimeError.is(error) && EXPECTED_CODES.has(error.code));
}

/**
 * When the session has something to do that nobody outside has to do first; said once more here, apart from the code
 * that it checks.
 */
function workDueMs(state: SessionState, nowMs: number): number | undefined {
  const owed = state.owedToParent === undefined ? [] : [Date.parse(state.owedToParent.at)];
  const notBefore = state.lastWake?.retryAt === undefined ? 0 : Date.parse(state.lastWake.retryAt);
  const work: number[] = [];
  if (state.status === 'terminated') work.push(...owed);
  // Nobody wakes it while the agreement is searched for: its process has died.
  else if (state.openWake !== undefined) work.push(nowMs);
  else {
    work.push(...owed);
    const isWaiting = state.openToolCalls.some(({ phase }) => phase === 'waiting');
    const isAnswered = state.openToolCalls.some(({ phase }) => phase === 'answered');
    const hasBroken = state.lastWake !== undefined && ['failed', 'aborted', 'lost'].includes(state.lastWake.outcome);
    if (state.parked === undefined) {
      if (isAnswered)
        work.push(
          Math.max(
            notBefore,
            ...state.pending
              .filter(({ type }) => type === 'user.answer' || type === 'user.tool_confirmation')
              .map(({ at }) => Date.parse(at)),
          ),
        );
      if (!isWaiting) {
        work.push(
          ...state.pending.map(({ at }) => Math.max(notBefore, Date.parse(at))),
          ...state.queuedWakes.map(({ dueAt }) => Math.max(notBefore, Date.parse(dueAt))),
        );
        if (
          hasBroken &&
          (state.unansweredResults > 0 || state.openDirectives.length > 0 || state.intent?.next === 'go_on')
        )
          work.push(Math.max(nowMs, notBefore));
      }
    }
  }
  return work.length === 0 ? undefined : Math.min(...work);
}

function expectWholeStory(events: readonly SessionEvent[]): void {
  const uses = events.flatMap((event) => (event.type === 'agent.tool_use' ? [event.data.callId] : []));
  const starts = events.flatMap((event) => (event.type === 'agent.tool_started' ? [event.data.callId] : []));
  const results = events.flatMap((event) => (event.type === 'agent.tool_result' ? [event.data.callId] : []));
  for (const ids of [uses, starts, results]) expect(new Set(ids).size).toBe(ids.length);
  expect(results.every((id) => uses.includes(id)) && starts.every((id) => uses.includes(id))).toBe(true);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
}

async function expectAgreement(world: World): Promise<void> {
  const hints = await hintsOf(world.store);
  const started = new Set<string>();
  for (const listing of await world.store.list()) {
    const { sessionId } = listing;
    const events = await wholeLog(world.store, sessionId);
    const initial = initialSessionState(listing);
    const state = events.reduce(foldSession, initial);
    const half = Math.floor(events.length / 2);
    expect(events.slice(half).reduce(foldSession, events.slice(0, half).reduce(foldSession, initial))).toEqual(state);
    expect(JSON.parse(JSON.stringify(await world.runtime.sessions.get(sessionId)))).toEqual(
      JSON.parse(JSON.stringify(state)),
    );
    expectWholeStory(events);
    for (const event of events) if (event.type === 'agent.tool_started') started.add(event.data.callId);
    for (const receipt of world.receipts)
      if (receipt.sessionId === sessionId) expect(events[receipt.seq - 1]?.id).toBe(receipt.eventId);
    const dueMs = workDueMs(state, world.clock.now());
    const soonest = Math.min(...(hints.get(sessionId) ?? []).map(({ dueAtMs }) => dueAtMs));
    if (dueMs !== undefined)
      expect({ sessionId, soonest, isSoonEnough: soonest <= dueMs }).toMatchObject({ isSoonEnough: true });
  }
  // A call takes effect once at most, and not before the log says that it starts.
  expect(new Set(world.effects).size).toBe(world.effects.length);
  expect(world.effects.filter((callId) => !started.has(callId))).toEqual([]);
}

/** What a worker does, until nothing is due any more, now or later. */
async function drain(world: World): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const { due, nextDueAtMs } = await world.store.activations.due({ nowMs: world.clock.now(), limit: 100 });
    if (due.length === 0 && nextDueAtMs === undefined) return;
    if (due.length === 0) await world.clock.advance((nextDueAtMs ?? 0) - world.clock.now());
    let hasWoken = false;
    for (const { sessionId, activations } of due) {
      const ports = { store: world.store, clock: world.clock, ids: world.ids };
      const outcome = await world.runtime.wake(sessionId, { isAutonomous: true }).then(
        ({ outcome: ended }) => ended,
        (error: unknown) => {
          if (isExpected(error, world.view)) return 'nothing_to_do' as const;
          // A fork whose process died before it was stored leaves its hints.
          if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return 'not_found' as const;
          throw error;
        },
      );
      if (outcome === 'nothing_to_do') await removeSpentHints(sessionId, activations, ports);
      else if (outcome === 'not_found') await removeStrayHints(sessionId, activations, ports);
      else hasWoken = true;
    }
    if (!hasWoken) await world.clock.advance(60_000);
  }
  expect([...(await hintsOf(world.store))]).toEqual([]);
}

/** @throws where something does not agree */
async function live({ steps, acts, pauses }: Story): Promise<void> {
  const world = new World(steps, async () => {
    for (let count = pauses.next().value; count > 0; count -= 1)
      await (count > 2 ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve());
  });
  try {
    world.sessions.push((await world.runtime.sessions.create({ agentId: AGENT })).sessionId);
    for (const { commands, diesAfter } of acts) {
      const { view } = world;
      if (diesAfter !== undefined) view.dieAfter(diesAfter);
      const results = await Promise.allSettled(commands.map((each) => world.perform(each)));
      for (const result of results)
        if (result.status === 'rejected' && !isExpected(result.reason, view)) throw result.reason;
      if (diesAfter !== undefined) await world.die();
      await expectAgreement(world);
    }
    await drain(world);
    await expectAgreement(world);
  } finally {
    await world.runtime.shutdown();
  }
}

describe('a session under random commands and crashes', () => {
  it('loses nothing, does nothing twice, is found while it has work, and comes to rest', async () => {
    await fc.assert(fc.asyncProperty(story, live), { numRuns: Number(process.env['WAKECHART_PROPERTY_RUNS'] ?? 60) });
  });

  it.each(COUNTEREXAMPLES)('is found when its wake dies: %s', async (_when, told) => {
    await expect(live(told())).resolves.toBeUndefined();
  });

  it('appends only what its rules allow, as anybody who folds the log sees it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...MODEL_STEPS), { maxLength: 8 }),
        fc.array(command, { minLength: 1, maxLength: 20 }),
        async (steps, commands) => {
          const world = new World(steps, async () => undefined);
          try {
            world.sessions.push((await world.runtime.sessions.create({ agentId: AGENT })).sessionId);
            for (const each of commands)
              await world.perform(each).catch((error: unknown) => expect(isExpected(error, world.view)).toBe(true));
            for (const listing of await world.store.list()) {
              const events = await wholeLog(world.store, listing.sessionId);
              // A fork begins with the past of another session, which it did not append itself.
              if (!events.some((event) => event.type === 'session.created' && event.data.forkOf !== undefined))
                expect(() => stateAfter(initialSessionState(listing), events)).not.toThrow();
            }
          } finally {
            await world.runtime.shutdown();
          }
        },
      ),
      { numRuns: Number(process.env['WAKECHART_PROPERTY_RUNS'] ?? 30) },
    );
  });
});
