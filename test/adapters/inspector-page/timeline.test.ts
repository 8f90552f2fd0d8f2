/** The timeline of a session on the page: its scale, its rows, and that records tell what the log does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { piecesOf } from '../../../src/adapters/inspector-page/timeline/bar-figure.tsx';
import { barText, endOf, nameOf, spokenText, toneOf } from '../../../src/adapters/inspector-page/timeline/bar-words.ts';
import { timelineOf } from '../../../src/adapters/inspector-page/timeline/known-timelines.ts';
import { busyIn, TimeScale } from '../../../src/adapters/inspector-page/timeline/time-scale.ts';
import type { Stretch } from '../../../src/adapters/inspector-page/timeline/time-scale.ts';
import { barIn, isOpenAtFirst, rowsOf } from '../../../src/adapters/inspector-page/timeline/timeline-rows.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { SessionBar } from '../../../src/machines/inspection-log/session-bar.ts';
import { recordsOfSession } from '../../../src/machines/inspection-log/session-records.ts';
import { SessionTimeline } from '../../../src/machines/inspection-log/session-timeline.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import {
  asked,
  created,
  eventAt,
  permissionAsked,
  spanCompleted,
  spanStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const T0 = Date.UTC(2026, 0, 1);
const at = (event: SessionEvent, ms: number): SessionEvent => ({ ...event, at: new Date(T0 + ms).toISOString() });

const LOG = [
  at(eventAt(1, created), 0),
  at(eventAt(2, wakeStarted(1), 1), 10),
  at(eventAt(3, spanStarted('s1'), 1), 20),
  at(eventAt(4, asked('c1', 's1'), 1), 500),
  at(eventAt(5, spanCompleted('s1', 'failed'), 1), 600),
  at(eventAt(6, permissionAsked('c1'), 1), 700),
  at(eventAt(7, wakeEnded('wake_1', 'requires_action'), 1), 800),
] as const;

const recorded = (events: readonly SessionEvent[]): InspectionTimeline => {
  const timeline = new InspectionTimeline();
  timeline.append(recordsOfSession(events));
  return timeline;
};

/** Without what their numbers are of. */
const outline = ({ kind, label, from, to, outcome, parts, children }: SessionBar): unknown => ({
  ...{ kind, label, from, to, outcome, parts },
  children: children.map(outline),
});

const bars = (): SessionBar => {
  const timeline = timelineOf(recorded(LOG));
  if (timeline === undefined) throw new Error('expected a timeline');
  return timeline.root;
};

const stretches: fc.Arbitrary<readonly Stretch[]> = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 1_000 })), { maxLength: 20 })
  .map((gaps) => {
    const all: Stretch[] = [];
    for (const [gap, length] of gaps) {
      const from = (all.at(-1)?.to ?? 0) + gap;
      all.push({ from, to: from + length });
    }
    return all;
  });

describe('the records of a session', () => {
  it('tell the same bars as its log, also as they come one by one, and which record each of them began with', () => {
    const direct = new SessionTimeline({ place: 1, t: T0 });
    for (const { seq, type, data, at: time, epoch } of LOG)
      direct.see({ place: seq, t: Date.parse(time), type, data, isOfWake: epoch !== undefined });
    const recording = new InspectionTimeline();
    for (const record of recordsOfSession(LOG)) {
      recording.append([record]);
      timelineOf(recording);
    }
    const timeline = timelineOf(recording);
    expect(outline(timeline?.root as SessionBar)).toEqual(outline(direct.root));
    const call = rowsOf(timeline?.root as SessionBar, () => true).find(({ bar }) => bar.kind === 'call')?.bar;
    expect(recording.record(call?.event ?? 0)).toMatchObject({ type: 'agent.tool_use' });
    expect(timeline?.barAt(call?.event ?? 0)).toBe(call?.id);
    // What is recorded of the call itself comes after its event, and is about it.
    expect(timeline?.barAt((call?.event ?? 0) + 1)).toBe(call?.id);
  });

  it('tell nothing before they come', () => {
    expect(timelineOf(new InspectionTimeline())).toBeUndefined();
  });
});

describe('the rows of a timeline', () => {
  it('stand in the order in which their bars began, those within others beneath them, unless those are closed', () => {
    const root = bars();
    const open = rowsOf(root, () => true);
    expect(open.map(({ bar, level }) => [bar.kind, level])).toEqual([
      ['session', 1],
      ['wake', 2],
      ['step', 3],
      ['call', 3],
      ['request', 4],
    ]);
    for (const { bar } of open) expect(barIn(root, bar.id)).toBe(bar);
    expect(barIn(root, 99)).toBeUndefined();
    const closed = rowsOf(root, ({ kind }) => kind === 'session');
    expect(closed.map(({ bar, failed }) => [bar.kind, failed])).toEqual([
      ['session', 0],
      ['wake', 1],
    ]);
  });

  it('are open at first, or where there are many only those of the newest wake', () => {
    const wake = bars().children[0] as SessionBar;
    expect(isOpenAtFirst(wake, 99, 10)).toBe(true);
    expect(isOpenAtFirst(wake, 99, 5_000)).toBe(false);
    expect(isOpenAtFirst(wake, wake.id, 5_000)).toBe(true);
  });
});

