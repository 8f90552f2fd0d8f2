/**
 * Everything about outcomes that goes along with a runtime: tools, what is evaluated by itself, and the service for
 * programs.
 */
import type { Tool } from '../turn/tool.ts';
import type { WakeHook } from '../wake/wake-hook.ts';
import { createOutcomeHook } from './outcome-hook.ts';
import { OutcomeEvaluator } from './outcome-evaluator.ts';
import type { OutcomeEvaluatorOptions } from './outcome-evaluator.ts';
import { createOutcomeTools } from './outcome-tools.ts';

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
