/** Metrics in the text format of Prometheus, version 0.0.4, which every scraper of it reads. */
import type { MetricFamily, MetricSample } from './metric-registry.ts';

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function prometheusText(families: readonly MetricFamily[]): string {
  return families
    .map(({ name, kind, help, samples }) =>
      [
        `# HELP ${name} ${escaped(help)}`,
        `# TYPE ${name} ${kind}`,
        ...samples.map((sample) => lineOf(name, sample)),
        '',
      ].join('\n'),
    )
    .join('');
}

function lineOf(name: string, { suffix, labels, value }: MetricSample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}`;
}

/** A line is a line, whatever a tool is called. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