describe('the scale of a timeline', () => {
  it('leads from each time to a place and back, and never backwards', () => {
    fc.assert(
      fc.property(
        stretches,
        fc.boolean(),
        fc.array(fc.integer({ min: 0, max: 30_000_000 })),
        (busy, isShort, times) => {
          const whole = { from: 0, to: (busy.at(-1)?.to ?? 0) + 500 };
          const scale = new TimeScale(whole, busy, isShort);
          let before = -1;
          for (const time of times.filter((each) => each <= whole.to).toSorted((one, other) => one - other)) {
            const place = scale.placeOf(time);
            expect(place).toBeGreaterThanOrEqual(before);
            expect(Math.abs(scale.timeAt(place) - time)).toBeLessThan(1);
            before = place;
          }
        },
      ),
    );
  });

  it('gives work its whole width, and all long pauses together at most half of that', () => {
    fc.assert(
      fc.property(stretches, (busy) => {
        const whole = { from: 0, to: (busy.at(-1)?.to ?? 0) + 500 };
        const scale = new TimeScale(whole, busy, true);
        const worked = busy.reduce((sum, { from, to }) => sum + to - from, 0);
        for (const { from, to } of busy) expect(scale.placeOf(to) - scale.placeOf(from)).toBeCloseTo(to - from, 4);
        if (worked > 0) expect(scale.length).toBeLessThanOrEqual(worked * 2 + 1e-3);
        expect(new TimeScale(whole, busy, false).length).toBe(whole.to);
      }),
    );
  });

  it('writes labels that stand apart, and some wherever anything is shown', () => {
    fc.assert(
      fc.property(stretches, fc.integer({ min: 200, max: 2_000 }), (busy, pixels) => {
        const scale = new TimeScale({ from: 0, to: (busy.at(-1)?.to ?? 0) + 500 }, busy, true);
        const marks = scale.marksIn(0, scale.length, pixels);
        for (const [index, mark] of marks.entries()) {
          expect(mark.at).toBeGreaterThan(0);
          expect(mark.at).toBeLessThan(1);
          if (index > 0) expect((mark.at - (marks[index - 1]?.at ?? 0)) * pixels).toBeGreaterThanOrEqual(63.9);
        }
        expect(marks.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('a bar', () => {
  it('is told in words: how long, what it used, why it failed; what waits goes on until now', () => {
    const root = bars();
    const now = { now: T0 + 60_700 };
    const [step, call] = root.children[0]?.children ?? [];
    const request = call?.children[0] as SessionBar;
    expect(barText(step as SessionBar, now)).toBe('580 ms');
    expect(nameOf(step as SessionBar)).toBe('a.json');
    expect(toneOf(step as SessionBar, now)).toBe('failed');
    expect(toneOf(request, now)).toBe('waiting');
    expect(endOf(request, now)).toBe(now.now);
    expect(spokenText(request, now)).toBe('Request, Permission, waits, 1 min, of which it waited 1 min');
  });

  it('of a wake whose process died ends where that was heard of last', () => {
    const root = timelineOf(recorded(LOG.slice(0, 4)))?.root as SessionBar;
    const now = { now: T0 + 90_000, deadSince: T0 + 500 };
    const [wake] = root.children;
    expect(endOf(wake as SessionBar, now)).toBe(T0 + 500);
    expect(toneOf(wake as SessionBar, now)).toBe('unknown');
    expect(endOf(root, now)).toBe(T0 + 500);
  });

  it('has parts on the pixels that are seen, none of them so small that it could not be', () => {
    const root = bars();
    const scale = new TimeScale({ from: T0, to: T0 + 800 }, busyIn(root, [], T0 + 800), false);
    const shown = { scale, part: { from: 0, to: 800 }, width: 80, now: { now: T0 + 800 } };
    const [wake] = root.children;
    expect(
      piecesOf(wake as SessionBar, shown).map(({ is, from, to }) => [is, Math.round(from), Math.round(to)]),
    ).toEqual([
      ['working', 1, 70],
      ['waiting', 70, 80],
    ]);
    expect(piecesOf(wake as SessionBar, { ...shown, part: { from: 790, to: 800 } })).toHaveLength(1);
    for (const part of [
      { from: 0, to: 800 },
      { from: 0, to: 1e7 },
    ])
      for (const { from, to } of piecesOf(wake as SessionBar, { ...shown, part }))
        expect(to - from).toBeGreaterThan(0.9);
  });
});
