/** The logs of sessions beside a recording: of whom, how much, and read back as the sessions that they were. */
import { describe, expect, it } from 'vitest';
import { openLogSource } from '../../../src/actors/inspection/log-source.ts';
import type { LogSource } from '../../../src/actors/inspection/log-source.ts';
import { SessionLogLines } from '../../../src/actors/inspection/session-log-lines.ts';
import type { SessionTapeOptions } from '../../../src/actors/inspection/session-log-lines.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { MAX_LINE_CHARACTERS } from '../../../src/machines/inspection-log/inspection-record.ts';
import { readRecord } from '../../../src/machines/inspection-log/read-record.ts';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { SessionEvents } from '../../../src/actors/session/session-events.ts';
import { SESSION_ID, UNBOUND, created, eventAt, foldAll, idOf, logOf } from '../../support/session-events.ts';

const CHILD = idOf(900);
const HEADER = JSON.stringify({ format: 'inspection-log/1', boot: 'b', startedAt: 1_000 });
const message = (text: string): SessionEventDraft => ({ type: 'user.message', data: { text, delivery: 'queue' } });
const asked: SessionEventDraft = {
  type: 'subagent.started',
  data: { jobId: 'agent_1', childSessionId: CHILD, agentId: 'helper', label: 'helps', restriction: UNBOUND },
};

const actor = (sessionId: string): InspectionRecord =>
  ({ k: 'actor', s: 1, t: 1, a: 'b:x:1', id: 'wake', status: 'active', facts: { sessionId } }) as const;

/** A store of logs that grow, and what a tape writes of them. */
class Stage {
  readonly logs = new Map<string, SessionEvent[]>();
  readonly lines: string[] = [];
  readonly problems: unknown[] = [];
  readonly followed = new Set<string>();
  readonly #watchers = new Map<string, Set<() => void>>();

  put(sessionId: string, events: readonly SessionEvent[]): void {
    this.logs.set(sessionId, [...(this.logs.get(sessionId) ?? []), ...events.map((each) => ({ ...each, sessionId }))]);
    for (const watcher of this.#watchers.get(sessionId) ?? []) watcher();
  }

  tape(options: Partial<SessionTapeOptions> = {}): SessionLogLines {
    const tape = new SessionLogLines({
      sessions: {
        status: async (sessionId) => foldAll(this.#log(sessionId)),
        events: (sessionId, wanted) =>
          new SessionEvents(
            {
              read: async (id, { from = 1 } = {}) => this.#log(id).filter(({ seq }) => seq >= from),
              watch: (id, onChange) => this.#watch(id, onChange),
            },
            sessionId,
            wanted ?? {},
            { started: () => undefined, ended: () => undefined },
          ),
      },
      onProblem: (problem) => void this.problems.push(problem),
      ...options,
    });
    tape.begin(async (line) => void this.lines.push(line));
    return tape;
  }

  /** What the lines tell: numbers of events by session. */
  get told(): Readonly<Record<string, readonly number[]>> {
    const told: Record<string, number[]> = {};
    for (const line of this.lines) {
      const { session, seq } = JSON.parse(line) as { readonly session: string; readonly seq: number };
      (told[session] ??= []).push(seq);
    }
    return told;
  }

  #log(sessionId: string): readonly SessionEvent[] {
    const log = this.logs.get(sessionId);
    if (log === undefined) throw new RuntimeError('SESSION_NOT_FOUND', 'gone', { category: 'not_found' });
    return log;
  }

  #watch(sessionId: string, onChange: () => void): () => void {
    const watchers = this.#watchers.get(sessionId) ?? new Set();
    this.#watchers.set(sessionId, watchers);
    watchers.add(onChange);
    this.followed.add(sessionId);
    return () => {
      watchers.delete(onChange);
      if (watchers.size === 0) this.followed.delete(sessionId);
    };
  }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
};

async function readBack(lines: readonly string[]): Promise<LogSource> {
  const text = [HEADER, ...lines].map((line) => `${line}\n`).join('');
  const source = await openLogSource({
    title: 'a recording',
    pieces: (async function* pieces() {
      yield text;
    })(),
    onProblem: () => undefined,
  });
  await source.caughtUp;
  return source;
}

