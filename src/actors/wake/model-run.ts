/**
 * One model step over its candidates, to its end or to the end of our patience, with what it streamed and what it cost.
 */
import type { AnyActorRef } from 'xstate';
import type { Candidate, ModelChoice } from '../../machines/run/candidate.ts';
import type { AgentRunEvent, RunUsage } from '../../machines/run/run-output.ts';
import { StreamStepMessageBuilder } from '../../machines/turn/step-message.ts';
import type { AgentRunResult, AgentRuntime } from '../run/agent-runtime.ts';
import { executeAgentRun } from '../run/execute-agent-run.ts';
import type { ExecuteAgentRunOptions, RunDecisionRecord, RunRequest } from '../run/run-options.ts';
import { pricedUsage } from './wake-budget.ts';
import type { WakePorts } from './wake-ports.ts';

export interface ModelRunOptions extends Pick<
  ExecuteAgentRunOptions,
  'compact' | 'resumption' | 'usageOf' | 'outputBound' | 'costBound'
> {
  readonly ports: WakePorts;
  readonly request: RunRequest;
  readonly models: readonly ModelChoice[];
  readonly signal: AbortSignal;
  readonly force: AbortSignal | undefined;
  readonly onRunEvent?: ((event: AgentRunEvent) => void) | undefined;
  readonly onDecision?: ((decision: RunDecisionRecord) => Promise<void>) | undefined;
  /** The wake's actor. */
  readonly parent: AnyActorRef | undefined;
}

export interface FinishedRun {
  readonly result: AgentRunResult;
  readonly usage: RunUsage | undefined;
  readonly modelSteps: number;
  /** What it said until then, for a backend that returns nothing of a step that was stopped. */
  readonly streamedText: string;
  /** Who was asked last; absent when no candidate could be tried. */
  readonly candidate: Candidate | undefined;
  readonly runtime: AgentRuntime | undefined;
}

/** What the backend broke, or the log could not be told, is part of the result. Never rejects. */
export async function runModel({
  ports,
  signal,
  onRunEvent,
  onDecision,
  ...run
}: ModelRunOptions): Promise<FinishedRun> {
  const { clock, prices, onListenerError, runtimes: registry, profiles, candidateHealth, runLimits: limits } = ports;
  let streamed = new StreamStepMessageBuilder();
  let chosen: Extract<RunDecisionRecord, { readonly type: 'selected' }> | undefined;
  const execution = executeAgentRun({
    usageOf: ({ candidate, result: { usage } }) => pricedUsage(usage, candidate, prices),
    ...run,
    registry,
    profiles,
    candidateHealth,
    limits,
    clock,
    signal,
    onListenerError,
    onEvent(event) {
      // What an attempt said that failed counts for nothing.
      if (event.stream === 'attempt' && event.data.phase === 'started') streamed = new StreamStepMessageBuilder();
      streamed.ingest(event);
      onRunEvent?.(event);
    },
    async onDecision(decision) {
      if (decision.type === 'selected') chosen = decision;
      await onDecision?.(decision);
    },
  });
  const result = await execution.result;
  const { content } = streamed.get();
  // Of a backend that runs tools itself, what was said before them is in the log.
  const unlogged =
    chosen?.backend.runs === 'turn'
      ? content.slice(content.findLastIndex(({ type }) => type === 'tool_call') + 1)
      : content;
  const streamedText = unlogged.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const modelSteps = result.meta?.modelSteps ?? 0;
  return {
    result,
    usage: result.usage,
    modelSteps,
    streamedText,
    candidate: chosen?.candidate,
    runtime: chosen?.backend,
  };
}
