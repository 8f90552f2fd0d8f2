/**
 * Audits of charts as others write them: what is right has no error and no warning, and a fault that is planted in one
 * of them is found.
 */
import { assign, createMachine, raise } from 'xstate';
import type { AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import { AUDIT_RULES } from '../../../src/machines/inspection/chart-audit.ts';
import type { AuditRule, Finding } from '../../../src/machines/inspection/chart-audit.ts';
import type { Chart } from '../../../src/machines/inspection/chart.ts';
import { chartEvents } from '../../../src/machines/inspection/chart-events.ts';
import type { ChartEvents } from '../../../src/machines/inspection/chart-events.ts';
import * as connections from './charts-of-others/connections.ts';
import * as devices from './charts-of-others/devices.ts';
import * as games from './charts-of-others/games.ts';
import * as requests from './charts-of-others/requests.ts';
import * as systems from './charts-of-others/systems.ts';
import * as views from './charts-of-others/views.ts';

const CHARTS = Object.entries<unknown>({
  ...views,
  ...devices,
  ...games,
  ...requests,
  ...connections,
  ...systems,
});

/** Warnings that are right, by the chart. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  halfProvided: ['missing-implementation loading done(loadProfile)', 'missing-implementation shown SAVE'],
};

const findingsIn = (chart: Omit<Chart, 'machine'> & { readonly machine: unknown }): readonly Finding[] =>
  auditChart(chart as Chart).findings;

const placeOf = ({ rule, state, event = '' }: Finding): string => `${rule} ${state} ${event}`.trim();

describe('a chart of others in which nothing is wrong', () => {
  it('is one of fifty', () => {
    expect(CHARTS).toHaveLength(50);
  });

  it.each(CHARTS)('%s is not complained of', (name, machine) => {
    const complaints = findingsIn({ machine }).filter(({ severity }) => severity !== 'note');
    expect(complaints.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(complaints.map(placeOf)).toEqual(EXPECTED[name] ?? []);
  });
});

/** Where it is planted in the definition, and what stands there then. */
type Change = readonly [place: string, value: unknown];

interface Planted {
  readonly in: unknown;
  readonly changes: readonly Change[];
  readonly events?: ChartEvents;
  /** What it is tried out with. */
  readonly gives?: Pick<Chart, 'samples' | 'outputs'>;
  readonly found: Partial<Finding>;
}

type Tree = Record<string, unknown>;

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copied(each)]));
}

function withFaults(original: unknown, changes: readonly Change[]): AnyStateMachine {
  const { config, implementations } = original as AnyStateMachine;
  const changed = copied(config) as Tree;
  for (const [place, value] of changes) {
    const keys = place.split('/');
    const last = keys.pop() ?? '';
    const holder = keys.reduce((tree, key) => (tree[key] ??= {}) as Tree, changed);
    holder[last] = value;
  }
  return createMachine(changed as never).provide(implementations as never) as AnyStateMachine;
}

const command = { says: 'Do it.', from: 'a person' };
const fact = { says: 'It has happened.', from: 'the carrier' };
const toggled = chartEvents({ commands: { toggle: command } });
const fails = (): boolean => {
  throw new Error('planted');
};

