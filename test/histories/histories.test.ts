/**
 * Logs that every version wrote: each still folds to the state that is kept beside it, and its session can still be
 * gone on with.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { cp, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import type { SessionIdentity } from '../../src/actors/session/event-store.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { foldSession } from '../../src/machines/session/session-fold.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { assembleTranscript } from '../../src/machines/turn/transcript.ts';
import { AGENT, openSetup } from '../support/session-setup.ts';
import type { SessionSetup } from '../support/session-setup.ts';
import { SCENARIOS, openOnFiles } from './scenarios.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const logFile = (name: string): string => join(FOLDER, `${name}.jsonl`);
const stateFile = (name: string): string => join(FOLDER, `${name}.state.json`);
const names = async (): Promise<string[]> =>
  (await readdir(FOLDER))
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.slice(0, -'.jsonl'.length))
    .toSorted();

type Expected = SessionState & SessionIdentity;
const expectedOf = async (name: string): Promise<Expected> =>
  JSON.parse(await readFile(stateFile(name), 'utf8')) as Expected;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A setup in which the session of this log lives. */
function openWith(name: string, identity: SessionIdentity): Promise<SessionSetup> {
  return openSetup({
    store: ({ home, clock }) => {
      const path = new HomeLayout(home).log(identity);
      mkdirSync(dirname(path), { recursive: true });
      cpSync(logFile(name), path);
      return new FileEventStore({ home, clock });
    },
  });
}

const foldAll = (identity: SessionIdentity, events: readonly SessionEvent[]): SessionState =>
  events.reduce(foldSession, initialSessionState(identity));

/** Plays the stories whose logs are not there yet and keeps what they add up to; see README.md. */
async function writeMissing(): Promise<void> {
  const known = new Set(await names());
  for (const { name, play } of SCENARIOS.filter((scenario) => !known.has(scenario.name))) {
    const setup = await openOnFiles();
    await play(setup, async (sessionId) => {
      const identity = { sessionId, agentId: AGENT };
      await cp(new HomeLayout(setup.home).log(identity), logFile(name));
      const store = new FileEventStore({ home: setup.home, clock: setup.clock });
      await writeFile(stateFile(name), `${JSON.stringify(foldAll(identity, await store.read(sessionId)), null, 2)}\n`);
      await store.close();
    });
    await setup.close();
  }
}

if (process.env['WAKECHART_WRITE_HISTORIES'] === '1') await writeMissing();
const histories = await names();

describe('the logs that are kept', () => {
  it('are those of every story, of this version and of the ones before', () => {
    for (const { name } of SCENARIOS) expect(histories).toContain(name);
    expect(histories.some((name) => name.startsWith('0.1-'))).toBe(true);
  });

  it('name no place and nobody', async () => {
    for (const name of histories)
      expect(await readFile(logFile(name), 'utf8')).not.toMatch(/\/(?:home|root|tmp|work|Users)\b/);
  });
});

describe.each(histories)('%s', (name) => {
  it('folds to the state that is kept beside it, and loses nothing', async () => {
    const expected = await expectedOf(name);
    await using setup = await openWith(name, expected);
    const events = await setup.log(expected.sessionId);
    expect(events).toHaveLength(expected.head);
    expect(events.filter(({ type }) => type === 'event.unrecognized')).toEqual([]);
    expect(plain(foldAll(expected, events))).toEqual(expected);
    expect(plain(await setup.runtime.sessions.get(expected.sessionId))).toEqual(expected);
  });

  it('gives a conversation in which every call has its result', async () => {
    const expected = await expectedOf(name);
    await using setup = await openWith(name, expected);
    const messages = assembleTranscript(await setup.log(expected.sessionId));
    for (const [index, current] of messages.entries()) {
      const calls =
        current.role === 'assistant'
          ? current.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []))
          : [];
      const next = messages[index + 1];
      expect(next?.role === 'tool' ? next.content.map(({ callId }) => callId) : []).toEqual(calls);
    }
  });

  it('can be gone on with, unless it has ended', async () => {
    const expected = await expectedOf(name);
    await using setup = await openWith(name, expected);
    // A session of the test's own makes the agent and its script.
    await setup.session([{ text: 'Still here.' }], { script: { onEnd: 'repeat-last' } });
    if (expected.status === 'terminated') {
      await expect(setup.runtime.wake(expected.sessionId)).rejects.toThrow(/terminated/);
      return;
    }
    await setup.runtime.sessions.interrupt(expected.sessionId);
    await setup.runtime.sessions.send(expected.sessionId, { type: 'user.message', text: 'Are you still there?' });
    expect(await setup.runtime.wake(expected.sessionId)).toMatchObject({ outcome: 'sleep', status: 'idle' });
    expect(await setup.runtime.sessions.get(expected.sessionId)).toMatchObject({
      pending: [],
      openToolCalls: [],
      pendingActions: [],
      parked: undefined,
    });
  });
});

describe('a log that says substrate', () => {
  const NAME = '0.4-promotions';

  it('is read as one of shared files, with the versions of today', async () => {
    const stored = await readFile(logFile(NAME), 'utf8');
    expect(stored).toMatch(/"type":"substrate\.promoted","v":1/);
    expect(stored).toMatch(/"type":"promotion\.refused","v":1,"data":\{"what":"substrate"/);
    const expected = await expectedOf(NAME);
    await using setup = await openWith(NAME, expected);
    const told = (await setup.log(expected.sessionId)).filter(({ type }) => /(?:promoted|refused)$/.test(type));
    expect(told).toMatchObject([
      { type: 'memory.promoted', v: 1 },
      { type: 'files.promoted', v: 1, data: { version: 2, expectedVersion: 1, paths: ['notes.md'] } },
      { type: 'promotion.refused', v: 2, data: { what: 'memory' } },
      { type: 'promotion.refused', v: 2, data: { what: 'shared_files' } },
    ]);
    // Reading leaves the log as it is.
    expect(await readFile(new HomeLayout(setup.home).log(expected), 'utf8')).toBe(stored);
  });
});

describe('a log that calls a workspace copy a hand', () => {
  it('is read with the names of today, those of errors among them', async () => {
    const name = '0.4-another-machine';
    expect(await readFile(logFile(name), 'utf8')).toMatch(/"hand\.restored"[^]*"hand\.not_copied"[^]*"HAND_TOO_LARGE"/);
    const expected = await expectedOf(name);
    await using setup = await openWith(name, expected);
    const events = await setup.log(expected.sessionId);
    expect(events.filter(({ type }) => type.startsWith('workspace.'))).toMatchObject([
      { type: 'workspace.restored', v: 1, data: { from: 'one', host: 'two', copyEpoch: 1, files: 2 } },
      { type: 'workspace.not_copied', v: 2, data: { code: 'WORKSPACE_COPY_TOO_LARGE', staysHere: true } },
    ]);
    expect(JSON.stringify(assembleTranscript(events))).toContain(
      'This session goes on on another machine (two, before it was on one).',
    );
  });
});
