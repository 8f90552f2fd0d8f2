/**
 * Everything about outcomes that goes along with a runtime: tools, what is evaluated by itself, and the service for
 * programs.
 */
import { gradeOf } from '../../machines/outcome/outcome-grade.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { HookedWake, Tool } from '../turn/tool.ts';
import type { WakeHook } from '../wake/wake-hook.ts';
import type { EvaluationPorts } from './evaluation.ts';
import { checksOf, evaluateOutcome } from './evaluation.ts';
import { OutcomeEvaluator } from './outcome-evaluator.ts';
import type { OutcomeEvaluatorOptions } from './outcome-evaluator.ts';
import { readHistory } from './outcome-history.ts';
import { createOutcomeTools } from './outcome-tools.ts';
import type { EventReader } from './read-work.ts';
import { readWork } from './read-work.ts';

export interface OutcomeHookSource {
  readonly evaluator: OutcomeEvaluator;
  readonly tools: readonly Tool[];
  readonly hook: WakeHook;
  close(): Promise<void>;
}

export function createOutcomes(options: OutcomeEvaluatorOptions): OutcomeHookSource {
  const evaluator = new OutcomeEvaluator(options);
  const own = { ...options, evaluator };
  return {
    evaluator,
    tools: createOutcomeTools(own),
    hook: createOutcomeHook(own),
    close: () => evaluator.close(),
  };
}

/** Evaluations in a row in which a check could not be run. After as many it is for people to see why. */
const MAX_CHECKS_NOT_RUN = 3;

interface OutcomeHookOptions extends EvaluationPorts {
  readonly evaluator: Pick<OutcomeEvaluator, 'alone'>;
}

/**
 * Evaluates by itself what a wake has brought to rest, where people have set a check: once for each change, never
 * again for nothing; a few times more while a check cannot be run.
 */
function createOutcomeHook(options: OutcomeHookOptions): WakeHook {
  return {
    name: 'outcomes',
    async ended(wake) {
      const state = wake.state();
      if (wake.signal.aborted || checksOf(state.outcome, wake.agent.environment).length === 0) return;
      if (!isDue(state) && !(await isWorthAnotherCheck(options.store, state))) return;
      if (
        gradeOf({
          state,
          record: await readWork(options.store, state),
          leftRunning: await options.leftRunning?.(state),
        }).grade !== 'done_candidate'
      )
        return;
      await options.evaluator.alone(state.sessionId, () => evaluateOutcome(placeOf(wake), options));
    },
    needsRight: (wake) => checksOf(wake.state().outcome, wake.agent.environment).length > 0,
  };
}

/** Whether something was done towards the outcome, or learned for all sessions, that no evaluation has seen. */
function isDue({
  outcome,
  evaluation,
  changedAtSeq = 0,
  learningsToKeep = [],
  learningsToPromote = [],
}: SessionState): boolean {
  if (outcome === undefined) return false;
  if (evaluation === undefined) return true;
  const learnedAtSeqs = [
    ...learningsToKeep.filter(({ promoteToMemory }) => promoteToMemory),
    ...learningsToPromote,
  ].map(({ seq }) => seq);
  return evaluation.throughSeq < Math.max(outcome.seq, changedAtSeq, ...learnedAtSeqs);
}

function placeOf(wake: HookedWake): Parameters<typeof evaluateOutcome>[0] {
  const { environment, workspaceDirectory, agentDirectory } = wake.agent;
  return {
    state: () => wake.state(),
    environment,
    workspaceDirectory,
    agentDirectory,
    append: (draftsFor) => wake.appendDecided(draftsFor),
    signal: wake.signal,
  };
}

type Evaluated = Pick<SessionState, 'sessionId' | 'head' | 'outcome' | 'evaluation' | 'changedAtSeq'>;

/**
 * Whether the last evaluation says nothing because a check could not be run, such as on a full disk.
 * False once it was so MAX_CHECKS_NOT_RUN times and nothing was changed in between.
 */
async function isWorthAnotherCheck(reader: EventReader, state: Evaluated): Promise<boolean> {
  const { outcome, evaluation, changedAtSeq = 0 } = state;
  if (evaluation?.verdict !== 'uncertain') return false;
  const since = Math.max(outcome?.seq ?? 0, changedAtSeq);
  const { entries } = await readHistory(reader, state, MAX_CHECKS_NOT_RUN);
  const recent = entries.filter(({ throughSeq }) => throughSeq >= since).map(({ seq }) => seq);
  const notRun = await Promise.all(recent.map((seq) => hasCheckNotRun(reader, state.sessionId, seq)));
  return notRun.at(-1) === true && (notRun.length < MAX_CHECKS_NOT_RUN || notRun.includes(false));
}

/** One that was run speaks for or against. */
async function hasCheckNotRun(reader: EventReader, sessionId: string, seq: number): Promise<boolean> {
  const [event] = await reader.read(sessionId, { from: seq, limit: 1 });
  return (
    event?.type === 'outcome.evaluated' &&
    event.data.evidence.some(({ kind, speaks }) => kind === 'check' && speaks === 'neither')
  );
}
