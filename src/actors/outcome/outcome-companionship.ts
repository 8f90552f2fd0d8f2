/**
 * Everything about outcomes that goes along with a runtime: tools, what is evaluated by itself, and the service for
 * programs.
 */
import type { Tool } from '../turn/tool.ts';
import type { WakeCompanion } from '../wake/wake-companion.ts';
import { createOutcomeCompanion } from './outcome-companion.ts';
import { OutcomeEvaluator } from './outcome-evaluator.ts';
import type { OutcomeEvaluatorOptions } from './outcome-evaluator.ts';
import { createOutcomeTools } from './outcome-tools.ts';

export interface OutcomeCompanionship {
  readonly evaluator: OutcomeEvaluator;
  readonly tools: readonly Tool[];
  readonly companion: WakeCompanion;
  close(): Promise<void>;
}

export function createOutcomes(options: OutcomeEvaluatorOptions): OutcomeCompanionship {
  const evaluator = new OutcomeEvaluator(options);
  const own = { ...options, evaluator };
  return {
    evaluator,
    tools: createOutcomeTools(own),
    companion: createOutcomeCompanion(own),
    close: () => evaluator.close(),
  };
}
