import { and, assign, createMachine, fromPromise, raise, setup, stateIn } from 'xstate';
import type { AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import type { AuditRule, Finding } from '../../../src/machines/inspection/chart-audit.ts';
import { chartEvents } from '../../../src/machines/inspection/chart-events.ts';
import type { ChartEvents } from '../../../src/machines/inspection/chart-events.ts';

const events = chartEvents({
  commands: { GO: { says: 'go', from: 'a test' }, STOP: { says: 'stop', from: 'a test' } },
});

const work = fromPromise(() => Promise.reject(new Error('no actor may be started by an audit')));

const named = setup({
  types: { context: {} as { count: number }, events: {} as { type: string } },
  actors: { work },
  guards: { yes: () => true, no: () => false, odd: ({ context }) => context.count % 2 === 1 },
  actions: {
    effect: () => {
      throw new Error('no action may run in an audit');
    },
    bump: assign(({ context }) => ({ count: context.count + 1 })),
  },
});

function chartOf(states: object, more: object = {}): AnyStateMachine {
  return named.createMachine({
    id: 'planted',
    context: { count: 0 },
    initial: 'one',
    states,
    ...more,
  } as never) as unknown as AnyStateMachine;
}

function findingsOf(rule: AuditRule, states: object, more: object = {}, declared?: ChartEvents): readonly Finding[] {
  return auditChart({ machine: chartOf(states, more), events: declared }).findings.filter(
    (finding) => finding.rule === rule,
  );
}

describe('an audit finds', () => {
  it('a state that nothing leads to', () => {
    expect(
      findingsOf('unreachable-state', {
        one: { on: { GO: 'two' } },
        two: { type: 'final' },
        lost: { on: { GO: 'two' } },
      }),
    ).toMatchObject([{ severity: 'error', state: 'lost' }]);
  });

  it('a command that gets lost, in the state where it does', () => {
    const found = findingsOf(
      'ignored-command',
      { one: { on: { GO: 'two', STOP: 'end' } }, two: { on: { GO: 'end' } }, end: { type: 'final' } },
      {},
      events,
    );
    expect(found).toMatchObject([{ severity: 'error', state: 'two', event: 'STOP' }]);
  });

  it('no lost command where it is forbidden, or where whoever drives the chart refuses it', () => {
    const end = { type: 'final' };
    expect(
      findingsOf(
        'ignored-command',
        { one: { on: { GO: 'two', STOP: 'end' } }, two: { on: { GO: 'end', STOP: undefined } }, end },
        {},
        events,
      ),
    ).toEqual([]);
    expect(
      findingsOf(
        'ignored-command',
        { one: { on: { GO: 'two', STOP: 'end' } }, two: { on: { GO: 'end' } }, end },
        { meta: { unhandled: { as: 'rejected', because: 'a test says so' } } },
        events,
      ),
    ).toEqual([]);
  });

  it('a command that a region ignores only in configurations where no region beside it takes it', () => {
    const region = (on: object): object => ({ initial: 'a', states: { a: { on }, b: {} } });
    const both = {
      type: 'parallel',
      on: { GO: undefined },
      states: { left: region({ STOP: 'b' }), right: region({ GO: 'b' }) },
    };
    const found = findingsOf('ignored-command', { one: both }, {}, events);
    expect(found.map(({ state, event }) => [state, event])).toEqual([['one.left.b', 'STOP']]);
  });

  it('a transition that one before it hides', () => {
    expect(
      findingsOf('shadowed-transition', {
        one: { on: { GO: [{ target: 'two' }, { guard: 'yes', target: 'one' }] } },
        two: { type: 'final' },
      }),
    ).toMatchObject([{ severity: 'error', transition: 'one|GO|1' }]);
  });

  it('an invoked actor whose error nobody handles', () => {
    expect(
      findingsOf('invoke-without-error', { one: { invoke: { src: 'work', onDone: 'two' } }, two: { type: 'final' } }),
    ).toMatchObject([{ severity: 'error', state: 'one', event: 'error(work)' }]);
  });

  it('guards and actions that have no name', () => {
    const machine = chartOf({
      one: { entry: () => undefined, on: { GO: { guard: () => true, target: 'two', actions: assign({ count: 1 }) } } },
      two: { type: 'final' },
    });
    const found = (isStrict: boolean): unknown[] =>
      auditChart({ machine, isStrict })
        .findings.filter(({ rule }) => rule === 'inline-operation')
        .map(({ severity, says }) => [severity, says.includes('in place')]);
    expect(found(true)).toEqual(Array.from({ length: 3 }, () => ['error', true]));
    expect(found(false)).toEqual(Array.from({ length: 3 }, () => ['note', true]));
  });

  it('eventless transitions that go in a circle, without going in it for ever', () => {
    const plain = { one: { on: { GO: 'two' } }, two: { always: 'three' }, three: { always: 'two' } };
    expect(findingsOf('eventless-loop', plain)).toMatchObject([{ severity: 'error', state: 'two' }]);
    const guarded = {
      one: { on: { GO: 'two' } },
      two: { always: { guard: 'yes', target: 'three' } },
      three: { always: { guard: 'yes', target: 'two' } },
    };
    expect(findingsOf('eventless-loop', guarded)).toMatchObject([{ severity: 'error', state: 'one', event: 'GO' }]);
  });

  it('a wildcard that takes what outer states wait for, and errors that nobody handles', () => {
    const inside = {
      one: {
        invoke: { src: 'work', onDone: 'two', onError: 'two' },
        initial: 'a',
        states: { a: { on: { '*': { actions: 'effect' } } } },
      },
      two: { type: 'final' },
    };
    const [found] = findingsOf('swallowing-wildcard', inside);
    expect(found).toMatchObject({ severity: 'error', state: 'one.a' });
    expect(found?.says).toContain('done(work)');
    expect(
      findingsOf(
        'swallowing-wildcard',
        { one: { invoke: { src: 'work', onDone: 'two' } }, two: { type: 'final' } },
        { on: { '*': { actions: 'effect' } } },
      ),
    ).toMatchObject([{ state: '' }]);
    expect(
      findingsOf('swallowing-wildcard', {
        one: { on: { GO: 'two', '*': { actions: 'effect' } } },
        two: { type: 'final' },
      }),
    ).toEqual([]);
  });

  it('a state that nothing leaves and that is not final, which weighs less where the chart does not say what it is sent', () => {
    const stuck = { one: { on: { GO: 'stuck', STOP: 'end' } }, stuck: {}, end: { type: 'final' } };
    const resting = { one: { on: { GO: 'stuck' } }, stuck: {} };
    const severities = [stuck, resting].map((states) =>
      [events, undefined].flatMap((declared) =>
        findingsOf('dead-end', states, {}, declared).map(({ severity, state }) => `${severity} ${state}`),
      ),
    );
    expect(severities).toEqual([
      ['error stuck', 'warning stuck'],
      ['error stuck', 'note stuck'],
    ]);
    const [strict] = auditChart({ machine: chartOf(resting), isStrict: true }).findings;
    expect(strict).toMatchObject({ rule: 'dead-end', severity: 'error' });
  });

  it('a state from which no path leads to the end', () => {
    const found = findingsOf('cannot-terminate', {
      one: { on: { GO: 'round', STOP: 'end' } },
      round: { on: { GO: 'again' } },
      again: { on: { GO: 'round' } },
      end: { type: 'final' },
    });
    expect(found.map(({ state }) => state)).toEqual(['again', 'round']);
  });

  it('a state that only guards leave', () => {
    expect(
      findingsOf('guarded-exit', {
        one: {
          invoke: { src: 'work', onDone: { guard: 'no', target: 'two' }, onError: { guard: 'yes', target: 'two' } },
        },
        two: { type: 'final' },
      }),
    ).toMatchObject([{ severity: 'warning', state: 'one' }]);
  });

  it('guards that hold at the same time and lead to different states', () => {
    expect(
      findingsOf('overlapping-transitions', {
        one: {
          on: {
            GO: [
              { guard: 'yes', target: 'two' },
              { guard: 'yes', target: 'three' },
            ],
          },
        },
        two: {},
        three: {},
      }),
    ).toMatchObject([{ severity: 'note', state: 'one' }]);
  });

  it('transitions out of final states, whether the machine has ended or only a part of it', () => {
    expect(
      findingsOf('final-transition', {
        one: { initial: 'a', on: { GO: 'two' }, states: { a: { type: 'final', on: { AGAIN: 'b' } }, b: {} } },
        two: { type: 'final', on: { GO: 'one' } },
      }),
    ).toMatchObject([
      { severity: 'error', state: 'two', event: 'GO' },
      { severity: 'warning', state: 'one.a', event: 'AGAIN' },
    ]);
  });

  it('the same guard twice, and not one that is asked something else', () => {
    const even = { type: 'even', params: { of: 2 } };
    const computed = { type: 'yes', params: () => 1 };
    const found = findingsOf('repeated-guard', {
      one: {
        on: {
          GO: [{ guard: 'yes', target: 'two' }, { guard: 'no', target: 'one' }, { guard: 'yes' }],
          STOP: [{ guard: even, target: 'two' }, { guard: { ...even, params: { of: 3 } } }, { guard: { ...even } }],
          ASK: [{ guard: computed, target: 'two' }, { guard: { ...computed, params: () => 2 } }],
        },
      },
      two: { type: 'final' },
    });
    expect(found.map(({ severity, transition }) => [severity, transition])).toEqual([
      ['error', 'one|GO|2'],
      ['error', 'one|STOP|2'],
    ]);
  });

  it('names that nothing stands behind, each once, with the name that may be meant', () => {
    const found = findingsOf('missing-implementation', {
      one: {
        entry: ['efect', 'bump'],
        exit: 'efect',
        invoke: { src: 'work', onDone: 'two', onError: 'two' },
        after: { later: 'two', 500: 'two' },
        on: { GO: { guard: and(['yes', 'maybe']), target: 'two' }, STOP: { guard: stateIn('#planted.one') } },
      },
      two: { type: 'final', invoke: { src: 'gone', onError: '.' } },
    });
    expect(
      found.map(({ severity, says, hint }) => [severity, says.split(' names the ')[1]?.split(',')[0], hint]),
    ).toEqual([
      ['warning', 'action efect', 'Did you mean "effect"?'],
      ['warning', 'guard maybe', expect.stringContaining('setup({ guards })')],
      ['warning', 'delay later', expect.stringContaining('setup({ delays })')],
      ['warning', 'actor gone', expect.stringContaining('setup({ actors })')],
    ]);
  });

  it('an event that is raised and that no state takes, not one that a wildcard does', () => {
    const raising = (type: string, on: object): readonly Finding[] =>
      findingsOf('unheard-raise', { one: { entry: raise({ type }), on }, two: { type: 'final' } });
    expect(raising('DNOE', { DONE: 'two' })).toMatchObject([{ severity: 'warning', state: 'one' }]);
    expect(raising('DONE', { DONE: 'two' })).toEqual([]);
    expect(raising('mouse.down', { 'mouse.*': 'two' })).toEqual([]);
    expect(raising('ANY', { '*': 'two' })).toEqual([]);
  });

  it('timers, which do not outlive their process', () => {
    expect(findingsOf('timer-not-durable', { one: { after: { 1000: 'two' } }, two: { type: 'final' } })).toMatchObject([
      { severity: 'note', event: 'after(1000)' },
    ]);
  });

  it('events that are mentioned and not declared, and declared and not handled', () => {
    const states = { one: { on: { GO: 'two', TYPO: 'two' } }, two: { type: 'final' } };
    expect(findingsOf('undeclared-event', states, {}, events)).toMatchObject([{ event: 'TYPO' }]);
    expect(findingsOf('undeclared-event', states)).toEqual([]);
    expect(findingsOf('unhandled-event', states, {}, events)).toMatchObject([{ severity: 'error', event: 'STOP' }]);
  });

  it('reasons that excuse nothing, and rules that do not exist', () => {
    const found = findingsOf(
      'unknown-waiver',
      { one: { on: { GO: 'two' } }, two: { type: 'final' } },
      { meta: { waives: { 'dead-end': 'why not', 'dead-and': 'a typing error' } } },
    );
    expect(found.map(({ severity }) => severity)).toEqual(['error', 'error']);
    expect(found.some(({ says }) => says.includes('dead-end is'))).toBe(true);
  });

  it('a context that never comes back to what it was, and stops there', () => {
    const audit = auditChart({ machine: chartOf({ one: { on: { GO: { actions: 'bump' } } } }) });
    expect(audit.findings).toContainEqual(expect.objectContaining({ rule: 'exploration-cut', severity: 'note' }));
    expect(audit.exploration).toMatchObject({ isComplete: false, snapshots: 64 });
  });
});

describe('what throws while a chart is tried out', () => {
  const throwing = setup({
    guards: {
      broken: () => {
        throw new Error('the guard is broken');
      },
    },
    actions: {
      spoil: assign(() => {
        throw new Error('the assign is broken');
      }),
    },
  });

  it('is a finding, and no end of the audit: an error where the event was given, else a note', () => {
    const machine = throwing.createMachine({
      id: 'throwing',
      initial: 'one',
      states: { one: { on: { GO: { guard: 'broken', target: 'two' }, STOP: { actions: 'spoil' } } }, two: {} },
    }) as AnyStateMachine;
    const severities = (declared: ChartEvents | undefined): readonly string[] =>
      auditChart({ machine, events: declared })
        .findings.filter(({ rule }) => rule === 'failing-operation')
        .map(({ event, severity }) => `${event ?? ''} ${severity}`);
    expect(severities(events)).toEqual(['GO error', 'STOP error']);
    expect(severities(undefined)).toEqual(['GO note', 'STOP note']);
  });

  it('is told of the start too', () => {
    const machine = createMachine({
      id: 'start',
      context: ({ input }: { readonly input: { readonly name: string } }) => ({ name: input.name.trim() }),
      initial: 'one',
      states: { one: {} },
    }) as unknown as AnyStateMachine;
    expect(auditChart({ machine }).findings).toContainEqual(
      expect.objectContaining({ rule: 'failing-operation', severity: 'note', state: '' }),
    );
    expect(
      auditChart({ machine, input: { name: 'x' } }).findings.filter(({ rule }) => rule === 'failing-operation'),
    ).toEqual([]);
  });
});

it('a waived finding keeps its weight, tells the reason and is counted apart', () => {
  const stuck = { meta: { waives: { 'dead-end': 'it is meant to stay' } } };
  const { findings, counts } = auditChart({
    machine: chartOf({ one: { on: { GO: 'stuck' } }, stuck }),
    isStrict: true,
  });
  expect(findings).toContainEqual(
    expect.objectContaining({ rule: 'dead-end', severity: 'error', waived: 'it is meant to stay' }),
  );
  expect(counts).toMatchObject({ errors: 0, waived: 1 });
});

it('samples of one event are told apart in paths', () => {
  const declared = chartEvents({
    commands: {
      SET: { says: 'set', from: 'a test', data: { on: z.boolean() }, samples: [{ on: true }, { on: false }] },
    },
  });
  const machine = setup({ guards: { isOn: (_, on: boolean) => on } }).createMachine({
    id: 'sampled',
    initial: 'off',
    states: {
      off: {
        on: {
          SET: {
            guard: { type: 'isOn', params: ({ event }) => (event as { on?: boolean }).on === true },
            target: 'lit',
          },
        },
      },
      lit: {},
    },
  }) as unknown as AnyStateMachine;
  const audit = auditChart({ machine, events: declared });
  expect(audit.reach.find(({ state }) => state === 'lit')).toMatchObject({
    reach: 'witnessed',
    path: ['SET {"on":true}'],
  });
  expect(audit.guards).toEqual([{ name: 'isOn', usedBy: ['off|SET|0'], hasHeld: true, hasFailed: true }]);
});