const PLANTED: Readonly<Record<AuditRule, Planted>> = {
  'unreachable-state': {
    in: views.toggle,
    changes: [['states/lost', { on: { toggle: 'active' } }]],
    found: { severity: 'error', state: 'lost' },
  },
  'unused-transition': {
    in: views.wordProcessor,
    changes: [['on/TOGGLE_BOLD', '.bold.on']],
    found: { severity: 'note', state: '', event: 'TOGGLE_BOLD' },
  },
  'ignored-command': {
    in: views.toggle,
    events: toggled,
    changes: [['states/active/on', { other: 'inactive' }]],
    found: { severity: 'error', state: 'active', event: 'toggle' },
  },
  'undeclared-event': {
    in: views.toggle,
    events: toggled,
    changes: [['states/active/on/togle', 'inactive']],
    found: { severity: 'error', event: 'togle' },
  },
  'unhandled-event': {
    in: views.quiz,
    events: chartEvents({ commands: { ANSWER: command, RESTART: command } }),
    changes: [['on', {}]],
    found: { severity: 'error', event: 'RESTART' },
  },
  'dead-end': {
    in: systems.delivery,
    changes: [['states/returned/on', {}]],
    found: { severity: 'warning', state: 'returned' },
  },
  'guarded-exit': {
    in: requests.paymentSaga,
    changes: [
      ['states/reserving/invoke/onDone/guard', () => true],
      ['states/reserving/invoke/onError', { target: 'failed', guard: () => true }],
    ],
    found: { severity: 'warning', state: 'reserving' },
  },
  'cannot-terminate': {
    in: systems.delivery,
    changes: [
      ['states/returned/on', { CHECK: 'checked' }],
      ['states/checked', { on: { AGAIN: 'returned' } }],
    ],
    found: { severity: 'error', state: 'returned' },
  },
  'unbounded-wait': {
    in: systems.delivery,
    events: chartEvents({
      commands: { CANCEL: command, RETURN: command, REFUND: command },
      facts: { PACKED: fact, DELIVERED: fact, LOST: fact },
    }),
    changes: [['states/ordered/on', { PACKED: 'shipped' }]],
    found: { severity: 'note', state: 'ordered' },
  },
  'invoke-without-error': {
    in: requests.fetchWithRetry,
    changes: [['states/loading/invoke/onError', undefined]],
    found: { severity: 'error', state: 'loading', event: 'error(fetchUser)' },
  },
  'invoke-without-done': {
    in: connections.tokenRefresh,
    changes: [['states/refreshing/invoke/onDone', undefined]],
    found: { severity: 'warning', state: 'refreshing' },
  },
  'swallowing-wildcard': {
    in: requests.fetchWithRetry,
    changes: [
      ['states/loading/invoke/onError', undefined],
      ['on', { '*': '.idle' }],
    ],
    found: { severity: 'error', state: '' },
  },
  'shadowed-transition': {
    in: views.wizard,
    changes: [['states/email/on/NEXT', [{ target: 'review' }, { guard: 'hasEmail', target: 'review' }]]],
    found: { severity: 'error', transition: 'email|NEXT|1' },
  },
  'overlapping-transitions': {
    in: requests.providedPage,
    changes: [
      [
        'states/shown/on/SAVE',
        [
          { guard: 'hasChanged', target: 'saving' },
          { guard: () => true, target: 'failed' },
        ],
      ],
    ],
    found: { severity: 'note', state: 'shown' },
  },
  'eventless-loop': {
    in: devices.trafficLight,
    changes: [
      ['states/green/always', 'yellow'],
      ['states/yellow/always', 'green'],
    ],
    found: { severity: 'error', state: 'green' },
  },
  'timer-not-durable': {
    in: views.toggle,
    changes: [['states/active/after', { 1000: 'inactive' }]],
    found: { severity: 'note', state: 'active' },
  },
  'inline-operation': {
    in: views.paymentMethod,
    changes: [['states/review/entry', () => undefined]],
    found: { severity: 'note', state: 'review' },
  },
  'failing-operation': {
    in: views.toggle,
    events: toggled,
    changes: [['states/active/on/toggle', { guard: fails, target: 'inactive' }]],
    found: { severity: 'error', state: 'active' },
  },
  'one-sided-guard': {
    in: views.paymentMethod,
    events: chartEvents({
      commands: { NEXT: command, PREVIOUS: command, SWITCH_CASH: command, SWITCH_CHECK: command },
    }),
    changes: [['states/method/on/NEXT', { guard: () => true, target: 'review' }]],
    found: { severity: 'note', state: 'method', event: 'NEXT' },
  },
  'final-transition': {
    in: systems.delivery,
    changes: [['states/closed/on', { REOPEN: 'ordered' }]],
    found: { severity: 'error', state: 'closed' },
  },
  'repeated-guard': {
    in: games.ticTacToe,
    changes: [['states/playing/always/1/guard', 'checkWin']],
    found: { severity: 'error', transition: 'playing|always|1' },
  },
  'missing-implementation': {
    in: connections.webSocket,
    changes: [['states/reconnecting/always/guard', 'tooOfen']],
    found: { severity: 'warning', hint: 'Did you mean "tooOften"?' },
  },
  'unheard-raise': {
    in: devices.screensaver,
    changes: [['states/awake/entry', raise({ type: 'IDEL' }, { delay: 60_000, id: 'idle' })]],
    found: { severity: 'warning', state: 'awake', hint: 'Did you mean "IDLE"?' },
  },
  'unknown-sample': {
    in: views.toggle,
    changes: [],
    gives: { samples: { togle: [{ type: 'togle' }] } },
    found: { severity: 'warning', hint: 'Did you mean "toggle"?' },
  },
  'unknown-waiver': {
    in: views.toggle,
    changes: [['meta', { waives: { 'dead-end': 'There is none.' } }]],
    found: { severity: 'error', state: '' },
  },
  'exploration-cut': {
    in: views.featureFlag,
    changes: [
      ['context', { shown: 0 }],
      [
        'states/banner/states/shown/entry',
        assign(({ context }) => ({ shown: (context as { readonly shown: number }).shown + 1 })),
      ],
    ],
    found: { severity: 'note' },
  },
};

describe('a fault that is planted in a chart of others', () => {
  it.each(AUDIT_RULES)('%s is found, and was not there before', (rule) => {
    const { in: original, changes, events, gives, found } = PLANTED[rule];
    const before = findingsIn({ machine: original, events }).filter((finding) => finding.rule === rule);
    const after = findingsIn({ machine: withFaults(original, changes), events, ...gives }).filter(
      (finding) => finding.rule === rule,
    );
    const wanted = expect.objectContaining(found) as unknown;
    expect(after).toContainEqual(wanted);
    expect(before).not.toContainEqual(wanted);
  });
});

/** Their authors know that they do not fail; where a chart is strict, each is asked for. */
describe('an invoked actor without onError', () => {
  it.each([
    ['a callback', devices.stopwatch, 'running'],
    ['an observable', connections.clock, 'ticking'],
    ['a machine', systems.tournament, 'round'],
    ['a reducer', systems.cartTotal, ''],
  ])('that is %s is a note, and an error where the chart is strict', (_, machine, state) => {
    const severityOf = (isStrict: boolean): unknown =>
      findingsIn({ machine, isStrict }).find((each) => each.rule === 'invoke-without-error' && each.state === state)
        ?.severity;
    expect([severityOf(false), severityOf(true)]).toEqual(['note', 'error']);
  });

  it('of which nothing is known is a warning', () => {
    const machine = withFaults(requests.profilePage, [['states/loading/invoke/onError', undefined]]);
    expect(findingsIn({ machine })).toContainEqual(
      expect.objectContaining({ rule: 'invoke-without-error', severity: 'warning', state: 'loading' }),
    );
  });
});