describe('the logs of sessions in a recording', () => {
  it('are those whose actors were recorded, whole and as they grow, and of those that work for them', async () => {
    const stage = new Stage();
    stage.put(SESSION_ID, logOf(created, message('Begin.')));
    stage.put(CHILD, logOf(created));
    stage.put(idOf(901), logOf(created));
    const tape = stage.tape();
    tape.see([actor(SESSION_ID), actor(SESSION_ID)]);
    await turns();
    stage.put(SESSION_ID, [eventAt(3, asked)]);
    await turns();
    expect(stage.told).toEqual({ [SESSION_ID]: [1, 2, 3], [CHILD]: [1] });
    expect(stage.followed).toEqual(new Set([SESSION_ID, CHILD]));
    await tape.end();
    expect([stage.followed.size, stage.problems]).toEqual([0, []]);
  });

  it('are written to their end, with a child that is heard of only then', async () => {
    const stage = new Stage();
    stage.put(SESSION_ID, logOf(created, asked));
    stage.put(CHILD, logOf(created));
    const tape = stage.tape();
    tape.see([actor(SESSION_ID), actor(idOf(950))]);
    await tape.end();
    tape.see([actor(CHILD)]);
    await turns();
    expect(stage.told).toEqual({ [SESSION_ID]: [1, 2], [CHILD]: [1] });
    expect(stage.problems).toEqual([]);
  });

  it('of many are followed a few at a time, and none loses anything', async () => {
    const stage = new Stage();
    const ids = [1, 2, 3].map((number) => idOf(900 + number));
    for (const id of ids) stage.put(id, logOf(created));
    const tape = stage.tape({ limits: { followed: 1 } });
    for (const id of ids) {
      tape.see([actor(id)]);
      await turns();
    }
    expect(stage.followed).toEqual(new Set([ids[2]]));
    for (const id of ids) stage.put(id, [eventAt(2, message('more'))]);
    tape.see([actor(ids[0] ?? '')]);
    await turns();
    expect(stage.told[ids[0] ?? '']).toEqual([1, 2]);
    await tape.end();
    expect(Object.values(stage.told)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it('are redacted, bounded line by line and together, and say so', async () => {
    const stage = new Stage();
    stage.put(SESSION_ID, logOf(created, message(`hush ${'\u0001'.repeat(250_000)}`), message('hush')));
    const tape = stage.tape({
      redact: (text) => text.replaceAll('hush', '[secret]'),
      limits: { characters: 600_000 },
    });
    tape.see([actor(SESSION_ID)]);
    await tape.end();
    expect(stage.lines.join('')).not.toContain('hush');
    expect(Math.max(...stage.lines.map(({ length }) => length))).toBeLessThan(MAX_LINE_CHARACTERS);
    const source = await readBack(stage.lines);
    expect(source.about().notes).toEqual([
      'Events of sessions that are cut, since they were too long to be recorded whole: 1.',
    ]);
    const full = stage.tape({ limits: { characters: 10 } });
    full.see([actor(SESSION_ID)]);
    await full.end();
    expect(stage.problems).toEqual([expect.objectContaining({ code: 'STORAGE_FAILED' })]);
    expect((await readBack(stage.lines.slice(-1))).about().notes).toEqual([
      'The logs of sessions end early: they were too long to be recorded any further.',
    ]);
  });
});

describe('a recording with logs of sessions', () => {
  async function recorded(...drafts: readonly SessionEventDraft[]): Promise<Stage> {
    const stage = new Stage();
    stage.put(SESSION_ID, logOf(created, ...drafts));
    const tape = stage.tape();
    tape.see([actor(SESSION_ID)]);
    await tape.end();
    return stage;
  }

  it('shows them as a living source does, and takes no answer', async () => {
    const { lines } = await recorded(message('Begin.'));
    const source = await readBack(lines);
    expect(source.about()).toMatchObject({ hasSessions: true, canAnswer: false, notes: [], hasEnded: true });
    const { sessions, total } = await source.sessions({ limit: 10 });
    expect([sessions.map(({ sessionId }) => sessionId), total]).toEqual([[SESSION_ID], 1]);
    expect((await source.session(SESSION_ID))?.state.head).toBe(2);
    expect((await source.events(SESSION_ID, { from: 2, limit: 10 }))?.events.map(({ type }) => type)).toEqual([
      'user.message',
    ]);
    const recording = await source.recordingOf(SESSION_ID);
    expect(recording?.range().last).toBeGreaterThan(0);
    await expect(source.answer(SESSION_ID, { type: 'allow', requestId: idOf(5) })).rejects.toMatchObject({
      code: 'INSPECTION_READ_ONLY',
    });
  });

  it('tells waits as they were when it was recorded', async () => {
    const { lines } = await recorded(message('Begin.'));
    const source = await readBack(lines);
    const session = await source.session(SESSION_ID);
    expect(new Date(session?.at ?? 0).toISOString()).toBe(logOf(created)[0]?.at);
  });

  it('that is damaged costs the line alone; one of an older release knows nothing of them and misses no record', async () => {
    const { lines } = await recorded(message('Begin.'));
    const source = await readBack([...lines, '{"k":"session","session":"x"}']);
    expect(source.about().notes).toEqual([
      'Events of sessions that could not be read, so that what came after may be odd: 1.',
    ]);
    expect((await source.session(SESSION_ID))?.state.head).toBe(2);
    expect(readRecord(JSON.parse(lines[0] ?? ''))).toEqual({ unknownKind: 'session' });
    expect((JSON.parse(lines[0] ?? '') as { readonly s?: number }).s).toBeUndefined();
  });

  it('in which events are missing, or numbered too high, says so and loses no other', async () => {
    const texts = ['One.', 'Two.', 'Three.', 'Four.', 'Five.'].map(message);
    const { lines } = await recorded(...texts);
    const seqsOf = async (source: LogSource): Promise<readonly number[] | undefined> =>
      (await source.events(SESSION_ID, { from: 1, limit: 10 }))?.events.map(({ seq }) => seq);
    const gap = await readBack(lines.filter((_, index) => index !== 2));
    expect(gap.about().notes).toEqual(['Events of sessions that are missing, so that what came after may be odd: 1.']);
    expect(await seqsOf(gap)).toEqual([1, 2, 4, 5, 6]);
    const wild = { ...(JSON.parse(lines[2] ?? '') as object), seq: 9_000_000 };
    const high = await readBack(lines.toSpliced(2, 0, JSON.stringify(wild)));
    expect(high.about().notes).toEqual([
      'Events of sessions that could not be read, so that what came after may be odd: 1.',
    ]);
    expect(await seqsOf(high)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('without any opens as it always did', async () => {
    const source = await readBack([JSON.stringify(actor(SESSION_ID))]);
    expect(source.about()).toMatchObject({ hasSessions: false, notes: [] });
    expect(await source.sessions({ limit: 10 })).toEqual({ sessions: [], total: 0 });
  });
});
