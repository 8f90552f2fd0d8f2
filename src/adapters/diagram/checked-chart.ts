/** Checks what is to be drawn: descriptions also come from files, and what draws them relies on their order. */
import * as z from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import { chartDescription } from '../../machines/inspection/chart-description.ts';
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { Marks } from './diagram-plan.ts';

const MOST_STATES = 20_000;
const MOST_TRANSITIONS = 100_000;
const MOST_IDS = 100_000;
const MAX_LAYOUT_MS = 600_000;

const HINT = 'Give what describeChart() returns, as it is.';

/** @throws RuntimeError CHART_INVALID */
export function checkedChart(value: unknown): ChartDescription {
  const chart = parseOrThrow(chartDescription, value, { what: 'chart description', code: 'CHART_INVALID', hint: HINT });
  if (chart.states.length > MOST_STATES)
    throw invalid(chart, `it has ${chart.states.length} states; ${MOST_STATES} are the most`);
  if (chart.transitions.length > MOST_TRANSITIONS)
    throw invalid(chart, `it has ${chart.transitions.length} transitions; ${MOST_TRANSITIONS} are the most`);
  const known = new Set<string>();
  for (const [index, { id, parent }] of chart.states.entries()) {
    if (known.has(id)) throw invalid(chart, `two states have the id "${id}"`);
    if (index === 0 ? id !== ROOT || parent !== undefined : parent === undefined || !known.has(parent))
      throw invalid(
        chart,
        `state "${id}" does not come after a parent of its own; the root has the empty id and comes first`,
      );
    known.add(id);
  }
  if (known.size === 0) throw invalid(chart, 'it has no states');
  return chart;
}

const ids = z.array(z.string()).max(MOST_IDS).readonly();

const renderOptions = z.strictObject({
  theme: z.enum(['auto', 'light', 'dark']).default('auto'),
  active: ids.default([]),
  marks: z
    .strictObject({ added: ids.default([]), removed: ids.default([]), changed: ids.default([]) })
    .default({ added: [], removed: [], changed: [] }),
  title: z.boolean().default(true),
  styles: z.enum(['inside', 'outside']).default('inside'),
  cacheDirectory: z.string().min(1).optional(),
  layoutMs: z.int().min(1).max(MAX_LAYOUT_MS).optional(),
});

export type CheckedOptions = z.output<typeof renderOptions>;

/** @throws RuntimeError RENDER_OPTIONS_INVALID */
export function checkedOptions(value: unknown): CheckedOptions {
  return parseOrThrow(renderOptions, value, {
    what: 'options of a diagram',
    code: 'RENDER_OPTIONS_INVALID',
    hint: 'Known are theme, active, marks, title, styles, cacheDirectory and layoutMs.',
  });
}

export function marksOf({ added, removed, changed }: CheckedOptions['marks']): Marks {
  return new Map([
    ...changed.map((id) => [id, 'changed'] as const),
    ...added.map((id) => [id, 'added'] as const),
    ...removed.map((id) => [id, 'removed'] as const),
  ]);
}

function invalid({ id }: ChartDescription, problem: string): RuntimeError {
  return new RuntimeError('CHART_INVALID', `the description of chart "${id}" is not valid: ${problem}`, {
    category: 'validation',
    hint: HINT,
  });
}
