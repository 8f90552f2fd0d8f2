/**
 * The crash matrix: a real process is killed in place of every change it would make to a disk, of every change it would
 * ask a database for, while that is at it, and of every effect, one after the other (crash-points.ts). After each death
 * another process takes over: what was acknowledged is there, no effect was started twice or is told as never
 * begun, every session can be read and comes to rest, and what still had to be done was known to be due.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { hasWork } from '../../src/machines/wake/wake-decision.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { Tool } from '../../src/actors/turn/tool.ts';
import { evenly, pointsWorthKilling } from './crash-points.ts';
import { CRASH_HOST_LOADS } from '../fixtures/processes/crash-host.mjs';
import { hostSnapshot } from '../support/host-snapshot.ts';
import type { HostSnapshot } from '../support/host-snapshot.ts';
import { activationsOf } from '../../src/machines/session/session-activations.ts';
import type { Setup, Place, StoreUnderTest } from '../support/store-under-test.ts';

const HOST = fileURLToPath(new URL('../fixtures/processes/crash-host.mjs', import.meta.url));

/** Processes that are killed at the same time; more would only wait for each other. */
const AT_ONCE = 2;

/**
 * How often a process is started for an operation that it ends without: logs hold how long something took, and a longer
 * one begins its next segment an event earlier, which is five operations more or less.
 */
const TRIES = 8;

/** In which all that was begun must come to rest: a wake, a question, its answer, and once more. */
const ROUNDS = 4;

/**
 * `CRASH_MATRIX=all` (`npm run test:matrix`, part of CI) tries every operation; otherwise this many of each scenario,
 * evenly spread.
 */
const POINTS_OF_A_SLICE = 3;

export const ACTING_STEPS = [
  {
    text: 'I begin.',
    toolCalls: [
      { name: 'effect', input: { name: 'one' } },
      { name: 'effect', input: { name: 'two' } },
    ],
  },
  { text: 'And on.', toolCalls: [{ name: 'effect', input: { name: 'three' } }] },
  {
    text: 'Done.',
    directive: {
      outcome: 'sleep',
      summary: 'Did three things.',
      queuedWakes: [{ reason: 'later', delaySeconds: 3600, dedupeKey: 'later' }],
    },
  },
  { text: 'Again.' },
];

/** For scenarios that are about something else than the steps of a wake. */
const BRIEF_STEPS = [
  { text: 'I begin.', toolCalls: [{ name: 'effect', input: { name: 'one' } }] },
  {
    text: 'Done.',
    directive: {
      outcome: 'sleep',
      summary: 'Did one thing.',
      queuedWakes: [{ reason: 'later', delaySeconds: 3600, dedupeKey: 'later' }],
    },
  },
  { text: 'Again.' },
];

const ASKING_STEPS = [
  { text: 'May I?', toolCalls: [{ name: 'effect', input: { name: 'one' } }] },
  { text: 'Which one?', toolCalls: [{ name: 'ask_human', input: { question: 'Which one?' } }] },
  { text: 'Done.' },
];

const DELEGATING_STEPS = [
  {
    text: 'You two, go.',
    toolCalls: [
      { name: 'helper', input: { message: 'First.' } },
      { name: 'effect', input: { name: 'one' } },
      { name: 'adviser', input: { message: 'Second.' } },
    ],
  },
  { text: 'Done.', expect: { lastToolResultIncludes: ['Helped.'] } },
];

const HELPING_STEPS = [{ toolCalls: [{ name: 'effect', input: { name: 'help' } }] }, { text: 'Helped.' }];

const ADVISING_STEPS = [{ text: 'Helped.' }];

