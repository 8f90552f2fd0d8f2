/** What was seen of charts while they worked: how it is written down, and how what several have seen becomes one. */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { describeIssues, parseOrThrow } from '../validate.ts';
import type { ChartHits } from './chart-change.ts';

const HITS_FORMAT = 'chart-hits/1';

const counts = z.record(z.string().max(2_000), z.int().nonnegative());

const chartHits = z.strictObject({ chart: z.string().max(500), transitions: counts, pairs: counts });

const hitsFile = z.strictObject({
  format: z.literal(HITS_FORMAT),
  charts: z.array(chartHits).max(100_000),
});

const HITS_HINT = 'Give the hits of coverChart for this chart, also where nothing was taken yet.';

/** @param chart its id @throws RuntimeError HITS_INVALID for what is none, and for hits of another chart */
export function hitsOfChart(chart: string, value: unknown): ChartHits {
  const hits = parseOrThrow(chartHits, value, {
    what: `what was seen of the chart "${chart}"`,
    code: 'HITS_INVALID',
    hint: HITS_HINT,
  });
  if (hits.chart === chart) return hits;
  throw new RuntimeError('HITS_INVALID', `expected what was seen of the chart "${chart}", received "${hits.chart}"`, {
    category: 'validation',
    hint: HITS_HINT,
  });
}

/** @param name of the file, for the error @throws RuntimeError HITS_UNREADABLE */
export function parseHits(text: string, name: string): readonly ChartHits[] {
  const refuse = (because: string, cause?: unknown): RuntimeError =>
    new RuntimeError('HITS_UNREADABLE', `expected "${name}" to hold what a test run has seen of charts: ${because}`, {
      category: 'validation',
      hint: 'Run the tests again: each run writes these files anew.',
      ...(cause === undefined ? {} : { cause }),
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse('it is no JSON', error);
  }
  const parsed = hitsFile.safeParse(value);
  if (!parsed.success) throw refuse(describeIssues(parsed.error).join('; '));
  return parsed.data.charts;
}

/** One for each chart, by the names of the charts; the counts are added up. */
export function mergeHits(all: Iterable<ChartHits>): readonly ChartHits[] {
  const charts = new Map<string, { readonly transitions: Map<string, number>; readonly pairs: Map<string, number> }>();
  for (const { chart, transitions, pairs } of all) {
    const sums = charts.get(chart) ?? { transitions: new Map<string, number>(), pairs: new Map<string, number>() };
    charts.set(chart, sums);
    addTo(sums.transitions, transitions);
    addTo(sums.pairs, pairs);
  }
  return [...charts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([chart, { transitions, pairs }]) => ({ chart, transitions: sorted(transitions), pairs: sorted(pairs) }));
}

function addTo(sums: Map<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [id, count] of Object.entries(more)) sums.set(id, (sums.get(id) ?? 0) + count);
}

function sorted(sums: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
