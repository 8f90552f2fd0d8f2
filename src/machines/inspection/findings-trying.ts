/** Findings from trying the chart out: states that are out of reach, what throws, and where trying had to stop. */
import type { Finding } from './chart-audit.ts';
import { messageOf } from '../errors.ts';
import type { AuditMatter } from './findings.ts';
import { commonState, listed, named, opening } from './findings.ts';
import { ROOT } from './chart-description.ts';
import type { FailedStep } from './explore-chart.ts';

export function findingsOfTrying(matter: AuditMatter): readonly Finding[] {
  return [...unreachable(matter), ...failures(matter), ...cut(matter)];
}

function unreachable({ index, reach, exploration, chart }: AuditMatter): Finding[] {
  const byState = new Map(reach.map((each) => [each.state, each.reach]));
  const isSure = chart.events !== undefined && !exploration.isCut && exploration.failures.length === 0;
  return reach.filter((each) => each.reach !== 'witnessed').flatMap(({ state, reach: how }): Finding[] => {
    // What lies inside a state that is out of reach is so too, and needs no finding of its own.
    const { parent } = index.state(state);
    if (parent !== undefined && parent !== ROOT && byState.get(parent) === how) return [];
    const isOut = how === 'unreachable';
    return [
      {
        rule: 'unreachable-state',
        severity: isOut ? 'error' : isSure ? 'warning' : 'note',
        state,
        says: isOut ? `${opening(state)} can never be reached: no path of transitions leads there from the start.` : `Transitions lead to ${named(state)}, and trying the chart out found no events that do.`,
        hint: isOut ? 'Add the transition that should lead there, or take the state out.' : 'See that the guards on the way can hold, and give the samples, answers of invoked actors (outputs) or input with which they do.',
      },
    ];
  });
}

function failures({ index, exploration }: AuditMatter): Finding[] {
  return exploration.failures.filter(({ isEndless }) => !isEndless).map((failure): Finding => ({
    rule: 'failing-operation',
    severity: failure.isGiven ? 'error' : 'note',
    state: commonState(index, failure.leaves),
    ...(failure.label === undefined ? {} : { event: failure.label.split(' ')[0] }),
    says: `${whenOf(failure)}, a guard or an action throws: ${messageOf(failure.thrown).split('\n').join(' ').slice(0, 300)}`,
    hint: hintOf(failure),
  }));
}

function whenOf({ label, leaves }: FailedStep): string {
  return label === undefined ? 'When the machine starts' : `When ${label} comes in ${listed(leaves.map(named))}`;
}

function hintOf({ label, isGiven }: FailedStep): string {
  if (isGiven) return 'Guards, and actions that change the context, have to answer for every event that is declared: an exception ends the actor.';
  return label === undefined ? 'Give the input that an actor of the chart gets.' : 'Declare the event with a sample of what it carries, or give what the invoked actor answers (outputs).';
}

function cut({ exploration: { isCut, snapshots } }: AuditMatter): Finding[] {
  if (!isCut) return [];
  return [
    {
      rule: 'exploration-cut',
      severity: 'note',
      state: ROOT,
      says: `Trying the chart out stopped after ${snapshots.length} snapshots: its context, or the order of its history, differs without end.`,
      hint: 'What was not found is not proven to be out of reach. Keep counters and lists out of the context, or bound them.',
    },
  ];
}