/** What a scenario begins with. */
const SCENARIOS = [
  { scenario: 'wake', steps: ACTING_STEPS, permission: 'preapproved', sessions: 1 },
  { scenario: 'send', steps: BRIEF_STEPS, permission: 'preapproved', sessions: 1 },
  { scenario: 'child', steps: BRIEF_STEPS, permission: 'preapproved', sessions: 1 },
  { scenario: 'copies', steps: BRIEF_STEPS, permission: 'preapproved', sessions: 1 },
  { scenario: 'answer', steps: ASKING_STEPS, permission: 'ask', sessions: 1 },
  { scenario: 'subflow', steps: DELEGATING_STEPS, permission: 'preapproved', sessions: 1 },
  { scenario: 'worker', steps: BRIEF_STEPS, permission: 'preapproved', sessions: 2 },
] as const;

type Scenario = (typeof SCENARIOS)[number];

export interface CrashMatrixOptions {
  readonly store: StoreUnderTest;
  /** How many operations each scenario takes at least: fewer would mean that some are not seen any more. */
  readonly atLeast: Readonly<Record<Scenario['scenario'], number>>;
  /**
   * Of which kinds a wake's operations are, each at least once. A matrix that went past them would say less than it
   * seems to.
   */
  readonly kinds: readonly RegExp[];
  /** Checks what a wake that nobody killed has left. */
  readonly inspect?: ((place: Place, sessionIds: readonly string[]) => Promise<void>) | undefined;
}

interface Death {
  readonly operations: readonly string[];
  readonly acknowledged: readonly string[];
  readonly isDone: boolean;
}

/** The tool of the host, for the process that takes over. */
const effectTool = (home: string): Tool<{ name: string }> => ({
  definition: {
    name: 'effect',
    description: 'Does something.',
    inputSchema: z.object({ name: z.string() }),
    ownership: 'custom',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    interruptBehavior: 'cancel',
  },
  async run({ name }, { callId }) {
    await writeFile(join(home, 'effects.txt'), `${callId} ${name}\n`, { flag: 'a' });
    return { did: name };
  },
});

function runHost(snapshot: HostSnapshot, options: object): Promise<Death> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...snapshot.parameters, JSON.stringify(options)],
      { encoding: 'utf8', env: { ...process.env, ...snapshot.variables } },
      (error, stdout, stderr) => {
        if (error !== null && error.signal !== 'SIGKILL') return reject(new Error(`the host failed: ${stderr}`));
        const lines = stdout
          .trimEnd()
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as { operation?: string; ack?: string[]; done?: boolean });
        resolve({
          operations: lines.flatMap(({ operation }) => operation ?? []),
          acknowledged: lines.flatMap(({ ack }) => ack ?? []),
          isDone: lines.some(({ done }) => done === true),
        });
      },
    );
  });
}

const openAt = (place: Place): Promise<Runtime> =>
  createNodeRuntime({
    ...place,
    tools: [effectTool(place.home)],
    onListenerError: (error) => expect.fail(String(error)),
  });

