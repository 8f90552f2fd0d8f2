/** A session over time: one bar for each thing that began, within what it happened in, with waiting apart from work. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BarKind, SessionBar } from '../../../src/machines/inspection-log/session-bar.ts';
import { SessionTimeline } from '../../../src/machines/inspection-log/session-timeline.ts';
import type { TimelineOptions } from '../../../src/machines/inspection-log/session-timeline.ts';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import {
  UNBOUND,
  anyLog,
  asked,
  confirmed,
  created,
  jobEnded,
  jobStarted,
  logOf,
  permissionAsked,
  spanCompleted,
  spanStarted,
  toolStarted,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const T0 = 1_000_000;

interface Timed {
  readonly event: SessionEvent;
  /** In milliseconds after the beginning. */
  readonly at: number;
}

function timelineOf(events: readonly Timed[], options?: TimelineOptions): SessionTimeline {
  const timeline = new SessionTimeline({ place: 1, t: T0 + (events[0]?.at ?? 0) }, options);
  for (const { event, at } of events) see(timeline, event, at);
  return timeline;
}

const see = (timeline: SessionTimeline, { seq, type, data }: SessionEvent, at: number): void =>
  timeline.see({ place: seq, t: T0 + at, type, data, isOfWake: !type.startsWith('user.') });

/** Each draft with the moment at which it happens. */
const timed = (...drafts: readonly (readonly [number, SessionEventDraft])[]): readonly Timed[] =>
  logOf(...drafts.map(([, draft]) => draft)).map((event, index) => ({ event, at: drafts[index]?.[0] ?? 0 }));

const allIn = (bar: SessionBar): readonly SessionBar[] => [bar, ...bar.children.flatMap(allIn)];
const only = (timeline: SessionTimeline, kind: BarKind): SessionBar => {
  const found = allIn(timeline.root).filter((bar) => bar.kind === kind);
  expect(found).toHaveLength(1);
  return found[0] as SessionBar;
};
/** `working 0-5, waiting 5-9`, in milliseconds after the beginning. */
const partsOf = ({ parts, to }: SessionBar): string =>
  parts
    .map(({ from, is }, index) => `${is} ${from - T0}-${(parts[index + 1]?.from ?? to ?? Infinity) - T0}`)
    .join(', ');

const anyTimedLog: fc.Arbitrary<readonly Timed[]> = anyLog.chain((log) =>
  fc
    .array(fc.integer({ min: -5, max: 40 }), { minLength: log.length, maxLength: log.length })
    .map((gaps) => gaps.reduce<Timed[]>((all, gap, index) => [...all, timedAfter(all, log, index, gap)], [])),
);

const timedAfter = (all: readonly Timed[], log: readonly SessionEvent[], index: number, gap: number): Timed => ({
  event: log[index] as SessionEvent,
  at: (all.at(-1)?.at ?? 10) + gap,
});

const STARTS: Readonly<Record<string, BarKind>> = {
  'wake.started': 'wake',
  'span.started': 'step',
  'agent.tool_use': 'call',
  'permission.requested': 'request',
  'agent.question_asked': 'request',
  'agent.custom_tool_use': 'request',
};

