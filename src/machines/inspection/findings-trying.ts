/** Findings from trying the chart out: states that are out of reach, what throws, and where trying had to stop. */
import { beginningOf } from '../cut-text.ts';
import type { Finding } from './chart-audit.ts';
import { messageOf } from '../errors.ts';
import type { AuditMatter } from './findings.ts';
import { commonState, listed, named, opening } from './findings.ts';
import { ROOT } from './chart-states.ts';
import type { Exploration, FailedStep } from './explore-chart.ts';

export function findingsOfTrying(matter: AuditMatter): readonly Finding[] {
  return [...unreachable(matter), ...failures(matter), ...cut(matter)];
}

function unreachable({ index, reach, exploration, chart }: AuditMatter): Finding[] {
  const byState = new Map(reach.map((each) => [each.state, each.reach]));
  const isSure = chart.events !== undefined && !exploration.isCut && exploration.failures.length === 0;
  // Where it could not even start, or was stopped by a limit, that has a finding of its own; what was not got to proves
  // nothing.
  const isTelling = exploration.snapshots.length > 0 && !isTooBig(exploration);
  return reach
    .filter((each) => each.reach === 'unreachable' || (each.reach === 'structural' && isTelling))
    .flatMap(({ state, reach: how }): Finding[] => {
      // What lies inside a state that is out of reach is so too, and needs no finding of its own.
      const { parent } = index.state(state);
      if (parent !== undefined && parent !== ROOT && byState.get(parent) === how) return [];
      const isOut = how === 'unreachable';
      return [
        {
          rule: 'unreachable-state',
          severity: isOut ? 'error' : isSure ? 'warning' : 'note',
          state,
          says: isOut
            ? `${opening(state)} can never be reached: no path of transitions leads there from the start.`
            : `Transitions lead to ${named(state)}, and trying the chart out found no events that do.`,
          hint: isOut
            ? 'Add the transition that should lead there, or take the state out.'
            : 'See that the guards on the way can hold, and give the samples, answers of invoked actors (outputs) or input with which they do.',
        },
      ];
    });
}

/** In XState's words; what is not there yet has a finding of its own, which says more. */
const GUARD_MISSING = /Guard '.+' is not implemented/;

function failures({ index, exploration }: AuditMatter): Finding[] {
  return exploration.failures
    .filter(({ isEndless, thrown }) => !isEndless && !GUARD_MISSING.test(messageOf(thrown)))
    .map((failure): Finding => ({
      rule: 'failing-operation',
      severity: failure.isGiven ? 'error' : 'note',
      state: commonState(index, failure.leaves),
      ...(failure.label === undefined ? {} : { event: failure.label.split(' ')[0] }),
      says: `${whenOf(failure)}, ${failure.label === undefined ? 'its context, a guard or an action' : 'a guard or an action'} throws: ${beginningOf(messageOf(failure.thrown).split('\n').join(' '), 300)}`,
      hint: hintOf(failure),
    }));
}

function whenOf({ label, leaves }: FailedStep): string {
  return label === undefined ? 'When the machine starts' : `When ${label} comes in ${listed(leaves.map(named))}`;
}

function hintOf({ label, isGiven }: FailedStep): string {
  if (isGiven)
    return 'Guards, and actions that change the context, have to answer for every event that is declared: an exception ends the actor.';
  return label === undefined
    ? 'Give the input that an actor of the chart gets.'
    : 'Declare the event with a sample of what it carries, or give what the invoked actor answers (outputs).';
}

/** Not because a context differs without end: the chart has more configurations than are checked. */
function isTooBig({ isCut, endlessIn, failures: failed }: Exploration): boolean {
  return isCut && endlessIn === undefined && !failed.some(({ isEndless }) => isEndless);
}

function cut({ exploration, index, reach }: AuditMatter): Finding[] {
  if (!exploration.isCut) return [];
  const { snapshots, endlessIn } = exploration;
  const missed = reach.filter((each) => each.reach === 'structural').length;
  const because = isTooBig(exploration)
    ? `the chart can be in more combinations of states and context than that${missed === 0 ? '' : `, and ${missed} of its states were not got to`}`
    : endlessIn === undefined
      ? 'too many events never came to an end'
      : `in ${listed(endlessIn.map(named)) || named(ROOT)} its context, or the order of its history, differs without end`;
  return [
    {
      rule: 'exploration-cut',
      severity: 'note',
      state: endlessIn === undefined ? ROOT : commonState(index, endlessIn),
      says: `Trying the chart out stopped after ${snapshots.length} snapshots: ${because}.`,
      hint:
        endlessIn === undefined
          ? 'What was not found is not proven to be out of reach.'
          : 'What was not found is not proven to be out of reach. Counters and lists in the context that grow without a bound, such as numbers of attempts, may be bounded; where they are meant, nothing is wrong.',
    },
  ];
}
