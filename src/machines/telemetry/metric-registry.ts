/** What was counted, as a scraper reads it: sums by metric and labels, since the book was opened. */
import { METRICS } from './metric-catalog.ts';
import type { MetricChange, MetricKind, MetricLabels, MetricName, MetricReading } from './metric-catalog.ts';

/** Of one metric. More labels together than that are counted in none: the sums that there are go on. */
const MAX_SERIES = 2_000;

/** `suffix` of a histogram: which of its parts. */
export interface MetricSample {
  readonly suffix: '' | '_bucket' | '_sum' | '_count';
  readonly labels: MetricLabels;
  readonly value: number;
}

/** All samples of one metric. */
export interface MetricFamily {
  readonly name: MetricName;
  readonly kind: MetricKind;
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

interface Series {
  readonly labels: MetricLabels;
  sum: number;
  count: number;
  /** For each bound how many were no more than it. */
  readonly buckets: number[];
}

export class MetricRegistry {
  readonly #metrics = new Map<MetricName, Map<string, Series>>();

  apply(changes: readonly MetricChange[]): void {
    for (const { metric, labels, value } of changes) {
      const series = this.#seriesOf(metric, labels);
      if (series === undefined) continue;
      series.sum += value;
      series.count += 1;
      for (const [index, bound] of boundsOf(metric).entries())
        if (value <= bound) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    }
  }

  /** With what was read just now. A metric without a sample is left out. */
  families(readings: readonly MetricReading[] = []): MetricFamily[] {
    return NAMES.flatMap((name) => {
      const { kind, help } = METRICS[name];
      const samples = [
        ...[...(this.#metrics.get(name)?.values() ?? [])].flatMap((series) => samplesOf(name, series)),
        ...readings
          .filter(({ metric }) => metric === name)
          .map(({ labels, value }): MetricSample => ({ suffix: '', labels, value })),
      ];
      return samples.length === 0 ? [] : [{ name, kind, help, samples }];
    });
  }

  #seriesOf(metric: MetricName, labels: MetricLabels): Series | undefined {
    const all = this.#metrics.get(metric) ?? new Map<string, Series>();
    this.#metrics.set(metric, all);
    const ordered = Object.fromEntries(METRICS[metric].labels.map((label) => [label, labels[label] ?? '']));
    const key = JSON.stringify(ordered);
    const known = all.get(key);
    if (known !== undefined || all.size >= MAX_SERIES) return known;
    const made: Series = { labels: ordered, sum: 0, count: 0, buckets: boundsOf(metric).map(() => 0) };
    all.set(key, made);
    return made;
  }
}

const NAMES = Object.keys(METRICS) as MetricName[];

function boundsOf(metric: MetricName): readonly number[] {
  return METRICS[metric].buckets ?? [];
}

function samplesOf(metric: MetricName, { labels, sum, count, buckets }: Series): MetricSample[] {
  if (METRICS[metric].kind !== 'histogram') return [{ suffix: '', labels, value: sum }];
  const bounds = [...boundsOf(metric).map(String), '+Inf'];
  return [
    ...bounds.map((le, index): MetricSample => ({
      suffix: '_bucket',
      labels: { ...labels, le },
      value: buckets[index] ?? count,
    })),
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ];
}
