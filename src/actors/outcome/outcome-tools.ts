/** The managed tools around outcomes, for the session that calls them and no other. */
import { RuntimeError } from '../../machines/errors.ts';
import { gradeOf } from '../../machines/outcome/outcome-grade.ts';
import {
  checkHistoryLimit,
  outcomeDefineDefinition,
  outcomeEvaluateDefinition,
  outcomeGradeDefinition,
  outcomeHistoryDefinition,
} from '../../machines/outcome/outcome-definitions.ts';
import type {
  OutcomeDefineInput,
  OutcomeHistoryInput,
  GradedOutcome,
} from '../../machines/outcome/outcome-definitions.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Tool, ToolContext, HookedWake } from '../turn/tool.ts';
import { checksOf, evaluateOutcome } from './evaluation.ts';
import type { EvaluationPorts } from './evaluation.ts';
import type { OutcomeEvaluator } from './outcome-evaluator.ts';
import { readHistory } from './outcome-history.ts';
import { promotionProblem } from './promotion-gate.ts';
import { readWork } from './read-work.ts';

export interface OutcomeToolsOptions extends EvaluationPorts {
  readonly evaluator: Pick<OutcomeEvaluator, 'alone'>;
}

/** As long as a command may take to end: a check is one. */
const STOP_GRACE_MS = 15_000;

export function createOutcomeTools(options: OutcomeToolsOptions): readonly Tool[] {
  return [defineTool(), gradeTool(options), evaluateTool(options), historyTool(options)];
}

function defineTool(): Tool<OutcomeDefineInput> {
  return {
    definition: outcomeDefineDefinition,
    async run(input, context) {
      const wake = wakeOf(context);
      const { outcome } = wake.state();
      if (outcome?.by === 'person') throw definedByPerson(outcome);
      await wake.append([
        {
          type: 'outcome.defined',
          data: {
            title: input.title,
            ...(input.detail === undefined ? {} : { detail: input.detail }),
            ...(input.criteria === undefined ? {} : { criteria: input.criteria }),
          },
        },
      ]);
      const { outcome: stands } = wake.state();
      // A person may have been faster by the blink of an eye.
      if (stands?.by === 'person') throw definedByPerson(stands);
      return { defined: true, title: input.title };
    },
  };
}

function gradeTool({ store, leftRunning }: OutcomeToolsOptions): Tool {
  return {
    definition: outcomeGradeDefinition,
    async run(_input, context) {
      const state = wakeOf(context).state();
      const grade = gradeOf({
        state,
        record: await readWork(store, state),
        askingCallId: context.callId,
        leftRunning: await leftRunning?.(state),
      });
      const problem = promotionProblem(state);
      const { outcome, evaluation } = state;
      return {
        ...grade,
        ...(outcome === undefined ? {} : { outcome: shownOutcome(outcome, context) }),
        ...(evaluation === undefined
          ? {}
          : { evaluation: { verdict: evaluation.verdict, because: evaluation.because } }),
        mayPromote: problem === undefined,
        ...(problem === undefined ? {} : { promotionProblem: problem }),
      } satisfies GradedOutcome;
    },
  };
}

function evaluateTool(options: OutcomeToolsOptions): Tool {
  return {
    definition: outcomeEvaluateDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run(_input, context) {
      const wake = wakeOf(context);
      const { environment, workspaceDirectory, callId, signal } = context;
      return options.evaluator.alone(context.session.sessionId, () =>
        evaluateOutcome(
          {
            state: () => wake.state(),
            environment,
            workspaceDirectory,
            agentDirectory: wake.agent.agentDirectory,
            askingCallId: callId,
            append: (draftsFor) => wake.appendDecided(draftsFor),
            signal,
          },
          options,
        ),
      );
    },
  };
}

function historyTool({ store }: OutcomeToolsOptions): Tool<OutcomeHistoryInput> {
  return {
    definition: outcomeHistoryDefinition,
    run: async ({ limit }, context) => readHistory(store, wakeOf(context).state(), checkHistoryLimit(limit)),
  };
}

function shownOutcome(
  outcome: NonNullable<SessionState['outcome']>,
  { environment }: ToolContext,
): NonNullable<GradedOutcome['outcome']> {
  const { title, detail, criteria, by } = outcome;
  return {
    title,
    ...(detail === undefined ? {} : { detail }),
    ...(criteria === undefined ? {} : { criteria }),
    by,
    hasCheck: checksOf(outcome, environment).length > 0,
  };
}

function wakeOf({ wake }: ToolContext): HookedWake {
  if (wake !== undefined) return wake;
  throw new RuntimeError('TOOL_NEEDS_WAKE', 'expected to be called in a wake of a session', {
    category: 'conflict',
    hint: 'Tools about the session itself are run by its wakes only.',
  });
}

function definedByPerson({ title }: NonNullable<SessionState['outcome']>): RuntimeError {
  return new RuntimeError(
    'OUTCOME_SET_BY_PERSON',
    `a client has said what this session is to achieve: ${JSON.stringify(title)}`,
    {
      category: 'permission',
      hint: 'Work towards that. If it should be another one, ask with ask_human, or say so.',
    },
  );
}
