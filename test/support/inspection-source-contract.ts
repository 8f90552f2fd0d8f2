/** What every source of an inspector does, whatever it checks. */
import { describe, expect, it } from 'vitest';
import type { InspectionRecording, InspectionSource } from '../../src/actors/inspection/inspection-source.ts';
import { shownFleet } from '../../src/actors/inspection/fleet-words.ts';
import { shownSession, shownSessions, shownSteps } from '../../src/actors/inspection/shown-answers.ts';
import { readRecord } from '../../src/machines/inspection-log/read-record.ts';
import { inspectionHeader } from '../../src/machines/inspection-log/inspection-record.ts';
import type { InspectionRecord } from '../../src/machines/inspection-log/inspection-record.ts';

export interface OpenSource extends AsyncDisposable {
  readonly source: InspectionSource;
  /** Brings about what the main recording tells of; absent where nothing is added to it any more. */
  readonly act?: (() => Promise<void>) | undefined;
  /** A session that waits for a permission; absent where there are no sessions. */
  readonly session?: string | undefined;
  /** Stores something in that session. */
  readonly actInSession?: (() => Promise<void>) | undefined;
}

/** An id that sessions can have, and that none has. */
const NO_SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';

export async function allRecords(
  recording: Pick<InspectionRecording, 'records'>,
  from = 1,
): Promise<readonly InspectionRecord[]> {
  const all: InspectionRecord[] = [];
  for await (const page of recording.records(from)) all.push(...page);
  return all;
}

