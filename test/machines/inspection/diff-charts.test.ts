import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMachine } from 'xstate';
import { chartEvents } from '../../../src/machines/inspection/chart-events.ts';
import type { ChartEvents } from '../../../src/machines/inspection/chart-events.ts';
import type { ChartChange } from '../../../src/machines/inspection/chart-change.ts';
import type { ChartDescription } from '../../../src/machines/inspection/chart-description.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { diffCharts } from '../../../src/machines/inspection/diff-charts.ts';
import { randomChart } from './random-machines.ts';

const door = {
  id: 'door',
  initial: 'closed',
  states: {
    closed: { on: { OPEN: { target: 'open', guard: 'isUnlocked', actions: 'creak' }, LOCK: 'locked' } },
    open: {
      initial: 'ajar',
      states: { ajar: { on: { PUSH: 'wide' } }, wide: {} },
      on: { CLOSE: 'closed', BREAK: 'broken' },
      tags: ['passable'],
    },
    locked: { on: { UNLOCK: 'closed' }, after: { 1000: 'closed' } },
    broken: { type: 'final' },
  },
} as const;

type Config = Record<string, never>;

/** The door with one thing changed: what stands at `path` is replaced, or taken away where it is undefined. */
function changed(...edits: readonly (readonly [path: string, value: unknown])[]): ChartDescription {
  const config = structuredClone(door) as unknown as Config;
  for (const [path, value] of edits) {
    const keys = path.split('/');
    const last = keys.pop() ?? '';
    const place = keys.reduce<Record<string, unknown>>(
      (object, key) => (object[key] ??= {}) as Record<string, unknown>,
      config,
    );
    if (value === undefined) delete place[last];
    else place[last] = value;
  }
  return described(config);
}

function described(config: object, events: ChartEvents = {}): ChartDescription {
  return describeChart(createMachine(config as never), { events });
}

const before = described(door);

/** Each change by weight, kind and what it is about. */
function told({ changes }: { readonly changes: readonly ChartChange[] }): string[] {
  return changes.map((change) => `${change.bump} ${change.kind} ${change.before ?? ''} -> ${change.after ?? ''}`);
}

