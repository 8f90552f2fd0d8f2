/**
 * Random lives of a session whose agent calls tools, asks people and delegates: wakes, answers, interruptions,
 * restarts, crashes and the passing of time in any order. Whatever happens, the promises of a turn hold after each of
 * them.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { MortalStore } from '../support/mortal-store.ts';
import { expectSettled } from '../support/settled-session.ts';
import { openTurnSetup } from '../support/turn-setup.ts';
import type { Said, TurnSetup } from '../support/turn-setup.ts';
import { noteTools } from '../support/turn-tools.ts';

let setup: TurnSetup;
afterEach(() => setup[Symbol.asyncDispose]());

const TOOLS = ['check', 'touch', 'launch', 'failing', 'ask_human', 'helper', 'deploy', 'nothing_there'] as const;
const EXPIRES_SECONDS = 600;

/** Call ids of the runs of each tool that must not run twice. */
let effects: string[];
/** What the agents say next, in turn and for ever. */
let script: readonly Said[];

async function open(): Promise<void> {
  effects = [];
  script = [];
  const { tool } = noteTools();
  const noted = async (_input: unknown, { callId }: { readonly callId: string }): Promise<string> => {
    effects.push(callId);
    return 'ok';
  };
  setup = await openTurnSetup({
    store: new MemoryEventStore(),
    tools: [
      tool('check', { run: noted }),
      tool('touch', { idempotent: true }),
      tool('launch', { permissionPolicy: 'always_ask', run: noted }),
      tool('failing', { run: () => Promise.reject(new Error('boom')) }),
    ],
  });
  let step = 0;
  const speak = (): Said => script[step++ % Math.max(1, script.length)] ?? { text: 'Nothing.' };
  await setup.agent('helper', speak, {
    tools: ['check', 'launch', 'ask_human'],
    permission: { mode: 'preapproved', expiresAfterSeconds: EXPIRES_SECONDS },
  });
  await setup.agent('lead', speak, {
    tools: [
      'check',
      'touch',
      'launch',
      'failing',
      'ask_human',
      { agent: 'helper' },
      { custom: 'deploy', description: 'Deploys.' },
    ],
    permission: { mode: 'preapproved', expiresAfterSeconds: EXPIRES_SECONDS },
    budget: { maxModelStepsPerWake: 6 },
  });
}

const said: fc.Arbitrary<Said> = fc.oneof(
  fc
    .array(fc.constantFrom(...TOOLS), { minLength: 1, maxLength: 4 })
    .map((names) => ({ calls: names.map((name) => ({ name, input: { message: 'Work.', question: 'Which?' } })) })),
  fc.constant<Said>({ text: 'Done.' }),
);

type Act =
  | {
      readonly kind:
        | 'wake'
        | 'settle'
        | 'message'
        | 'interrupt'
        | 'restart'
        | 'wait'
        | 'interruptChild'
        | 'terminateChild'
        | 'deleteChild'
        | 'fork';
    }
  | { readonly kind: 'answer'; readonly pick: number; readonly allowed: boolean; readonly ofChild: boolean }
  | { readonly kind: 'crash'; readonly at: number; readonly stored: boolean };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Act>({ kind: 'wake' }, { kind: 'settle' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      pick: fc.nat(5),
      allowed: fc.boolean(),
      ofChild: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      at: fc.integer({ min: 1, max: 25 }),
      stored: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Act>(
      ...(
        ['message', 'interrupt', 'restart', 'wait', 'interruptChild', 'terminateChild', 'deleteChild', 'fork'] as const
      ).map((kind) => ({ kind })),
    ),
  },
);

async function perform(id: string, doing: Act): Promise<void> {
  const { runtime } = setup;
  const child = (await setup.children(id)).at(-1);
  switch (doing.kind) {
    case 'wake':
      return void (await runtime.wake(id));
    case 'settle':
      return setup.settle();
    case 'message':
      return void (await runtime.sessions.send(id, { type: 'user.message', text: 'More.' }));
    case 'interrupt':
      return void (await runtime.sessions.interrupt(id));
    case 'restart':
      return void setup.open();
    case 'wait':
      return setup.clock.advance(EXPIRES_SECONDS * 1000);
    case 'fork':
      return void (await runtime.sessions.fork(id));
    case 'answer':
      return answer(doing.ofChild ? child : id, doing);
    case 'crash':
      return crash(id, doing);
    case 'interruptChild':
    case 'terminateChild':
    case 'deleteChild':
      return child === undefined ? undefined : cutChild(child, doing.kind);
  }
}

