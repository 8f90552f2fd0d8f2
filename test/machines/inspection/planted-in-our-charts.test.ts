/**
 * Faults in our own charts whose pages were written anew, as if they were meant: what is left to find them are the
 * findings, the comparison and what was stored before.
 */
import { describe, expect, it } from 'vitest';
import { fromPromise } from 'xstate';
import { auditChart } from '../../../src/machines/inspection/audit-chart.ts';
import { AUDIT_RULES } from '../../../src/machines/inspection/chart-audit.ts';
import type { Chart } from '../../../src/machines/inspection/chart.ts';
import { diffCharts } from '../../../src/machines/inspection/diff-charts.ts';
import { restoreOldSnapshots } from '../../../src/machines/inspection/old-snapshots.ts';
import { edited, ourChart, partAt } from './planted-in-our-charts.ts';
import type { Part } from './planted-in-our-charts.ts';

/** What finds it: rules of errors that are new, kinds of major changes, kinds of old snapshots that do not restore. */
function foundIn(before: Chart, after: Chart): readonly string[] {
  const [one, other] = [auditChart(before), auditChart(after)];
  const known = new Set(one.findings.map(({ rule, state, event }) => `${rule} ${state} ${event ?? ''}`));
  const errors = other.findings.filter(
    ({ rule, state, event, severity, waived }) =>
      severity === 'error' && waived === undefined && !known.has(`${rule} ${state} ${event ?? ''}`),
  );
  const changes = diffCharts(one.chart, other.chart).changes.filter(({ bump }) => bump === 'major');
  return [
    ...new Set([
      ...errors.map(({ rule }) => rule),
      ...changes.map(({ kind }) => kind),
      ...restoreOldSnapshots(one, after).map(({ kind }) => kind),
    ]),
  ].toSorted();
}

const remove =
  (path: string, key: string) =>
  (config: Part): void =>
    void delete partAt(config, path)[key];
const set =
  (path: string, key: string, value: unknown) =>
  (config: Part): void =>
    void (partAt(config, path)[key] = value);
const list = (config: Part, path: string): unknown[] => partAt(config, path) as unknown as unknown[];
function swap(path: string, one: number, other: number): (config: Part) => void {
  return (config) => {
    const all = list(config, path);
    [all[one], all[other]] = [all[other], all[one]];
  };
}

