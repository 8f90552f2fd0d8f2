/**
 * What a written audit is needed for later: the chart as it was, and the configurations that were found. The rest of
 * the file is for people.
 */
import * as z from 'zod';
import { chartDescription } from './chart-description.ts';

const writtenAudit = z.object({
  format: z.literal('chart-audit/1'),
  chart: chartDescription,
  configurations: z.array(z.object({ value: z.json(), leaves: z.array(z.string()), path: z.array(z.string()) })),
});

export type WrittenAudit = z.output<typeof writtenAudit>;

/** @throws ZodError */
export function readWrittenAudit(value: unknown): WrittenAudit {
  return writtenAudit.parse(value);
}
