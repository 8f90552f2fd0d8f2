/**
 * What a chart says about itself in the `meta` of its states, for audits: what becomes of events that no state takes,
 * and what may stand as it is, with the reason.
 */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { ROOT } from './chart-states.ts';
import type { ChartWaiver } from './chart-description.ts';

const sentence = z.string().trim().min(1);

/**
 * `meta` of a state, or of the root, where it holds for all states below it too: `waives: { 'ignored-command': { STOP:
 * 'why' }, 'unbounded-wait': 'why' }`, by the rule that would complain, and by the event where it is about one.
 * `unhandled` stands at the root only.
 */
const chartNotes = z.object({
  unhandled: z.strictObject({ as: z.enum(['ignored', 'rejected']), because: sentence }).optional(),
  waives: z.record(z.string(), z.union([sentence, z.record(z.string(), sentence)])).optional(),
});

export type ChartNotes = z.input<typeof chartNotes>;

export interface StateNotes {
  readonly unhandled: { readonly as: 'ignored' | 'rejected'; readonly because: string } | undefined;
  readonly waivers: readonly ChartWaiver[];
}

/** @param state its id @throws RuntimeError CHART_NOTES_INVALID */
export function notesOf(chart: string, state: string, meta: unknown): StateNotes {
  const parsed = chartNotes.safeParse(meta ?? {});
  if (!parsed.success) {
    throw new RuntimeError(
      'CHART_NOTES_INVALID',
      `chart "${chart}", state "${state}": the notes for audits in its meta cannot be read: ${z.prettifyError(parsed.error)}`,
      {
        category: 'validation',
        hint: 'Write meta: { waives: { RULE: REASON } } or { waives: { RULE: { EVENT: REASON } } }, and unhandled: { as, because } at the root.',
      },
    );
  }
  const { unhandled, waives = {} } = parsed.data;
  if (unhandled !== undefined && state !== ROOT) {
    throw new RuntimeError(
      'CHART_NOTES_INVALID',
      `chart "${chart}", state "${state}": \`unhandled\` is said of a whole chart`,
      { category: 'validation', hint: 'Move it to the meta of the root.' },
    );
  }
  const waivers = Object.entries(waives).flatMap(([rule, reasons]): ChartWaiver[] =>
    typeof reasons === 'string'
      ? [{ state, rule, event: '*', because: reasons }]
      : Object.entries(reasons).map(([event, because]) => ({ state, rule, event, because })),
  );
  return { unhandled, waivers };
}