describe('the difference between two versions of a chart', () => {
  it.each<readonly [string, ChartDescription, readonly string[]]>([
    [
      'a state is gone',
      changed(['states/locked', undefined], ['states/closed/on/LOCK', undefined]),
      [
        'major event-removed LOCK -> ',
        'major event-removed UNLOCK -> ',
        'major state-removed locked -> ',
        'major transition-removed closed|LOCK|0 -> ',
      ],
    ],
    [
      'a state has another name',
      changed(['states/locked', undefined], ['states/bolted', door.states.locked], ['states/closed/on/LOCK', 'bolted']),
      ['major state-renamed locked -> bolted'],
    ],
    [
      'an outer state has another name',
      changed(
        ['states/open', undefined],
        ['states/opened', door.states.open],
        ['states/closed/on/OPEN/target', 'opened'],
      ),
      ['major state-renamed open -> opened'],
    ],
    ['a state is new', changed(['states/painted', {}]), ['minor state-added  -> painted']],
    ['it can end in another way', changed(['states/sold', { type: 'final' }]), ['major outcome  -> sold']],
    ['it starts elsewhere', changed(['initial', 'locked']), ['major initial  -> ']],
    ['an inner state starts elsewhere', changed(['states/open/initial', 'wide']), ['major initial open -> open']],
    [
      'a state becomes an outcome',
      changed(['states/open/states/wide/type', 'final']),
      ['major state-kind open.wide -> open.wide'],
    ],
    [
      'a transition is gone',
      changed(['states/open/on/BREAK', undefined]),
      ['major event-removed BREAK -> ', 'major transition-removed open|BREAK|0 -> '],
    ],
    ['a transition is new', changed(['states/locked/on/OPEN', 'open']), ['minor transition-added  -> locked|OPEN|0']],
    [
      'a transition leads elsewhere',
      changed(['states/open/on/CLOSE', 'locked']),
      ['major target open|CLOSE|0 -> open|CLOSE|0'],
    ],
    [
      'a guard is new',
      changed(['states/open/on/CLOSE', { target: 'closed', guard: 'isFree' }]),
      ['major guard-added open|CLOSE|0 -> open|CLOSE|0'],
    ],
    [
      'a guard is gone',
      changed(['states/closed/on/OPEN', { target: 'open', actions: 'creak' }]),
      ['major guard-removed closed|OPEN|0 -> closed|OPEN|0'],
    ],
    [
      'a guard is another',
      changed(['states/closed/on/OPEN/guard', 'isOiled']),
      ['major guard-changed closed|OPEN|0 -> closed|OPEN|0'],
    ],
    [
      'an action is gone',
      changed(['states/closed/on/OPEN/actions', undefined]),
      ['major actions closed|OPEN|0 -> closed|OPEN|0'],
    ],
    ['an action is new', changed(['states/open/entry', 'ring']), ['minor actions open -> open']],
    [
      'a timer runs longer',
      changed(['states/locked/after', { 2000: 'closed' }]),
      ['minor delay locked|after(1000)|0 -> locked|after(2000)|0'],
    ],
    ['an actor is run', changed(['states/open/invoke', { src: 'heat' }]), ['minor invoke open -> open']],
    ['tags differ', changed(['states/open/tags', ['airy']]), ['major tags open -> open']],
    ['a description is new', changed(['states/open/description', 'It is open.']), ['patch description open -> open']],
    [
      'an inner state takes what an outer one took',
      changed(['states/open/states/ajar/on/CLOSE', 'wide']),
      ['major transition-added  -> open.ajar|CLOSE|0'],
    ],
    [
      'an inner state forbids what an outer one took',
      changed(['states/open/states/ajar/on/CLOSE', { actions: [] }]),
      ['major transition-added  -> open.ajar|CLOSE|0'],
    ],
    [
      'a guarded transition comes first',
      changed(['states/open/on/CLOSE', [{ target: 'locked', guard: 'isNight' }, { target: 'closed' }]]),
      ['major transition-added  -> open|CLOSE|0'],
    ],
    [
      'one more is tried last',
      changed(['states/closed/on/OPEN', [door.states.closed.on.OPEN, { target: 'broken' }]]),
      ['minor transition-added  -> closed|OPEN|1'],
    ],
  ])('is found where %s', (_, after, expected) => {
    const diff = diffCharts(before, after);
    expect(told(diff)).toEqual(expected);
    expect(diff.bump).toBe(expected[0]?.split(' ')[0]);
  });

  it('tells that two guards are tried in another order', () => {
    const list = (...guards: readonly string[]): ChartDescription =>
      changed(['states/open/on/CLOSE', guards.map((guard) => ({ target: 'closed', guard }))]);
    expect(told(diffCharts(list('isFree', 'isNight'), list('isNight', 'isFree')))).toEqual([
      'major guard-changed open|CLOSE|1 -> open|CLOSE|0',
    ]);
  });

  it('counts the fields of events by whether they may be left out', () => {
    const withFields = (data: z.ZodRawShape): ChartDescription =>
      described(
        door,
        chartEvents({
          commands: { OPEN: { says: 'Open it.', from: 'a person', data, samples: [{ by: 'me', when: 1 }] } },
        }),
      );
    const [none, optional, required] = [
      withFields({ by: z.string(), when: z.unknown().optional() }),
      withFields({ by: z.string().optional(), when: z.number() }),
      withFields({ by: z.string(), when: z.number() }),
    ];
    expect(diffCharts(none, required).changes).toMatchObject([
      { bump: 'major', kind: 'event-fields', says: 'The event OPEN must carry "when", which it need not before.' },
    ]);
    expect(diffCharts(required, none).changes).toMatchObject([{ bump: 'minor', kind: 'event-fields' }]);
    expect(diffCharts(required, optional).changes).toMatchObject([
      { bump: 'minor', kind: 'event-fields', says: 'The event OPEN may be sent with or without "by".' },
    ]);
  });

  it('tells a rename from a state that went while another came', () => {
    const after = changed(
      ['states/locked', undefined],
      ['states/bolted', { on: { UNLOCK: 'open' } }],
      ['states/closed/on/LOCK', 'bolted'],
    );
    expect(told(diffCharts(before, after))).toEqual([
      'major state-removed locked -> ',
      'major target closed|LOCK|0 -> closed|LOCK|0',
      'minor state-added  -> bolted',
    ]);
  });

  it.each(charts.map((chart) => [chart.machine.id, chart] as const))(
    'is none between %s and itself, and any state of it may be renamed',
    (_, { machine, events = {} }) => {
      const chart = describeChart(machine, { events });
      expect(diffCharts(chart, structuredClone(chart))).toEqual({ chart: machine.id, bump: 'none', changes: [] });
      for (const { id } of chart.states.filter(
        (state) => state.id !== '' && chart.states.every(({ parent }) => parent !== state.id),
      )) {
        expect(
          told(diffCharts(chart, renamed(chart, id))).filter(
            (line) => line.includes('state-') || line.includes('transition'),
          ),
        ).toEqual([`major state-renamed ${id} -> ${id}_2`]);
      }
    },
  );

  it('is none between any chart and itself, and turned round what came has gone', () => {
    fc.assert(
      fc.property(randomChart, randomChart, (one, other) => {
        const [a, b] = [
          describeChart(one.machine, { events: one.events ?? {} }),
          describeChart(other.machine, { events: other.events ?? {} }),
        ];
        expect(diffCharts(a, a).changes).toEqual([]);
        const [there, back] = [counted(diffCharts(a, b).changes), counted(diffCharts(b, a).changes)];
        expect(there['event-added']).toBe(back['event-removed']);
        expect(there['event-removed']).toBe(back['event-added']);
        if ((there['state-renamed'] ?? 0) + (back['state-renamed'] ?? 0) > 0) return;
        expect((there['state-added'] ?? 0) + (there['outcome'] ?? 0)).toBe(back['state-removed'] ?? 0);
        expect(there['state-kind']).toBe(back['state-kind']);
        expect(there['initial']).toBe(back['initial']);
        expect(there['tags']).toBe(back['tags']);
      }),
      { numRuns: 60 },
    );
  });
});

function counted(changes: readonly ChartChange[]): Partial<Record<ChartChange['kind'], number>> {
  const counts: Partial<Record<ChartChange['kind'], number>> = {};
  for (const { kind } of changes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** The chart with a leaf under another name, everywhere. */
function renamed(chart: ChartDescription, id: string): ChartDescription {
  const name = (state: string): string => (state === id ? `${id}_2` : state);
  return {
    ...chart,
    states: chart.states.map((state) => ({
      ...state,
      id: name(state.id),
      key: state.id === id ? `${state.key}_2` : state.key,
      ...(state.initial === undefined ? {} : { initial: name(state.initial) }),
    })),
    transitions: chart.transitions.map((each) => ({
      ...each,
      id: `${name(each.source)}|${each.event}|${each.index}`,
      source: name(each.source),
      targets: each.targets.map(name),
    })),
    waivers: chart.waivers,
  };
}