describe('whatever the log, its timeline', () => {
  it('has one bar for each thing that began, and each event is about one that is there', () => {
    fc.assert(
      fc.property(anyTimedLog, (log) => {
        const timeline = timelineOf(log);
        const all = allIn(timeline.root);
        for (const kind of new Set(Object.values(STARTS))) {
          const begun = log.flatMap(({ event }) => (STARTS[event.type] === kind ? [event.seq] : []));
          expect(all.flatMap((bar) => (bar.kind === kind ? [bar.event] : [])).toSorted((a, b) => a - b)).toEqual(begun);
        }
        expect(timeline.count).toBe(all.length - 1);
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
        const ids = new Set(all.map(({ id }) => id));
        for (const { event } of log) expect(ids).toContain(timeline.barAt(event.seq));
      }),
    );
  });

  it('has bars that begin within what they are in, and end in it unless the log says that they outlived it', () => {
    fc.assert(
      fc.property(anyTimedLog, (log) => {
        const { root } = timelineOf(log);
        for (const bar of allIn(root)) {
          expect(bar.to ?? Infinity).toBeGreaterThanOrEqual(bar.from);
          for (const child of bar.children) {
            expect(child.parent).toBe(bar);
            expect(child.from).toBeGreaterThanOrEqual(bar.from);
            const mayOutlive = ['call', 'request', 'child'].includes(child.kind) && bar.kind !== 'call';
            if (!mayOutlive) expect(child.to ?? Infinity).toBeLessThanOrEqual(bar.to ?? Infinity);
          }
        }
      }),
    );
  });

  it('has parts that follow one another, differ from the one before, and lie within their bar', () => {
    fc.assert(
      fc.property(anyTimedLog, (log) => {
        for (const { parts, from, to } of allIn(timelineOf(log).root)) {
          expect(parts[0]?.from).toBe(from);
          for (const [index, part] of parts.entries()) {
            if (index > 0) expect(part.from).toBeGreaterThan(parts[index - 1]?.from ?? 0);
            if (index > 0) expect(part.is).not.toBe(parts[index - 1]?.is);
            if (index > 0 && to !== undefined) expect(part.from).toBeLessThan(to);
          }
        }
      }),
    );
  });

  it('keeps only so many bars, those that are not over and the newest', () => {
    fc.assert(
      fc.property(anyTimedLog, (log) => {
        const [all, few] = [timelineOf(log), timelineOf(log, { maxBars: 6 })];
        expect(few.count + few.forgotten).toBe(all.count);
        const ids = new Set(allIn(few.root).map(({ id }) => id));
        const open = allIn(all.root).filter(({ to, id }) => to === undefined && id > 0);
        for (const { id } of open) expect(ids).toContain(id);
        expect(few.count).toBe(ids.size - 1);
      }),
    );
  });
});

