/**
 * Lets the model write a summary of what came before, when the conversation has grown too long for it and its agent
 * wants that. A summary that is not worth it is not kept, and the same is not tried again until more has been said.
 */
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { Allowance } from '../../machines/session/event-parts.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { SUMMARY_INSTRUCTIONS, acceptCompaction, planCompaction } from '../../machines/turn/compaction.ts';
import type { CompactionPlan } from '../../machines/turn/compaction.ts';
import { estimateMessages } from '../../machines/turn/conversation-costs.ts';
import { estimateTokens } from '../../machines/turn/token-estimate.ts';
import type { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import type { AgentRunConfig, AgentRunResult } from '../run/agent-runtime.ts';
import type { RunRequest } from '../run/run-options.ts';
import { maxContextTokens } from './wake-context.ts';
import type { PreparedAgent } from './wake-context.ts';
import type { WakeJournal } from './wake-journal.ts';

/** The share of its context that a conversation may take before it is summarized. */
const FULL_SHARE = 0.7;

/** The newest exchanges stay as they are. */
const KEEP_EXCHANGES = 4;

/** Tokens of a summary; a quarter of a small context at most. */
const MAX_SUMMARY_TOKENS = 4_096;

/** Events that must have come since the last try. */
const EVENTS_BETWEEN_TRIES = 20;

export interface CompactionOptions {
  readonly agent: PreparedAgent;
  readonly journal: WakeJournal;
  readonly transcript: TranscriptBuilder;
  /** The ingress events that the next step reads. */
  readonly consumed: readonly string[];
  readonly runId: string;
  readonly runConfig: AgentRunConfig;
  /** What is left of the budgets. */
  readonly remaining: Allowance;
  /** Asks the model; never rejects. */
  readonly run: (
    request: RunRequest,
  ) => Promise<{ readonly result: AgentRunResult; readonly usage: RunUsage | undefined; readonly modelSteps: number }>;
}

/** Lets the model write a summary of what came before, where the conversation has filled its context. */
export async function compactIfFull(options: CompactionOptions): Promise<void> {
  const plan = planFor(options);
  if (plan?.kind !== 'planned') return;
  const { agent, journal, runId: spanId, run } = options;
  const { state } = journal;
  const { provider, model } = agent.definition;
  const tokens = estimateTokens(plan.text);
  const reserved =
    options.remaining.tokens === undefined ? {} : { reserved: { tokens: tokens + summaryTokens(agent) } };
  await journal.append([
    {
      type: 'span.started',
      data: {
        spanId,
        kind: 'compaction',
        backend: agent.runtime.id,
        provider,
        model,
        step: state.modelSteps + 1,
        contextTokens: tokens,
        ...reserved,
      },
    },
  ]);
  const { result, usage, modelSteps } = await run(requestFor(options, plan.text));
  const error = result.meta?.error;
  const summary = result.payloads.flatMap((payload) => (payload.type === 'text' ? [payload.text] : [])).join('\n\n');
  const verdict = acceptCompaction({ throughSeq: plan.throughSeq, before: plan.tokens, summary });
  const isAccepted = error === undefined && verdict.kind === 'accepted';
  const failure =
    error ??
    (verdict.kind === 'refused'
      ? ({ kind: 'format', message: `the summary was not kept: ${verdict.because}` } as const)
      : undefined);
  const outcome = isAccepted ? 'completed' : error?.kind === 'aborted' ? 'aborted' : 'failed';
  await journal.append([
    ...(isAccepted ? [{ type: 'context.compacted', data: verdict.data } satisfies SessionEventDraft] : []),
    {
      type: 'span.completed',
      data: {
        spanId,
        kind: 'compaction',
        outcome,
        modelSteps,
        ...(usage === undefined ? {} : { usage }),
        ...(failure === undefined || isAccepted ? {} : { error: failure }),
      },
    },
  ]);
}

function planFor({
  agent,
  journal: { state },
  transcript,
  consumed,
  remaining,
}: CompactionOptions): CompactionPlan | undefined {
  if (agent.definition.context.whenFull !== 'summarize') return undefined;
  const maxTokens = maxContextTokens(agent.definition);
  if (estimateMessages(transcript.messages(consumed)) <= maxTokens * FULL_SHARE) return undefined;
  if (state.head - (state.compactionTriedAtSeq ?? -Infinity) < EVENTS_BETWEEN_TRIES) return undefined;
  const room =
    Math.min(maxTokens, remaining.tokens ?? Infinity) - summaryTokens(agent) - estimateTokens(SUMMARY_INSTRUCTIONS);
  return room > 0
    ? planCompaction({ rows: transcript.rows(consumed), maxTokens: Math.floor(room), keepExchanges: KEEP_EXCHANGES })
    : undefined;
}

function requestFor({ agent, journal: { state }, runId, runConfig }: CompactionOptions, text: string): RunRequest {
  const { workspaceDirectory, agentDirectory } = agent;
  return {
    runId,
    sessionId: state.sessionId,
    instructions: SUMMARY_INSTRUCTIONS,
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    config: runConfig,
    workspaceDir: workspaceDirectory,
    agentDir: agentDirectory,
    modelStepsTaken: state.modelSteps,
    tools: [],
    budget: { maxOutputTokens: summaryTokens(agent) },
  };
}

function summaryTokens({ definition }: PreparedAgent): number {
  return Math.min(MAX_SUMMARY_TOKENS, Math.floor(maxContextTokens(definition) / 4));
}