export function inspectionSourceContract(name: string, open: () => Promise<OpenSource>): void {
  describe(`${name}, as a source of an inspector,`, () => {
    it('says what it is', async () => {
      await using opened = await open();
      const { source, session } = opened;
      const about = source.about();
      expect(about).toMatchObject({
        title: expect.stringMatching(/./),
        hasSessions: session !== undefined,
        notes: expect.any(Array),
      });
      expect(about.hasSessions || !about.canAnswer).toBe(true);
      expect(about.hasFleet === true).toBe(source.fleet !== undefined);
      expect(inspectionHeader.safeParse(source.header).success).toBe(true);
      expect(isPlain([about, source.header])).toBe(true);
    });

    it('tells records that are in order, plain, and as its range says', async () => {
      await using opened = await open();
      await opened.act?.();
      await expectRecording(opened.source);
    });

    it('tells whoever follows what is added, and nobody who has left', async () => {
      await using opened = await open();
      const { source, act } = opened;
      const { last } = source.range();
      let heardOf = last;
      let hasLeftHeard = false;
      const leave = source.follow(() => (heardOf = source.range().last));
      const leaveAtOnce = source.follow(() => (hasLeftHeard = true));
      leaveAtOnce();
      leaveAtOnce();
      if (act !== undefined) {
        await act();
        await expect.poll(() => heardOf, { interval: 5 }).toBeGreaterThan(last);
        expect((await allRecords(source, last + 1)).length).toBeGreaterThan(0);
      }
      leave();
      expect(hasLeftHeard).toBe(false);
    });

    it('knows nothing of what is not there', async () => {
      await using opened = await open();
      const { source } = opened;
      expect(source.chart('no such chart')).toBeUndefined();
      expect(source.chart('__proto__')).toBeUndefined();
      expect(await source.recordingOf(NO_SESSION)).toBeUndefined();
      expect(await source.session(NO_SESSION)).toBeUndefined();
      expect(await source.events(NO_SESSION, { from: 1, limit: 10 })).toBeUndefined();
      expect(await source.processes(NO_SESSION)).toEqual([]);
      expect(await source.changes(NO_SESSION)).toEqual([]);
      await expect(source.answer(NO_SESSION, { type: 'allow', requestId: 'r' })).rejects.toMatchObject({
        category: 'not_found',
      });
    });

    it('lists its sessions, as many as are asked for', async () => {
      await using opened = await open();
      const { source, session } = opened;
      const { sessions, total } = await source.sessions({ limit: 1 });
      expect([sessions.length, total > 0]).toEqual(session === undefined ? [0, false] : [1, true]);
      if (session !== undefined) expect(sessions[0]).toMatchObject({ sessionId: session, pendingActions: 1 });
    });

    it('shows a session that waits, with what it asks for', async () => {
      await using opened = await open();
      const { source, session } = opened;
      if (session === undefined) return;
      const shown = await source.session(session);
      expect(shown).toMatchObject({
        state: { sessionId: session },
        why: { reasons: [{ kind: 'permission' }] },
        pendingActions: [
          {
            kind: 'permission',
            input: expect.anything(),
            because: expect.any(String),
            cwd: expect.any(String),
            askedAt: expect.any(String),
          },
        ],
      });
      expect(shown?.usage).toMatchObject({
        wakeCount: 1,
        wakes: [{ steps: 1, toolCalls: 1, outcome: expect.any(String) }],
      });
      expect(isPlain(shown)).toBe(true);
    });

    it('tells the events of a session, from any number on', async () => {
      await using opened = await open();
      const { source, session } = opened;
      if (session === undefined) return;
      const all = await source.events(session, { from: 1, limit: 1_000 });
      expect(all?.events.map(({ seq }) => seq)).toEqual(
        Array.from({ length: all?.head ?? 0 }, (_, index) => index + 1),
      );
      const some = await source.events(session, { from: 2, limit: 2 });
      expect([some?.events.map(({ seq }) => seq), some?.head]).toEqual([[2, 3], all?.head]);
      expect((await source.events(session, { from: 1_000_000, limit: 5 }))?.events).toEqual([]);
    });

    it('tells what it was asked for in a way that can be shown: every event is a step, and nothing is lost on its way', async () => {
      await using opened = await open();
      const { source, session } = opened;
      if (session === undefined) return;
      const [shown, events] = [await source.session(session), await source.events(session, { from: 1, limit: 1_000 })];
      if (shown === undefined || events === undefined) throw new Error('there is no such session');
      const { steps, head } = shownSteps(events);
      expect([steps.map(({ seq, type }) => [seq, type]), head]).toEqual([
        events.events.map(({ seq, type }) => [seq, type]),
        events.head,
      ]);
      expect(shownSession(shown)).toMatchObject({
        words: { text: 'waits for your permission', status: 'waiting' },
        pendingActions: [{ parts: [expect.anything()], warnings: [] }],
      });
      const { sessions } = shownSessions(await source.sessions({ limit: 1 }));
      expect(sessions).toMatchObject([
        { sessionId: session, need: 'answer', words: { text: 'waits for your permission' } },
      ]);
    });

    it('tells of other workers where it says that it knows of them', async () => {
      await using opened = await open();
      const { source } = opened;
      const sight = await source.fleet?.();
      expect(sight !== undefined).toBe(source.about().hasFleet === true);
      if (sight !== undefined) expect(isPlain([sight, shownFleet(sight)])).toBe(true);
    });

    it('tells the log of a session as records, and goes on as it grows', async () => {
      await using opened = await open();
      const { source, session, actInSession } = opened;
      if (session === undefined || actInSession === undefined) return;
      const recording = await source.recordingOf(session);
      if (recording === undefined) throw new Error('there is no recording of the session');
      expect(recording.header.boot).toBe(session);
      const before = await expectRecording(recording);
      let heardOf = recording.range().last;
      const leave = recording.follow(() => (heardOf = recording.range().last));
      await actInSession();
      await expect.poll(() => heardOf, { interval: 5 }).toBeGreaterThan(before.at(-1)?.s ?? 0);
      leave();
      expect((await allRecords(recording)).slice(0, before.length)).toEqual(before);
      const chart = (await allRecords(recording)).find(({ k }) => k === 'machine');
      expect(chart?.k === 'machine' && recording.chart(chart.id)).toEqual(chart?.k === 'machine' && chart.chart);
    });
  });
}

/** @returns its records */
async function expectRecording(recording: InspectionRecording): Promise<readonly InspectionRecord[]> {
  const { first, last } = recording.range();
  const records = await allRecords(recording);
  const numbers = records.map(({ s }) => s);
  expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect([numbers[0] ?? last + 1, numbers.at(-1) ?? first - 1]).toEqual([first, last]);
  for (const record of records)
    expect(readRecord(JSON.parse(JSON.stringify(record)))).toMatchObject({ unknownFields: [] });
  const middle = numbers[Math.floor(numbers.length / 2)] ?? 1;
  expect((await allRecords(recording, middle)).map(({ s }) => s)).toEqual(numbers.filter((number) => number >= middle));
  expect(await allRecords(recording, last + 1)).toEqual([]);
  return records;
}

/** What is written as JSON is all that there is. */
function isPlain(value: unknown): boolean {
  expect(JSON.parse(JSON.stringify(value))).toEqual(value);
  return true;
}