const logOf = async (runtime: Runtime, sessionId: string): Promise<SessionEvent[]> => {
  const events: SessionEvent[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  return events;
};

/** Everything that must hold after a death, and after somebody has taken over. */
async function checkRecovery(store: StoreUnderTest, place: Place, { acknowledged }: Death): Promise<void> {
  await store.forgetTheDead(place);
  const runtime = await openAt(place);
  try {
    const sessions = await runtime.sessions.list();
    await expectKnownToBeDue(store, place, sessions);
    const ids = new Set<string>();
    for (const { sessionId } of sessions) for (const { id } of await logOf(runtime, sessionId)) ids.add(id);
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    // Once more when all is done, which must change nothing.
    for (let round = 0, isOver = false; round < ROUNDS && !isOver; round += 1) {
      const states = await runtime.sessions.list();
      isOver = !states.some((state) => isUnfinished(state) || state.pendingActions.length > 0);
      for (const state of states) {
        await answerWhatIsAsked(runtime, state);
        if (state.status !== 'terminated') await runtime.trigger(state.sessionId);
      }
    }
    const rested = await runtime.sessions.list();
    const logs = await Promise.all(rested.map(({ sessionId }) => logOf(runtime, sessionId)));
    for (const { status, openWake, openToolCalls, pending } of rested) {
      expect(status).toMatch(/idle|terminated/);
      if (status === 'idle')
        expect({ openWake, openToolCalls, pending }).toEqual({ openWake: undefined, openToolCalls: [], pending: [] });
    }
    for (const log of logs) expectWhole(log);
    const calls = await callsWithEffect(place.home);
    expect(new Set(calls).size).toBe(calls.length);
    expectNoEffectDenied(logs.flat(), new Set(calls));
    expectOneChildPerCall(rested);
  } finally {
    await runtime.shutdown();
  }
}

/** A worker has to come for it. */
const isUnfinished = (state: SessionState, nowMs = Date.now()): boolean =>
  state.openWake !== undefined ||
  state.owedToParent !== undefined ||
  (state.status !== 'terminated' && hasWork(state, new Date(nowMs).toISOString()));

/** Somebody still wants it done. */
async function answerWhatIsAsked(runtime: Runtime, { sessionId, pendingActions }: SessionState): Promise<void> {
  for (const { requestId, kind, toolName } of pendingActions) {
    const answer =
      kind === 'permission'
        ? ({ type: 'user.tool_confirmation', requestId, toolName, allowed: true } as const)
        : ({ type: 'user.answer', requestId, response: 'The red one.' } as const);
    await runtime.sessions.send(sessionId, answer);
  }
}

/** A session that has to be woken is in the index, or nobody would ever come. */
async function expectKnownToBeDue(
  store: StoreUnderTest,
  place: Place,
  sessions: readonly SessionState[],
): Promise<void> {
  const nowMs = Date.now();
  const opened = await store.open(place);
  const { due } = await opened.activations.due({ nowMs, limit: 1_000 });
  await opened.close();
  const known = new Set(due.map(({ sessionId }) => sessionId));
  for (const state of sessions) {
    if (isUnfinished(state, nowMs))
      expect(known, `${state.sessionId} is due: ${JSON.stringify(activationsOf(state))}`).toContain(state.sessionId);
  }
}

/** Dense numbers, one result for each call, each message read once. */
export function expectWhole(events: readonly SessionEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const results = events.flatMap((event) => (event.type === 'agent.tool_result' ? [event.data.callId] : []));
  const calls = events.flatMap((event) => (event.type === 'agent.tool_use' ? [event.data.callId] : []));
  expect(results.toSorted()).toEqual(calls.toSorted());
  const read = events.flatMap((event) => (event.type === 'message.consumed' ? event.data.eventIds : []));
  expect(new Set(read).size).toBe(read.length);
}

/** A call that another agent answers has one session behind it, which was told once. */
function expectOneChildPerCall(sessions: readonly SessionState[]): void {
  const children = sessions.filter(({ parent }) => parent?.callId !== undefined);
  expect(new Set(children.map(({ parent }) => parent?.callId)).size).toBe(children.length);
  expect(children.map(({ messages }) => messages)).toEqual(children.map(() => 1));
}

/** No log says of a call that has had its effect that nothing of it was begun. */
function expectNoEffectDenied(events: readonly SessionEvent[], calls: ReadonlySet<string>): void {
  const results = events.flatMap((event) => (event.type === 'agent.tool_result' ? [event.data] : []));
  const outcomes = results.filter(({ callId }) => calls.has(callId)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome !== 'completed' && outcome !== 'unknown')).toEqual([]);
}

