/** Which charts a command is about: the project's own or those of a module, all or some of them. */
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { charts as ownCharts } from '../../machines/inspection/chart-catalog.ts';
import type { Chart } from '../../machines/inspection/chart.ts';
import { chartsOfModule } from './chart-module.ts';

export interface ChartChoice {
  /** Ids; none: all. */
  readonly charts: readonly string[];
  readonly module?: string | undefined;
}

/** The charts that are meant, and whether they are all there are. */
export interface MeantCharts {
  readonly charts: readonly Chart[];
  readonly isAll: boolean;
}

export async function chartsMeant({ charts: ids, module }: ChartChoice): Promise<MeantCharts> {
  const all = module === undefined ? ownCharts : await chartsOfModule(module);
  if (ids.length === 0) return { charts: all, isAll: true };
  const known = all.map(({ machine }) => machine.id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return { charts: all.filter(({ machine }) => ids.includes(machine.id)), isAll: false };
  const near = closestName(unknown, known);
  throw new RuntimeError('CHART_NOT_FOUND', `there is no chart "${unknown}"`, {
    category: 'not_found',
    hint:
      near === undefined ? `There are ${known.join(', ')}.` : `Did you mean "${near}"? There are ${known.join(', ')}.`,
  });
}
