/** Charts as pictures and pages: what is said of them in `wakechart/machines`, drawn. */
import type { RenderOptions } from '../adapters/diagram/render-chart.ts';
import type { ChartHits } from '../machines/inspection/chart-change.ts';
import type { ChartDescription } from '../machines/inspection/chart-description.ts';
import type { ChartSource } from '../machines/inspection/describe-chart.ts';

/**
 * The chart as an SVG document, by ELK, which is loaded only now.
 */
export async function renderChart(description: ChartDescription, options?: RenderOptions): Promise<string> {
  return (await import('../adapters/diagram/render-chart.ts')).renderChart(description, options);
}

/**
 * What was seen of a chart, as an HTML page that stands alone: the chart with what was taken and what never was, and the
 * shortest way to each transition that is missing. `hits` are those of `coverChart`.
 * @throws RuntimeError CHART_EXPECTED, HITS_INVALID, RENDER_OPTIONS_INVALID
 */
export async function renderCoverage(
  chart: ChartSource,
  hits: ChartHits,
  options?: Pick<RenderOptions, 'theme' | 'cacheDirectory'>,
): Promise<string> {
  return (await import('../adapters/diagram/coverage-page.ts')).renderCoverage(chart, hits, options);
}