describe('a fault whose page was written anew is found', () => {
  it.each<readonly [what: string, chart: string, edit: (config: Part) => void, by: readonly string[]]>([
    [
      'an event is dropped',
      'session',
      remove('states/running/on', 'REQUIRE_ACTION'),
      ['path', 'snapshot', 'transition-removed', 'unreachable-state'],
    ],
    ['a transition leads elsewhere', 'session', set('states/running/on', 'TERMINATE', 'idle'), ['target']],
    ['lost work is removed', 'worktree', set('states/inspecting/on', 'DIRTY', 'removing'), ['path', 'target']],
    [
      'a fallback leads elsewhere',
      'wake',
      set('states/claiming/invoke/onDone/1', 'target', 'ended'),
      ['path', 'target'],
    ],
    [
      'an error edge is gone',
      'wake',
      remove('states/claiming/invoke', 'onError'),
      ['invoke-without-error', 'path', 'transition-removed'],
    ],
    ['an actor is not run any more', 'wake', remove('states/failing', 'invoke'), ['invoke', 'transition-removed']],
    [
      'an actor is another',
      'wake',
      set('states/claiming/invoke', 'src', 'release'),
      ['invoke', 'path', 'transition-removed'],
    ],
    [
      'a guard is gone',
      'wake',
      remove('states/claiming/invoke/onDone/0', 'guard'),
      ['guard-removed', 'path', 'shadowed-transition'],
    ],
    ['two guarded transitions change places', 'run', swap('states/attempting/invoke/onDone', 0, 1), ['guard-changed']],
    [
      'the fallback comes first',
      'toolCall',
      swap('states/awaiting_input/on/ANSWER', 0, 1),
      ['guard-changed', 'path', 'shadowed-transition'],
    ],
    [
      'a state is out of reach',
      'session',
      remove('states/running/on', 'RESCHEDULE'),
      ['path', 'snapshot', 'transition-removed', 'unreachable-state'],
    ],
    [
      'a state is new that nothing leads to',
      'session',
      set('states', 'limbo', { on: { WAKE: 'running' } }),
      ['unreachable-state'],
    ],
    [
      'an outcome is none any more',
      'lease',
      remove('states/released', 'type'),
      ['cannot-terminate', 'dead-end', 'state-kind'],
    ],
    [
      'a state is an outcome now',
      'lease',
      set('states', 'lost', { type: 'final' }),
      ['state-kind', 'transition-removed'],
    ],
    ['it starts elsewhere', 'session', set('', 'initial', 'rescheduling'), ['initial', 'path']],
    [
      'an inner state starts elsewhere',
      'session',
      set('states/idle', 'initial', 'requires_action'),
      ['initial', 'path'],
    ],
    ['a wildcard takes what was refused', 'session', set('', 'on', { '*': '.terminated' }), ['transition-added']],
    [
      'a wildcard keeps from outer states what they take',
      'task',
      set('states/running/states/active/on', '*', {}),
      ['transition-added'],
    ],
    [
      'an inner state takes what an outer one took',
      'session',
      set('states/idle/states/requires_action/on', 'WAKE', 'resting'),
      ['transition-added'],
    ],
    [
      'a state that waited is left by itself',
      'session',
      set('states/rescheduling', 'always', 'terminated'),
      ['path', 'transition-added'],
    ],
    [
      'a state that waited has a timer',
      'session',
      set('states/rescheduling', 'after', { 10: 'terminated' }),
      ['transition-added'],
    ],
    [
      'states go in a circle',
      'lease',
      (config) =>
        [set('states/lost', 'always', 'held'), set('states/held', 'always', 'lost')].forEach((edit) => edit(config)),
      ['eventless-loop', 'path', 'transition-added'],
    ],
    [
      'a state is entered anew where it stayed',
      'session',
      set('states/running/on', 'WAKE', { target: 'running', reenter: true }),
      ['target'],
    ],
    ['an action is gone', 'toolCall', remove('states/executing/invoke/onDone/0', 'actions'), ['actions']],
    ['two actions change places', 'wake', swap('on/STOP/actions', 0, 1), ['actions']],
    [
      'an action has no name',
      'wake',
      set('states/claiming/invoke/onError', 'actions', () => undefined),
      ['actions', 'inline-operation', 'path'],
    ],
    [
      'a guard has no name',
      'wake',
      set('states/claiming/invoke/onDone/0', 'guard', () => true),
      ['guard-changed', 'inline-operation', 'path'],
    ],
    [
      'an actor has no name',
      'wake',
      set(
        'states/claiming/invoke',
        'src',
        fromPromise(() => Promise.resolve()),
      ),
      ['inline-operation', 'invoke', 'path', 'transition-removed'],
    ],
    [
      'regions stand where one state was',
      'task',
      (config) =>
        [set('states/running', 'type', 'parallel'), remove('states/running', 'initial')].forEach((edit) =>
          edit(config),
        ),
      ['path', 'snapshot', 'state-kind'],
    ],
    ['its end says nothing', 'toolCall', remove('', 'output'), ['output']],
    [
      'every rule is excused everywhere',
      'session',
      set('meta', 'waives', Object.fromEntries(AUDIT_RULES.map((rule) => [rule, 'so']))),
      ['unknown-waiver'],
    ],
    [
      'it is said that somebody refuses what nothing takes',
      'activation',
      set('meta', 'unhandled', { as: 'rejected', because: 'so' }),
      ['unhandled', 'unknown-waiver'],
    ],
  ])('%s', (_what, id, edit, by) => {
    expect(foundIn(ourChart(id), edited(ourChart(id), edit))).toEqual(by);
  });
});
