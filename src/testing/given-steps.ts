/** Steps that a test gives: what no step is, and what is misspelt, must not pass for done. */
import { z } from 'zod';
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import { parseOrThrow } from '../machines/validate.ts';
import { INVALID_CHECK } from './invalid-check.ts';

const event = z.looseObject({ type: z.string().min(1) });
const call = z.string().min(1);
const output = z.unknown().optional();

const givenSteps = z.array(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('event'), event }),
    z.strictObject({ kind: z.literal('done'), call, output }),
    z.strictObject({ kind: z.literal('error'), call }),
    z.strictObject({ kind: z.literal('wait'), ms: z.number().nonnegative() }),
    z.strictObject({ kind: z.literal('lost'), call }),
    z.strictObject({ kind: z.literal('late'), call, output }),
    z.strictObject({ kind: z.literal('again'), event }),
    z.strictObject({ kind: z.literal('restart') }),
  ]),
);

/** @returns the steps as they were given @throws RuntimeError CHART_CHECK_INVALID */
export function checkedSteps(steps: readonly ChartStep[]): readonly ChartStep[] {
  parseOrThrow(givenSteps, steps, { what: 'the list of steps', ...INVALID_CHECK });
  return steps;
}
