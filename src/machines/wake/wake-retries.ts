/**
 * What keeps an unattended session from burning money: when it is tried again after a failure, and when it stops by
 * itself.
 */
import { beginningOf } from '../cut-text.ts';
import type { ErrorRecord } from '../errors.ts';
import { isAutonomous } from '../session/fold-wakes.ts';
import {
  FIRST_RETRY_DELAY_MS,
  MAX_FAILURES_IN_A_ROW,
  MAX_IDLE_WAKES_IN_A_ROW,
  MAX_RETRY_DELAY_MS,
  MAX_SUMMARY_CHARACTERS,
  RETRY_DELAY_FACTOR,
} from '../session/limits.ts';
import type { SessionEventData, SessionEventDraft } from '../session/session-event.ts';
import type { OpenWake, SessionState } from '../session/session-state.ts';
import type { WakeEnd } from './wake-decision.ts';

/**
 * How long to wait after the n-th failure in a row, in milliseconds: longer each time, and as long as the provider asks
 * for.
 */
export function retryDelayMs(failures: number, error?: ErrorRecord): number {
  const asked = error?.details?.['retryAfterMs'];
  const ours = Math.min(FIRST_RETRY_DELAY_MS * RETRY_DELAY_FACTOR ** (Math.max(1, failures) - 1), MAX_RETRY_DELAY_MS);
  return typeof asked === 'number' && asked > ours ? asked : ours;
}

export interface ParkingCheck {
  readonly state: SessionState;
  readonly wake: OpenWake;
  readonly end: WakeEnd;
  readonly modelSteps: number;
  /** Whether the session will wake again by itself. */
  readonly goesOn: boolean;
  readonly maxAutonomousWakes: number;
}

/**
 * The event that parks the session: when this wake was one too many of its kind, or when another one would only come to
 * the same.
 */
export function parkingEvents({
  state,
  wake,
  end,
  modelSteps,
  goesOn,
  maxAutonomousWakes,
}: ParkingCheck): SessionEventDraft[] {
  if (end.outcome === 'failed') {
    if (end.error.details?.['givenUp'] === true)
      return [parked('given_up', `Asked again, the model would come to the same: ${withoutEnd(end.error.message)}.`)];
    const failures = state.failuresInARow + 1;
    return failures < MAX_FAILURES_IN_A_ROW ? [] : [parked('failures', `${failures} wakes in a row failed.`)];
  }
  if (end.outcome === 'budget_reached' && state.pending.length > 0 && wouldRepeat(end, modelSteps + wake.toolCalls)) {
    const { name, value, because } = end.budget;
    return [
      parked(
        'budget',
        `What came in is not read: the budget ${name} (${value}) leaves no model step${because === undefined ? '' : `, since ${withoutEnd(because)}`}. Raise it in the agent file.`,
      ),
    ];
  }
  if (!goesOn || !isAutonomous(wake.trigger)) return [];
  const idle = wake.toolCalls === 0 ? state.idleWakesInARow + 1 : 0;
  if (idle >= MAX_IDLE_WAKES_IN_A_ROW)
    return [parked('idle_wakes', `${idle} wakes in a row that no client asked for did nothing.`)];
  if (state.autonomousWakesInARow >= maxAutonomousWakes) {
    return [
      parked(
        'autonomous_wakes',
        `${state.autonomousWakesInARow} wakes in a row came without a client asking; the budget allows ${maxAutonomousWakes}.`,
      ),
    ];
  }
  return [];
}

export function parked(
  code: Exclude<SessionEventData<'session.parked'>['code'], 'imported'>,
  why: string,
): SessionEventDraft {
  return {
    type: 'session.parked',
    data: { code, reason: `${beginningOf(why, MAX_WHY_CHARACTERS)} ${TO_GO_ON[code]}` },
  };
}

/** What a person does about it: where something has to be mended first, a wake alone would fail again. */
const TO_GO_ON: Readonly<Record<Exclude<SessionEventData<'session.parked'>['code'], 'imported'>, string>> = {
  failures: 'Mend the cause, then send a message or wake the session.',
  budget: 'Then send a message or wake the session.',
  given_up: 'Mend what it names or say it otherwise, then send a message or wake the session.',
  idle_wakes: 'Send a message or wake the session to go on.',
  autonomous_wakes: 'Send a message or wake the session to go on.',
};

/** Leaves room for what to do in the summary of an event. */
const MAX_WHY_CHARACTERS = MAX_SUMMARY_CHARACTERS - 100;

/**
 * @param done model steps and tool calls of the wake: one that did nothing before its budget was reached leaves the
 * next one as little
 */
function wouldRepeat({ budget }: Extract<WakeEnd, { readonly outcome: 'budget_reached' }>, done: number): boolean {
  return done === 0 || isForGood(budget);
}

/**
 * Whether a budget is one that another wake does not have anew: what a session as a whole has used up does not come
 * back.
 */
export function isForGood({
  name,
  because,
}: Extract<WakeEnd, { readonly outcome: 'budget_reached' }>['budget']): boolean {
  return name.endsWith('PerSession') || because?.includes('price') === true;
}

function withoutEnd(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
