/** One call of a model, to its end or to the end of our patience, with what it streamed and what it cost. */
import { messageOf } from '../../machines/errors.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import type { AgentRunEvent, RunUsage } from '../../machines/run/run-output.ts';
import { StreamStepMessageBuilder } from '../../machines/turn/step-message.ts';
import type { Clock } from '../clock/clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../run/agent-runtime.ts';
import { startAgentRun } from '../run/start-agent-run.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { settledOrStopped } from '../turn/settled-or-stopped.ts';
import { pricedUsage } from './wake-budget.ts';

export interface ModelRunOptions {
  readonly runtime: AgentRuntime;
  readonly params: AgentRunParams;
  readonly signal: AbortSignal;
  readonly force: AbortSignal | undefined;
  readonly clock: Clock;
  readonly prices: PriceTable;
  readonly onRunEvent?: ((event: AgentRunEvent) => void) | undefined;
  readonly onListenerError: OnListenerError;
}

export interface FinishedRun {
  readonly result: AgentRunResult;
  readonly usage: RunUsage | undefined;
  readonly modelSteps: number;
  /** What it said until then, for a backend that returns nothing of a step that was stopped. */
  readonly streamedText: string;
}

/** Never rejects: whatever goes wrong is part of the result. */
export async function runModel({ runtime, params, signal, force, clock, prices, onRunEvent, onListenerError }: ModelRunOptions): Promise<FinishedRun> {
  const streamed = new StreamStepMessageBuilder();
  const onEvent = (event: AgentRunEvent): void => {
    streamed.ingest(event);
    onRunEvent?.(event);
  };
  const run = startAgentRun(runtime, { ...params, abortSignal: signal, onEvent }, { onListenerError });
  const result = await settledOrStopped(run.result, { signal, force, clock, givenUp: () => givenUpRun(signal) });
  const streamedText = streamed.get().content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  return { result, usage: pricedUsage(result.usage, params, prices), modelSteps: result.meta?.modelSteps ?? (result.meta?.error === undefined ? 1 : 0), streamedText };
}

function givenUpRun({ reason }: AbortSignal): AgentRunResult {
  return { payloads: [], meta: { error: { kind: 'aborted', message: `${messageOf(reason)} (the backend did not stop in time)` }, modelSteps: 0 } };
}