describe('the timeline of a session', () => {
  it('tells a wait for a person apart from work, in the call, and between the wakes of the session', () => {
    const timeline = timelineOf(
      timed(
        [0, created],
        [0, wakeStarted(1)],
        [1, spanStarted('s1')],
        [5, asked('c1', 's1')],
        [6, spanCompleted('s1')],
        [6, permissionAsked('c1')],
        [7, wakeEnded('wake_1', 'requires_action')],
        [50, confirmed('request_c1')],
        [60, wakeStarted(2)],
        [62, toolStarted('c1')],
        [
          90,
          { type: 'agent.tool_result', data: { callId: 'c1', name: 'shell_run', outcome: 'completed', output: '' } },
        ],
        [91, wakeEnded('wake_2')],
      ),
    );
    const call = only(timeline, 'call');
    expect(partsOf(call)).toBe('resting 5-6, waiting 6-50, resting 50-62, working 62-90');
    expect(call.parent?.kind).toBe('wake');
    expect(only(timeline, 'request')).toMatchObject({ parent: call, from: T0 + 6, to: T0 + 50, outcome: 'completed' });
    expect(partsOf({ ...timeline.root, to: T0 + 91 })).toBe(
      'working 0-6, waiting 6-50, resting 50-60, working 60-91, resting 91-91',
    );
  });

  it('ends a dead wake, what ran in it, and what is unknown of its calls where they were heard of last', () => {
    const timeline = timelineOf(
      timed(
        [0, created],
        [0, wakeStarted(1)],
        [1, spanStarted('s1')],
        [5, asked('c1', 's1')],
        [6, spanCompleted('s1')],
        [7, toolStarted('c1')],
        [8, spanStarted('s2')],
        [500, { type: 'user.message', data: { text: 'Still there?', delivery: 'queue' } }],
        [900, { type: 'agent.tool_result', data: { callId: 'c1', name: 'shell_run', outcome: 'unknown', output: '' } }],
        [900, spanCompleted('s2', 'lost')],
        [901, wakeEnded('wake_1', 'lost')],
        [902, wakeStarted(2)],
      ),
    );
    const [dead, next] = timeline.root.children;
    expect(dead).toMatchObject({ to: T0 + 8, outcome: 'unknown', told: 'over', lastEvent: 11 });
    expect(dead?.children.map(({ kind, to, outcome }) => [kind, (to ?? 0) - T0, outcome])).toEqual([
      ['step', 6, 'completed'],
      ['call', 8, 'unknown'],
      ['step', 8, 'unknown'],
    ]);
    expect(next?.to).toBeUndefined();
    expect(partsOf(timeline.root)).toBe('working 0-8, resting 8-902, working 902-Infinity');
  });

  it('has a bar for each attempt of a step that needed more than one, and waits between them', () => {
    const candidate = { provider: 'anthropic', model: 'm' };
    const timeline = timelineOf(
      timed(
        [0, created],
        [0, wakeStarted(1)],
        [1, spanStarted('s1')],
        [
          9,
          {
            type: 'run.attempt_failed',
            data: {
              spanId: 's1',
              attempt: 1,
              candidate,
              error: { kind: 'overloaded', message: 'busy' },
              next: 'back_off',
              because: 'It may have time later.',
              waitMs: 20,
            },
          },
        ],
        [
          29,
          { type: 'run.candidate_selected', data: { spanId: 's1', attempt: 2, candidate, backend: 'b', because: '' } },
        ],
        [40, spanCompleted('s1', 'failed')],
      ),
    );
    const step = only(timeline, 'step');
    expect(partsOf(step)).toBe('working 1-9, waiting 9-29, working 29-40');
    expect(step.outcome).toBe('failed');
    expect(step.children.map(({ from, to, outcome, told }) => [from - T0, (to ?? 0) - T0, outcome, told])).toEqual([
      [1, 9, 'failed', 'overloaded: busy'],
      [29, 40, 'failed', undefined],
    ]);
  });

  it('has what another agent does in the call that waits for it, and jobs beside the wakes that began them', () => {
    const timeline = timelineOf(
      timed(
        [0, created],
        [0, wakeStarted(1)],
        [1, asked('c1', 's1', 'helper')],
        [
          2,
          {
            type: 'agent.subflow_started',
            data: { callId: 'c1', childSessionId: 'child', agentId: 'helper', message: 'Help.', restriction: UNBOUND },
          },
        ],
        [3, jobStarted('job_1', 'other')],
        [4, wakeEnded('wake_1', 'requires_action')],
        [30, jobEnded('job_1', 'other', 'failed')],
      ),
    );
    const children = allIn(timeline.root).filter(({ kind }) => kind === 'child');
    expect(children.map(({ parent, sessionId, outcome }) => [parent?.kind, sessionId, outcome])).toEqual([
      ['call', 'child', undefined],
      ['wake', 'other', 'failed'],
    ]);
    expect(partsOf(only(timeline, 'call'))).toBe('resting 1-2, waiting 2-Infinity');
    expect(partsOf(timeline.root)).toBe('working 0-2, waiting 2-3, working 3-30, waiting 30-Infinity');
  });

  it('tells tokens and money of steps, and of the wakes and the session that they are in', () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 100_000 };
    const end = spanCompleted('s1') as Extract<SessionEventDraft, { readonly type: 'span.completed' }>;
    const timeline = timelineOf(
      timed([0, wakeStarted(1)], [1, spanStarted('s1')], [2, { ...end, data: { ...end.data, usage } }]),
      { prices: { 'script/a.json': { input: 2, output: 10 } } },
    );
    for (const bar of allIn(timeline.root))
      expect(bar).toMatchObject({ tokens: 1_100_000, cost: 3, isCostPartial: false });
  });

  it('takes records whose data were cut away, and a log that begins in the middle', () => {
    const timeline = new SessionTimeline({ place: 7, t: T0 });
    const types = ['agent.tool_result', 'span.completed', 'agent.tool_use', 'span.started', 'wake.ended', 'toString'];
    for (const [index, type] of types.entries())
      for (const data of [undefined, null, '…', { callId: 5 }, { usage: '…', input: '…' }])
        timeline.see({ place: 7 + index, t: T0, type, data, isOfWake: true });
    expect(timeline.root.children.map(({ kind }) => kind)).toContain('call');
  });

  it('takes ten thousand events, of which some end what began thousands before', () => {
    const timeline = new SessionTimeline({ place: 1, t: T0 });
    for (let count = 0; count < 2_500; count += 1)
      for (const [index, draft] of [
        spanStarted(`s${count}`),
        asked(`c${count}`, `s${count}`),
        spanCompleted(`s${count}`),
        toolStarted(`c${count - 3}`),
      ].entries())
        timeline.see({
          place: count * 4 + index + 1,
          t: T0 + count * 100 + index,
          type: draft.type,
          data: draft.data,
          isOfWake: true,
        });
    expect(timeline.count).toBe(5_000);
  });
});
