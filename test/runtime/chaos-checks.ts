/**
 * What must hold after a chaos run has come to rest: nothing acknowledged is lost, nothing happened twice, nobody is
 * stuck.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hintKey } from '../../src/machines/session/worker-rules.ts';
import type { SessionIdentity } from '../../src/actors/session/event-store.ts';
import { activationsOf } from '../../src/machines/session/session-activations.ts';
import { foldSession } from '../../src/machines/session/session-fold.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { Place, StoreUnderTest } from '../support/store-under-test.ts';

/** Later than anything is due. */
const FAR_FUTURE_MS = Date.UTC(9999, 0);

export interface Intent {
  readonly sessionId: string;
  readonly kind: 'message' | 'answer' | 'interrupt';
  readonly text: string;
  readonly key?: string;
}

export interface LedgerLine {
  readonly intent?: Intent;
  readonly receipt?: { readonly eventId: string; readonly seq: number };
  readonly refused?: string;
  readonly error?: string;
}

export interface SessionRecord {
  readonly state: SessionState;
  readonly events: readonly SessionEvent[];
  /** What its tools wrote: one token for each effect. */
  readonly effects: readonly string[];
}

export async function readLedger(directory: string): Promise<LedgerLine[]> {
  const texts = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name), 'utf8')));
  // What stands behind the last newline is being written.
  return texts.flatMap((text) => text.split('\n').slice(0, -1)).map((line) => JSON.parse(line) as LedgerLine);
}

/** Every session as a process sees it that knows nothing yet. */
export async function readSessions(place: Place): Promise<SessionRecord[]> {
  await using runtime = await createNodeRuntime({ ...place, reconcileOnStart: false });
  const records: SessionRecord[] = [];
  for (const { sessionId, agentId } of await runtime.sessions.list()) {
    const events: SessionEvent[] = [];
    for await (const event of runtime.sessions.events(sessionId)) events.push(event);
    records.push({
      state: await runtime.sessions.get(sessionId),
      events,
      effects: await effectsOf(place.home, { sessionId, agentId }),
    });
  }
  return records;
}

/** What the tools of a session have written so far. */
export async function effectsOf(home: string, { sessionId, agentId }: SessionIdentity): Promise<string[]> {
  const file = join(home, 'agents', agentId, 'sessions', sessionId, 'workspace', 'effects');
  return (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean);
}

/**
 * Everything that was acknowledged is in the log, once, where the receipt says; what was only tried is there once at
 * most.
 */
export function expectNothingLost(ledger: readonly LedgerLine[], sessions: readonly SessionRecord[]): void {
  expect(ledger.flatMap(({ error }) => error ?? [])).toEqual([]);
  const logs = new Map(sessions.map(({ state, events }) => [state.sessionId, events]));
  for (const { receipt, intent } of ledger) {
    if (receipt === undefined || intent === undefined) continue;
    const event = logs.get(intent.sessionId)?.[receipt.seq - 1];
    expect(event, `the log of ${intent.sessionId} at ${receipt.seq}: ${JSON.stringify(intent)}`).toMatchObject({
      id: receipt.eventId,
      seq: receipt.seq,
    });
    if (event !== undefined) expect(textOf(event)).toBe(intent.text);
  }
  for (const { events } of sessions)
    expectNoneTwice(
      events.flatMap((event) => textOf(event) ?? []),
      'messages',
    );
}

export function expectEverythingOnce({ state, events, effects }: SessionRecord): void {
  const { sessionId } = state;
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expectNoneTwice(
    events.map(({ id }) => id),
    `events of ${sessionId}`,
  );
  const read = events.flatMap((event) => (event.type === 'message.consumed' ? event.data.eventIds : []));
  const messages = events.flatMap((event) => (event.type === 'user.message' ? [event.id] : []));
  expectNoneTwice(read, `messages that were read in ${sessionId}`);
  expect(
    messages.filter((id) => !read.includes(id)),
    `messages that nobody read in ${sessionId}`,
  ).toEqual([]);
  const calls = events.flatMap((event) => (event.type === 'agent.tool_use' ? [event.data] : []));
  const results = events.flatMap((event) => (event.type === 'agent.tool_result' ? [event.data] : []));
  expect(results.map(({ callId }) => callId).toSorted()).toEqual(calls.map(({ callId }) => callId).toSorted());
  expectNoneTwice(
    events.flatMap((event) => (event.type === 'agent.tool_started' ? [event.data.callId] : [])),
    `calls that started in ${sessionId}`,
  );
  expectNoneTwice(effects, `effects of ${sessionId}`);
  const succeeded = new Set(
    results
      .filter(({ outcome, output }) => outcome === 'completed' && hasExitedWithZero(output))
      .map(({ callId }) => callId),
  );
  const tokens = calls.filter(({ callId }) => succeeded.has(callId)).flatMap(({ input }) => tokenIn(input) ?? []);
  expect(
    tokens.filter((token) => !effects.includes(token)),
    `effects of ${sessionId} that are not there`,
  ).toEqual([]);
}

export function expectAtRest({ state, events }: SessionRecord): void {
  const { status, openWake, openToolCalls, pending, pendingActions, queuedWakes, openSpanId } = state;
  expect({
    sessionId: state.sessionId,
    status,
    openWake,
    openToolCalls,
    pending,
    pendingActions,
    queuedWakes,
    openSpanId,
  }).toEqual({
    sessionId: state.sessionId,
    status: 'idle',
    openWake: undefined,
    openToolCalls: [],
    pending: [],
    pendingActions: [],
    queuedWakes: [],
    openSpanId: undefined,
  });
  expect(events.reduce(foldSession, initialSessionState(state))).toEqual(state);
}

/** Whatever is left in the index is what the logs make due later. */
export async function expectIndexOf(
  store: StoreUnderTest,
  place: Place,
  sessions: readonly SessionRecord[],
): Promise<void> {
  const opened = await store.open(place);
  const { due } = await opened.activations.due({ nowMs: FAR_FUTURE_MS, limit: Number.MAX_SAFE_INTEGER });
  await opened.close();
  const told = sessions.flatMap(({ state }) => activationsOf(state));
  const known = due.flatMap(({ activations }) => activations);
  expect(known.map(keyOf).toSorted()).toEqual(told.map(keyOf).toSorted());
}

const keyOf = (hint: Parameters<typeof hintKey>[0] & { readonly sessionId: string }): string =>
  `${hint.sessionId} ${hintKey(hint)}`;

/** What a sender wrote, of the events that say it. */
function textOf(event: SessionEvent): string | undefined {
  if (event.type === 'user.message') return event.data.text;
  if (event.type === 'user.answer') return event.data.response;
  // A message that interrupts is followed by an interruption of its own, which gives another reason.
  return event.type === 'user.interrupt' && event.data.reason?.startsWith('loop ') === true
    ? event.data.reason
    : undefined;
}

function tokenIn(input: unknown): string | undefined {
  const { command } = input as { readonly command?: string };
  return /echo (\S+) >> effects/.exec(command ?? '')?.[1];
}

function hasExitedWithZero(output: unknown): boolean {
  return (output as { readonly exitCode?: number }).exitCode === 0;
}

function expectNoneTwice(values: readonly string[], what: string): void {
  const seen = new Set<string>();
  const twice = values.filter((value) => seen.size === seen.add(value).size);
  expect(twice, `${what} that are there twice`).toEqual([]);
}
