/** A judge that is a model, run as every model is: over accounts, with fallbacks to none, and without any tool. */
import { messageOf } from '../../machines/errors.ts';
import {
  JUDGE_INSTRUCTIONS,
  MAX_JUDGE_OUTPUT_TOKENS,
  judgeQuestion,
  readJudgement,
} from '../../machines/outcome/judge-words.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import { estimateTokens } from '../../machines/turn/token-estimate.ts';
import type { Clock } from '../clock/clock.ts';
import type { AgentRunConfig } from '../run/agent-runtime.ts';
import type { AgentRuntimeRegistry } from '../run/agent-runtime-registry.ts';
import type { AuthProfiles } from '../run/auth-profiles.ts';
import type { CandidateHealthStore } from '../run/candidate-health-store.ts';
import { executeAgentRun } from '../run/execute-agent-run.ts';
import type { ExecuteAgentRunOptions } from '../run/run-options.ts';
import type { IdSource } from '../session/id-source.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { pricedUsage, tellsTokens } from '../wake/wake-budget.ts';
import type { JudgeAnswer, JudgeRequest, OutcomeJudge } from './outcome-judge.ts';

export interface ModelJudgeOptions {
  readonly runtimes: AgentRuntimeRegistry;
  readonly runConfig: AgentRunConfig;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly profiles?: AuthProfiles | undefined;
  readonly candidateHealth?: CandidateHealthStore | undefined;
  readonly limits?: ExecuteAgentRunOptions['limits'];
  /** Of models, before the known ones: what judges cost counts for the sessions that are judged. */
  readonly prices?: PriceTable | undefined;
  readonly onListenerError: OnListenerError;
}

export function createModelJudge(options: ModelJudgeOptions): OutcomeJudge {
  return {
    async judge(request) {
      try {
        return await ask(options, request);
      } catch (error) {
        return { verdict: 'uncertain', because: `the judge could not be asked: ${messageOf(error)}` };
      } finally {
        request.signal.throwIfAborted();
      }
    },
  };
}

async function ask(
  { runtimes, runConfig, ids, prices = {}, ...run }: ModelJudgeOptions,
  request: JudgeRequest,
): Promise<JudgeAnswer> {
  const { model, signal, sessionId, workspaceDirectory, agentDirectory } = request;
  // What runs tools of its own could be talked into changing what it judges.
  if (runtimes.resolve(model.provider, runConfig).runs === 'turn')
    return {
      verdict: 'uncertain',
      because: `the judge ${model.provider} runs tools of its own; name a model that runs none`,
    };
  const prompt = judgeQuestion(request.outcome, request.evidence);
  const execution = executeAgentRun({
    ...run,
    registry: runtimes,
    models: [
      {
        provider: model.provider,
        model: model.model,
        ...(model.profile === undefined ? {} : { profile: model.profile }),
      },
    ],
    request: {
      runId: ids.next(),
      sessionId,
      instructions: JUDGE_INSTRUCTIONS,
      prompt,
      config: runConfig,
      workspaceDir: workspaceDirectory,
      agentDir: agentDirectory,
      modelStepsTaken: 0,
      tools: [],
      budget: { maxOutputTokens: MAX_JUDGE_OUTPUT_TOKENS },
    },
    signal,
  });
  const { payloads, usage: told, meta } = await execution.result;
  const answer = payloads.flatMap((payload) => (payload.type === 'text' ? [payload.text] : [])).join('');
  const failure = meta?.error;
  // Who tells no tokens has used some all the same, unless no model has answered.
  const counted =
    tellsTokens(told) || failure !== undefined
      ? told
      : {
          inputTokens: estimateTokens(JUDGE_INSTRUCTIONS + prompt),
          outputTokens: estimateTokens(answer),
          isEstimate: true,
        };
  const usage = pricedUsage(counted, model, prices);
  const judgement =
    failure === undefined
      ? readJudgement(answer)
      : { verdict: 'uncertain' as const, because: `the judge could not answer (${failure.kind}): ${failure.message}` };
  return { ...judgement, ...(usage === undefined ? {} : { usage }) };
}