async function callsWithEffect(home: string): Promise<string[]> {
  const lines = (await readFile(join(home, 'effects.txt'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  return lines.flatMap((line) => line.split(' ').slice(0, 1));
}

interface Template extends Setup {
  readonly sessionIds: readonly string[];
}

async function templateOf(store: StoreUnderTest, { steps, permission, sessions }: Scenario): Promise<Template> {
  const setup = await store.setup();
  const sessionIds: string[] = [];
  await using runtime = await openAt(setup.place);
  const script = (played: readonly object[]): string =>
    JSON.stringify({ format: 'wakechart-script/1', steps: played, onEnd: 'sleep' });
  const tools = ['effect', 'ask_human', { agent: 'helper' }, { agent: 'adviser' }];
  for (const [agentId, played] of [
    ['player', steps],
    ['helper', HELPING_STEPS],
    ['adviser', ADVISING_STEPS],
  ] as const) {
    await runtime.agents.create({
      agentId,
      source: {
        frontmatter: { name: agentId, provider: 'script', model: 'play.json', permission, tools },
        instructions: '',
      },
    });
    await writeFile(join(setup.place.home, `agents/${agentId}/play.json`), script(played));
  }
  while (sessionIds.length < sessions) {
    const { sessionId } = await runtime.sessions.create({ agentId: 'player' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    sessionIds.push(sessionId);
  }
  return { ...setup, sessionIds };
}

export function crashMatrix({ store, atLeast, kinds, inspect }: CrashMatrixOptions): void {
  describe(`a process over ${store.name} that is killed in place of any operation`, () => {
    const templates: Template[] = [];
    let snapshot: HostSnapshot;
    beforeAll(async () => {
      snapshot = await hostSnapshot(HOST, CRASH_HOST_LOADS[store.name]);
    });
    afterAll(() => snapshot.remove());
    afterAll(() => Promise.all(templates.splice(0).map((template) => template.remove())));

    it.each(SCENARIOS)(
      'of the scenario "$scenario" loses nothing, doubles nothing and wedges nobody',
      { timeout: 900_000 },
      async (wanted) => {
        const { scenario } = wanted;
        const template = await templateOf(store, wanted);
        templates.push(template);
        const { sessionIds } = template;
        const live = (place: Place, crashAt?: number): Promise<Death> =>
          runHost(snapshot, { ...place, sessionIds, scenario, crashAt });
        const whole = await inCopy(store, template, async (place) => {
          const life = await live(place);
          if (scenario === 'wake') {
            await inspect?.(place, sessionIds);
            expect(kinds.filter((kind) => !life.operations.some((operation) => kind.test(operation)))).toEqual([]);
          }
          return life;
        });
        expect(whole.isDone).toBe(true);
        expect(whole.operations.length).toBeGreaterThanOrEqual(atLeast[scenario]);
        const points = pointsWorthKilling(whole.operations);
        const isAll = process.env['CRASH_MATRIX'] === 'all';
        const matrix = (isAll ? points : evenly(points, POINTS_OF_A_SLICE)).values();
        /** @returns whether the process came as far as the operation */
        const killAt = async (place: Place, crashAt: number, isLastTry: boolean): Promise<boolean> => {
          const death = await live(place, crashAt);
          // Where two sessions are at work at once their operations come in any order, and may be a few less.
          if (death.isDone && (scenario === 'worker' || scenario === 'subflow')) return true;
          if (death.isDone && !isLastTry) return false;
          expect(death.isDone, `crash at ${crashAt}`).toBe(false);
          await checkRecovery(store, place, death).catch((error: unknown) => {
            throw new Error(
              `after a crash in place of operation ${crashAt} (${death.operations.at(-1)}) of "${scenario}"`,
              { cause: error },
            );
          });
          return true;
        };
        const work = async (): Promise<void> => {
          for (const crashAt of matrix) {
            for (let tries = 1; ; tries += 1)
              if (await inCopy(store, template, (place) => killAt(place, crashAt, tries === TRIES))) break;
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, work));
      },
    );
  });
}

async function inCopy<Value>(
  store: StoreUnderTest,
  template: Template,
  use: (place: Place) => Promise<Value>,
): Promise<Value> {
  const copy = await store.copyOf(template.place);
  try {
    return await use(copy.place);
  } finally {
    await copy.remove();
  }
}
