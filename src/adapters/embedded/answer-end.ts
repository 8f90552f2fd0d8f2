/** How an answer ended: whether it counts as one, and what it cost. */
import { beginningOf } from '../../machines/cut-text.ts';
import type { RunUsage } from '../../machines/run/run-output.ts';
import type { Answer } from './answer.ts';
import type { FinishPart } from './language-model.ts';
import { StepFailure, brokenAnswer } from './step-failure.ts';

const SHOWN_CHARACTERS = 500;

/** How providers say that the conversation filled the model's context before the answer was complete. */
const CONTEXT_IS_FULL: readonly string[] = ['model_context_window_exceeded', 'context_length_exceeded'];

/** Undefined when it counts. An answer that was cut at the limit of output counts as far as it goes. */
export function failureIn(answer: Answer): StepFailure | undefined {
  const { finish } = answer;
  if (finish === undefined) return brokenAnswer('it ended before it was complete');
  const { unified, raw } = finish.finishReason;
  const reason: string = unified;
  // What the SDK says when the provider said nothing.
  if (reason === 'interrupted' || (reason === 'other' && raw === undefined))
    return brokenAnswer('it ended before it was complete');
  if (reason === 'error') return brokenAnswer(`it ended with an error${raw === undefined ? '' : ` (${raw})`}`);
  if (reason === 'content-filter') return refusal(answer, raw);
  return answer.isEmpty ? emptyAnswer(reason, raw) : undefined;
}

function refusal({ text }: Answer, raw: string | undefined): StepFailure {
  const said = text.trim() === '' ? '' : `: ${beginningOf(text.trim(), SHOWN_CHARACTERS)}`;
  return new StepFailure({
    kind: 'refusal',
    message: `the provider refused to answer${raw === undefined ? '' : ` (${raw})`}${said}`,
  });
}

function emptyAnswer(reason: string, raw: string | undefined): StepFailure {
  if (raw !== undefined && CONTEXT_IS_FULL.includes(raw))
    return new StepFailure({
      kind: 'context_overflow',
      message: `the conversation fills the context of the model (${raw})`,
    });
  const why = reason === 'length' ? ': it reached its limit of output tokens before it said anything' : '';
  return new StepFailure({ kind: 'empty_response', message: `the model said nothing and asked for no tool${why}` });
}

/** What the provider told of it; undefined when it told nothing. */
export function usageIn({ usage }: FinishPart): RunUsage | undefined {
  const { inputTokens, outputTokens, raw } = usage;
  const told = {
    inputTokens: count(inputTokens.total),
    outputTokens: count(outputTokens.total),
    cachedInputTokens: count(inputTokens.cacheRead),
    cacheWriteTokens: count(inputTokens.cacheWrite),
    reasoningTokens: count(outputTokens.reasoning),
    // Only some say what it cost, OpenRouter for one.
    cost: amount(raw?.['cost']),
  };
  const known = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)) as RunUsage;
  return tellsNothing(known) ? undefined : known;
}

/** Servers that count nothing are shown by the SDK as if they had counted zero. */
function tellsNothing({ inputTokens = 0, outputTokens = 0, cost = 0 }: RunUsage): boolean {
  return inputTokens === 0 && outputTokens === 0 && cost === 0;
}

function count(value: unknown): number | undefined {
  const known = amount(value);
  return known === undefined ? undefined : Math.round(known);
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
