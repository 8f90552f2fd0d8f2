/** What each rule of audits is about, for pages on which its findings stand. */
import type { AuditRule } from './chart-audit.ts';

/** What the findings of a rule have in common, as a sentence. */
export const RULE_MEANINGS = {
  'unreachable-state': 'A state that nothing leads to, or to which no events were found that lead.',
  'unused-transition': 'A transition that was never taken when the chart was tried out.',
  'ignored-command': 'A caller asks for something, nothing happens, and the caller is not told.',
  'undeclared-event': 'The chart takes an event that is not among those declared for it.',
  'unhandled-event': 'An event is declared, and no state takes it.',
  'dead-end': 'A state that nothing leaves, and that is not final.',
  'guarded-exit': 'A state that is left only where a guard allows it.',
  'cannot-terminate': 'The chart has an end, and from this state no path leads to it.',
  'unbounded-wait': 'Only facts lead on: if their sender never tells them, it waits for ever.',
  'invoke-without-error': 'An invoked actor whose failure no transition handles: it ends the whole machine.',
  'invoke-without-done': 'An invoked actor whose end is the only way on, and leads nowhere.',
  'swallowing-wildcard': 'A wildcard that also takes what the machine tells itself.',
  'shadowed-transition': 'A transition behind one that is always taken.',
  'overlapping-transitions': 'Guards that hold at the same time and lead to different things: the order decides.',
  'eventless-loop': 'Transitions without an event that go in circles for ever.',
  'timer-not-durable': 'A timer that is gone when the process ends.',
  'inline-operation': 'A guard, an action or an actor without a name.',
  'failing-operation': 'A guard or an action that throws.',
  'one-sided-guard': 'A guard that held whenever it was asked.',
  'final-transition': 'A transition out of a final state.',
  'repeated-guard': 'A transition behind one for the same event with the same guard.',
  'missing-implementation':
    'A guard, an action, an actor or a delay that is named, and nothing stands behind the name.',
  'unheard-raise': 'An event that the machine raises, and no state takes.',
  'unknown-sample': 'A sample of an event that no state takes, or an output of an actor that none invokes.',
  'unknown-waiver': 'A reason that excuses nothing.',
  'exploration-cut': 'Trying the chart out was stopped by a limit.',
} as const satisfies Record<AuditRule, string>;
