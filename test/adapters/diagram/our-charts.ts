/** The descriptions of all our charts, as audits have them. */
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import type { ChartDescription } from '../../../src/machines/inspection/chart-description.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';

export const ourCharts: readonly ChartDescription[] = charts.map(({ machine, events }) =>
  describeChart(machine, events === undefined ? {} : { events }),
);

/** @throws Error when there is none */
export function ourChart(id: string): ChartDescription {
  const found = ourCharts.find((chart) => chart.id === id);
  if (found === undefined) throw new Error(`there is no chart ${id}`);
  return found;
}
