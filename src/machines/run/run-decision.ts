/**
 * What comes after an attempt that failed, decided by the kind of its failure and by what is left to try. Pure: every
 * case is a row of a table.
 */
import type { RunDecision } from './run-attempt.ts';
import type { RunFailure, RunFailureKind } from './run-failure.ts';

/** What one run may spend on trying. */
export interface RunLimits {
  /** Attempts in all. */
  readonly maxAttempts: number;
  /** Waits in all. */
  readonly maxBackOffs: number;
  /** Their sum, in milliseconds. */
  readonly maxWaitMs: number;
}

export const DEFAULT_RUN_LIMITS: RunLimits = { maxAttempts: 12, maxBackOffs: 3, maxWaitMs: 60_000 };

/** The first wait; each further one is twice as long. In milliseconds. */
const FIRST_WAIT_MS = 1_000;

export interface RunSituation {
  readonly failure: RunFailure;
  /** Attempts so far, with this one. */
  readonly attempts: number;
  readonly backOffs: number;
  /** Milliseconds waited so far. */
  readonly waitedMs: number;
  /** Attempts of this candidate that failed in this way, with this one. */
  readonly sameFailures: number;
  readonly hasOtherProfile: boolean;
  readonly hasOtherModel: boolean;
  /** Of the other models, at least one is of another provider. */
  readonly hasOtherProvider: boolean;
  /** Whether there is something that can be left out of the context, and has not been. */
  readonly canCompact: boolean;
  /** The backend was to go on with a session of its own. */
  readonly wasResumed: boolean;
  /** Tools of the backend have run: to ask again would do it again. */
  readonly hadEffects: boolean;
  /** What the budget leaves pays for another attempt of this candidate. */
  readonly canPayAgain: boolean;
  readonly limits: RunLimits;
  /** From 0 up to 1. */
  readonly random: number;
}

export interface RunVerdict {
  readonly next: RunDecision;
  /** As one sentence, for people. */
  readonly because: string;
  /** For `back_off`. */
  readonly waitMs?: number | undefined;
}

type Rule = (situation: RunSituation) => RunVerdict;

export function decideAfterFailure(situation: RunSituation): RunVerdict {
  const { failure, attempts, limits, hadEffects } = situation;
  if (hadEffects && failure.kind !== 'aborted')
    return giveUp('Tools of the backend have run already, and to ask again would run them again.');
  if (failure.retry === 'never') return giveUp("A limit of the user's own has ended it.");
  if (attempts >= limits.maxAttempts) return giveUp(`${attempts} attempts are the most that one run makes.`);
  const verdict = RULES[failure.kind](situation);
  const isRepeated = verdict.next === 'back_off' || verdict.next === 'compact';
  return isRepeated && !situation.canPayAgain
    ? elsewhere(situation, 'What the budget leaves does not pay for the same once more.')
    : verdict;
}

const account: Rule = (situation) => elsewhere(situation, 'This account cannot be used now.');

const RULES: Record<RunFailureKind, Rule> = {
  auth: account,
  auth_permanent: account,
  billing: account,
  model_not_found: (situation) => elsewhere(situation, 'This account does not have the model.'),
  rate_limit: (situation) => {
    if (situation.hasOtherProfile || situation.hasOtherModel)
      return elsewhere(situation, 'This account has made all the calls it may for a while.');
    return backOff(situation) ?? giveUp('There is no other candidate, and to wait takes longer than a run may.');
  },
  overloaded: (situation) => againThenElsewhere(situation, 'The provider has too much to do.'),
  server_error: (situation) => againThenElsewhere(situation, 'The provider has failed.'),
  timeout: (situation) => againThenElsewhere(situation, 'The provider has not answered in time.'),
  empty_response: (situation) => againThenElsewhere(situation, 'The model has said nothing.'),
  context_overflow: (situation) => {
    if (situation.canCompact) return { next: 'compact', because: 'The model cannot read as much at once.' };
    const why = 'The model cannot read as much at once, and nothing more can be left out.';
    return situation.hasOtherModel
      ? { next: 'fall_back', because: `${why} Another one may.` }
      : giveUp(`${why} No other one is named.`);
  },
  session_expired: (situation) => {
    const { wasResumed, sameFailures } = situation;
    if (wasResumed && sameFailures === 1)
      return {
        next: 'back_off',
        waitMs: 0,
        because: 'The session of the backend is gone; the conversation is given to a new one.',
      };
    return elsewhere(situation, 'The backend has lost a session that was new.');
  },
  // What a provider does not take it does not take from another account, nor for another model; what is wrong is in how
  // it is asked.
  format: ({ hasOtherProvider }) => {
    const why = 'This provider does not take the request, from any account.';
    return hasOtherProvider
      ? { next: 'fall_back', because: `${why} Another provider may.` }
      : giveUp(`${why} No other provider is named.`);
  },
  refusal: () => giveUp('The model does not want to answer; to ask another one behind its back is not ours to decide.'),
  aborted: () => giveUp('It was stopped.'),
  coordination: (situation) =>
    backOff(situation) ??
    giveUp('Something of ours on this machine is in its way, and another model would not change that.'),
  unknown: (situation) => elsewhere(situation, 'It failed in a way that says nothing about others.'),
};

/** The next account, else the next model, else the end. */
function elsewhere({ hasOtherProfile, hasOtherModel }: RunSituation, why: string): RunVerdict {
  if (hasOtherProfile) return { next: 'rotate_profile', because: `${why} Another account is tried.` };
  if (hasOtherModel) return { next: 'fall_back', because: `${why} Another model is tried.` };
  return giveUp(`${why} There is no other candidate.`);
}

/**
 * Once more with the same, since such things pass; then somewhere else, since they may not; and again only where there
 * is nowhere else.
 */
function againThenElsewhere(situation: RunSituation, why: string): RunVerdict {
  const { sameFailures, hasOtherModel, hasOtherProfile } = situation;
  const again = backOff(situation);
  if (again !== undefined && (sameFailures === 1 || !(hasOtherModel || hasOtherProfile)))
    return { ...again, because: `${why} It is asked once more.` };
  if (hasOtherModel) return { next: 'fall_back', because: `${why} Another model is tried.` };
  return elsewhere(situation, why);
}

/**
 * What is out of the run with a candidate after which this was decided: its account, its model with all accounts, or
 * its provider with all models.
 */
export function outWith(next: RunDecision, { kind }: RunFailure): 'account' | 'model' | 'provider' {
  if (next !== 'fall_back') return 'account';
  return kind === 'format' ? 'provider' : 'model';
}

/**
 * A wait as long as the provider asks for, or else twice as long as the last; undefined where a run may not wait so
 * long.
 */
function backOff({ failure, backOffs, waitedMs, sameFailures, limits, random }: RunSituation): RunVerdict | undefined {
  if (backOffs >= limits.maxBackOffs || (failure.retry === 'once' && sameFailures > 1)) return undefined;
  // Uneven, so that those who failed together do not come back together; never sooner than was asked for.
  const waitMs = Math.round(
    failure.retryAfterMs === undefined
      ? FIRST_WAIT_MS * 2 ** backOffs * (0.5 + random / 2)
      : failure.retryAfterMs * (1 + random / 10),
  );
  return waitedMs + waitMs > limits.maxWaitMs
    ? undefined
    : { next: 'back_off', waitMs, because: 'It is asked once more after a wait.' };
}

function giveUp(because: string): RunVerdict {
  return { next: 'give_up', because };
}