async function cutChild(child: string, kind: 'interruptChild' | 'terminateChild' | 'deleteChild'): Promise<void> {
  const { sessions } = setup.runtime;
  const cut = {
    interruptChild: () => sessions.interrupt(child),
    terminateChild: () => sessions.terminate(child),
    deleteChild: () => sessions.delete(child),
  }[kind];
  // It may be gone, or terminated.
  await cut().catch(() => undefined);
}

async function answer(id: string | undefined, { pick, allowed }: Extract<Act, { kind: 'answer' }>): Promise<void> {
  const state = id === undefined ? undefined : await setup.state(id).catch(() => undefined);
  const action = state?.pendingActions[pick % Math.max(1, state.pendingActions.length)];
  if (id === undefined || action === undefined) return;
  const { kind, requestId, toolName } = action;
  const { sessions } = setup.runtime;
  const send = {
    permission: () => sessions.send(id, { type: 'user.tool_confirmation', requestId, toolName, allowed }),
    answer: () => sessions.send(id, { type: 'user.answer', requestId, response: 'this one' }),
    custom_tool: () => sessions.send(id, { type: 'user.custom_tool_result', requestId, toolName, output: { allowed } }),
  }[kind];
  await send().catch((error: unknown) => expect(error).toMatchObject({ code: 'REQUEST_EXPIRED' }));
}

/** A process wakes the session, and dies at one of its changes if it comes so far. The next one puts it right. */
async function crash(id: string, { at, stored }: Extract<Act, { kind: 'crash' }>): Promise<void> {
  const mortal = new MortalStore(setup.store, { at, stored });
  await setup
    .open({ store: mortal })
    .wake(id)
    .catch(() => undefined);
  await mortal.kill();
  await setup.open().wake(id);
  for (const child of await setup.children(id)) await setup.runtime.wake(child).catch(() => undefined);
}

async function expectPromisesKept(id: string): Promise<void> {
  const sessions = await setup.runtime.sessions.list();
  for (const { sessionId } of sessions) {
    const [log, state] = [await setup.log(sessionId), await setup.state(sessionId)];
    expectSettled(log, state);
    expectAllowed(log);
  }
  // A started call of a tool that is not idempotent has run once at most.
  expect(new Set(effects).size).toBe(effects.length);
  await expectChildrenKnown(id, sessions);
}

/**
 * Whatever needs consent has begun only after somebody has given it, to this very call, and no later than it counted.
 */
function expectAllowed(log: readonly SessionEvent[]): void {
  const allowed = new Set<string>();
  const names = new Map<string, string>();
  const ended = new Set<string>();
  for (const { type, data } of log) {
    if (type === 'agent.tool_use') names.set(data.callId, data.name);
    else if (type === 'permission.resolved' && data.decision === 'allowed') allowed.add(data.callId);
    else if (type === 'agent.tool_result') ended.add(data.callId);
    else if (type === 'agent.tool_started' && names.get(data.callId) === 'launch') {
      expect([data.callId, allowed.has(data.callId), ended.has(data.callId)]).toEqual([data.callId, true, false]);
      // It is spent.
      allowed.delete(data.callId);
    }
  }
}

async function expectChildrenKnown(id: string, sessions: readonly SessionState[]): Promise<void> {
  const started = await setup.children(id);
  expect(new Set(started).size).toBe(started.length);
  for (const { parent, sessionId, messages } of sessions) {
    if (parent?.sessionId !== id) continue;
    expect([sessionId, started.includes(sessionId), messages <= 1]).toEqual([sessionId, true, true]);
  }
}

describe('whatever happens to a session whose agent calls tools', () => {
  it('each call has one result or waits, runs once and only when allowed, each child is made once, and it comes to rest', async () => {
    await open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { minLength: 1, maxLength: 5 }),
        fc.array(act, { minLength: 1, maxLength: 10 }),
        async (steps, acts) => {
          script = steps;
          const id = await setup.start('lead');
          for (const doing of acts) {
            await perform(id, doing);
            await expectPromisesKept(id);
          }
          script = [{ text: 'Done.' }];
          await setup.runtime.sessions.interrupt(id);
          await setup.settle();
          await setup.clock.advance(EXPIRES_SECONDS * 2_000);
          await setup.settle();
          await expectPromisesKept(id);
          expect(await setup.due()).toEqual([]);
          const { openToolCalls, pendingActions } = await setup.state(id);
          expect([openToolCalls, pendingActions]).toEqual([[], []]);
          await setup.runtime.sessions.terminate(id);
          for (const { sessionId } of await setup.runtime.sessions.list())
            await setup.runtime.sessions.delete(sessionId);
        },
      ),
      { numRuns: Number(process.env['TURN_MODEL_RUNS'] ?? 40) },
    );
  });
});
