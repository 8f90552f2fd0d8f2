/**
 * The process of a wake dies in the middle of a backend's turn, at each change of the store: the next wake puts the log
 * right and begins anew.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import {
  answered,
  ask,
  asksFirst,
  ends,
  openBackendSetup,
  requests,
  starts,
  toolStory,
} from '../../support/backend-setup.ts';
import type { BackendSetup } from '../../support/backend-setup.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import type { Death } from '../../support/mortal-store.ts';
import { providerProblems, shapeProblems } from '../../support/provider-rules.ts';
import { until } from '../../support/session-setup.ts';
import { says, toldRuntime } from '../../support/told-runtime.ts';
import type { Act } from '../../support/told-runtime.ts';
import { noteTools } from '../../support/turn-tools.ts';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';

let open: BackendSetup;
afterEach(() => open.setup[Symbol.asyncDispose]());

/** One tool with permission that a rule gives, one that is asked about, and one without an end. */
const turn: Act = async (params, tell) => {
  requests(tell, '1', 'check', {});
  starts(tell, '1');
  ends(tell, '1', 'seen');
  requests(tell, '2', 'Bash', { command: 'make' });
  const { decision } = await ask(params, { callId: '2', name: 'Bash', input: { command: 'make' } });
  if (decision === 'allow') ends(tell, '2', 'made');
  requests(tell, '3', 'check', {});
  return answered('Done.', 'thread');
};

async function stage(): Promise<{ readonly store: MemoryEventStore; readonly ran: readonly string[] }> {
  const store = new MemoryEventStore();
  const tools = noteTools();
  open = await openBackendSetup([turn], { store, tools: [tools.tool('check')], agent: { tools: ['check'] } });
  return { store, ran: tools.ran };
}

/** Wakes the session in a process that dies over it; somebody answers what is asked, if that much is reached. */
async function dieAt(store: MemoryEventStore, death: Death | undefined): Promise<MortalStore> {
  const mortal = new MortalStore(store, death);
  const doomed = toldRuntime('told', [turn], { runs: 'turn' });
  const other = open.setup.runtime;
  const runtime = open.setup.open({ store: mortal, runtimes: [doomed] });
  let isOver = false;
  const waking = runtime
    .wake(open.id)
    .catch(() => undefined)
    .finally(() => (isOver = true));
  await until(async () => isOver || mortal.isDead || (await other.sessions.get(open.id)).pendingActions.length > 0);
  const [request] = (await other.sessions.get(open.id)).pendingActions;
  if (request !== undefined && !mortal.isDead)
    await other.sessions.send(open.id, {
      type: 'user.tool_confirmation',
      requestId: request.requestId,
      toolName: 'Bash',
      allowed: true,
    });
  await until(() => isOver || mortal.isDead);
  // Where it died the backend may still wait for an answer that nobody gives any more.
  if (!mortal.isDead) await waking;
  open.setup.open();
  return mortal;
}

describe('a turn of a backend whose process dies', () => {
  it('at any change of the store is closed by the next wake, never run by us, and told anew in whole', async () => {
    const { store: first } = await stage();
    const whole = await dieAt(first, undefined);
    const changes = whole.changes.length;
    expect(changes).toBeGreaterThan(8);
    await open.setup[Symbol.asyncDispose]();
    for (let at = 1; at <= changes; at += 1) {
      for (const stored of [false, true]) {
        const { store, ran } = await stage();
        const mortal = await dieAt(store, { at, stored });
        expect(mortal.isDead).toBe(true);
        const later = toldRuntime('told', [says('Again.')], { runs: 'turn' });
        const runtime = open.setup.open({ runtimes: [later] });
        const { outcome } = await runtime.wake(open.id);
        const where = `${at} ${stored ? 'after' : 'before'} ${mortal.changes.at(-1) ?? ''}`;
        const state = await open.setup.state(open.id);
        expect([
          where,
          state.openToolCalls,
          state.pendingActions,
          state.openSpanId,
          state.openWake,
          state.status,
        ]).toEqual([where, [], [], undefined, undefined, 'idle']);
        expect([where, ran]).toEqual([where, []]);
        const log = await open.setup.log(open.id);
        for (let length = 1; length <= log.length; length += 1)
          expect([where, shapeProblems(assembleTranscript(log.slice(0, length)))]).toEqual([where, []]);
        const resumed = later.asked[0]?.resume;
        const isWhole = (await open.setup.dataOf(open.id, 'backend.session_bound')).length > 0;
        if (!isWhole) expect([where, resumed, outcome]).toEqual([where, undefined, 'sleep']);
        for (const { messages = [] } of later.asked) expect([where, providerProblems(messages)]).toEqual([where, []]);
        if (!isWhole)
          expect(
            (await open.setup.dataOf(open.id, 'agent.tool_result')).filter(
              ({ outcome: ended }) => ended === 'unknown' || ended === 'cancelled' || ended === 'completed',
            ).length,
          ).toBe((await open.setup.dataOf(open.id, 'agent.tool_use')).length);
        await open.setup[Symbol.asyncDispose]();
      }
    }
    await stage();
  }, 120_000);
});

describe('a session with turns of a backend', () => {
  it('can be forked while a question waits: the fork asks nobody, and begins a session of its own', async () => {
    const ran: string[] = [];
    open = await openBackendSetup([asksFirst(ran), says('Forked.')]);
    const waking = open.setup.runtime.wake(open.id);
    await until(async () => (await open.setup.requests(open.id)).length === 1);
    const fork = await open.setup.runtime.sessions.fork(open.id);
    expect(await open.setup.state(fork.sessionId)).toMatchObject({
      openToolCalls: [],
      pendingActions: [],
      openSpanId: undefined,
    });
    await open.setup.runtime.sessions.interrupt(open.id);
    await waking;
    await open.setup.runtime.sessions.send(fork.sessionId, { type: 'user.message', text: 'And you?' });
    expect(await open.setup.runtime.wake(fork.sessionId)).toMatchObject({ outcome: 'sleep', summary: 'Forked.' });
    expect(ran).toEqual([]);
  });

  it('is left as it is by an interruption after a turn, and nothing of it runs again', async () => {
    const ran: string[] = [];
    open = await openBackendSetup([asksFirst(ran, { means: { kind: 'command', command: 'ls' } }), says('Next.')], {
      agent: { permission: 'ask' },
    });
    const waking = open.setup.runtime.wake(open.id);
    await until(async () => (await open.setup.requests(open.id)).length === 1);
    await open.setup.runtime.sessions.interrupt(open.id);
    expect(await waking).toMatchObject({ outcome: 'interrupted' });
    expect(toolStory(await open.setup.log(open.id))).toEqual([
      'use Bash by backend',
      'asked',
      'taken back',
      'cancelled',
      'says Not done: The turn was stopped.',
    ]);
    expect(await open.setup.runtime.wake(open.id)).toMatchObject({ outcome: 'nothing_to_do' });
  });
});
