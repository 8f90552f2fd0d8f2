/** How the spans end: with what was used, and with an error where something failed. */
import type { SessionEventData } from '../session/session-event.ts';
import type { SpanContents } from './span-contents.ts';
import type { SpanAttributes, SpanEnd, SpanStatus } from './span-operation.ts';
import { providerName, usageAttributes } from './span-words.ts';

type Ending = Pick<SpanEnd, 'attributes' | 'status'>;

/** What the steps of a wake used together. */
export interface WakeTotals {
  inputTokens: number;
  outputTokens: number;
  cost: number;
  /** Of the last step, as the conventions call it. */
  provider: string | undefined;
}

const FAILED_WAKES: ReadonlySet<string> = new Set(['failed', 'lost']);

interface WakeEndContext {
  readonly totals: WakeTotals;
  /** Why it ended, where no event says it. */
  readonly errorType: string | undefined;
  readonly contents: SpanContents;
}

export function wakeEnd(
  data: SessionEventData<'wake.ended'> | undefined,
  { totals, errorType, contents }: WakeEndContext,
): Ending {
  const { inputTokens, outputTokens, cost, provider } = totals;
  const usage =
    inputTokens + outputTokens === 0
      ? {}
      : usageAttributes({ inputTokens, outputTokens, ...(cost === 0 ? {} : { cost }) });
  const failure =
    errorType ??
    (data !== undefined && FAILED_WAKES.has(data.outcome) ? (data.error?.code ?? data.outcome) : undefined);
  const attributes: SpanAttributes = {
    ...(provider === undefined ? {} : { 'gen_ai.provider.name': provider }),
    ...usage,
    ...(data === undefined
      ? {}
      : { 'wakechart.wake.outcome': data.outcome, 'wakechart.wake.model_steps': data.modelSteps }),
    ...(data?.budget === undefined ? {} : { 'wakechart.wake.budget': data.budget.name }),
    ...(failure === undefined ? {} : { 'error.type': failure }),
  };
  return {
    attributes,
    status:
      failure === undefined ? { code: 'unset' } : { code: 'error', message: contents.message(data?.error?.message) },
  };
}

interface EndedStep {
  readonly provider: string;
  readonly model: string;
  readonly attempts: number;
  readonly waitedMs: number;
  readonly texts: readonly string[];
}

export function stepEnd(
  { outcome, usage, error }: SessionEventData<'span.completed'>,
  { provider, model, attempts, waitedMs, texts }: EndedStep,
  contents: SpanContents,
): Ending {
  const failure = outcome === 'failed' || outcome === 'lost' ? (error?.kind ?? outcome) : undefined;
  const attributes: SpanAttributes = {
    ...usageAttributes(usage),
    ...contents.output(texts),
    'wakechart.step.outcome': outcome,
    'wakechart.step.attempts': attempts,
    ...(waitedMs === 0 ? {} : { 'wakechart.step.waited_ms': waitedMs }),
    // Another candidate may have answered than the one that was asked first.
    ...(failure === undefined
      ? { 'gen_ai.provider.name': providerName(provider), 'gen_ai.response.model': model }
      : { 'error.type': failure }),
  };
  return {
    attributes,
    status: failure === undefined ? { code: 'unset' } : { code: 'error', message: contents.message(error?.message) },
  };
}

type ToolOutcome = SessionEventData<'agent.tool_result'>['outcome'];

const TOOL_ERRORS: Readonly<Record<ToolOutcome, string | undefined>> = {
  completed: undefined,
  failed: 'failed',
  denied: undefined,
  cancelled: undefined,
  unknown: 'lost',
};

export function toolStatus(outcome: ToolOutcome): {
  readonly errorType: string | undefined;
  readonly status: SpanStatus;
} {
  const errorType = TOOL_ERRORS[outcome];
  return { errorType, status: errorType === undefined ? { code: 'unset' } : { code: 'error' } };
}
