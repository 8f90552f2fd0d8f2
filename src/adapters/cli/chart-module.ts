/** The charts of a user's module: every machine that it exports, alone, with what is known about it, or in a list. Its code runs when it is loaded. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { Chart } from '../../machines/inspection/chart.ts';
import { machineOf } from '../../machines/inspection/describe-chart.ts';
import type { ChartSource } from '../../machines/inspection/describe-chart.ts';

/** In the order of their names in the module; one that is exported twice counts once. @throws RuntimeError MODULE_NOT_FOUND, MODULE_FAILED, MODULE_WITHOUT_CHARTS, CHART_ID_TWICE */
export async function chartsOfModule(file: string): Promise<readonly Chart[]> {
  const path = resolve(file);
  if ((await stat(path).catch(() => undefined))?.isFile() !== true) {
    throw new RuntimeError('MODULE_NOT_FOUND', `expected a module at ${file}; there is no such file`, { category: 'not_found', hint: 'The path is taken from the folder you are in.' });
  }
  const exported = await load(path, file);
  const found = new Map<object, Chart>();
  for (const value of Object.values(exported)) for (const chart of chartsIn(value)) if (!found.has(chart.machine) || chart.events !== undefined) found.set(chart.machine, chart);
  const charts = [...found.values()];
  if (charts.length === 0) {
    throw new RuntimeError('MODULE_WITHOUT_CHARTS', `expected ${file} to export an XState 5 machine, { machine, events } or a list of them; it exports ${Object.keys(exported).join(', ') || 'nothing'}`, {
      category: 'validation',
      hint: 'Export what createMachine() or setup().createMachine() returns.',
    });
  }
  refuseTwice(charts, file);
  return charts;
}

async function load(path: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const isTypeScript = /\.[cm]?ts$/.test(path);
    throw new RuntimeError('MODULE_FAILED', `${file} could not be loaded: ${messageOf(cause)}`, {
      category: 'validation',
      hint: isTypeScript ? 'Compile it first: Node loads JavaScript.' : 'Load it with node by itself to see where it fails.',
      cause,
    });
  }
}

function chartsIn(value: unknown): readonly Chart[] {
  if (Array.isArray(value)) return value.flatMap(chartsIn);
  if (typeof value !== 'object' || value === null) return [];
  try {
    const machine = machineOf(value as ChartSource);
    // A description of a chart beside its machine; a compiled lifecycle has a machine too, and nothing of the rest.
    return 'machine' in value && !('transition' in value) ? [value as Chart] : [{ machine }];
  } catch {
    return [];
  }
}

function refuseTwice(charts: readonly Chart[], file: string): void {
  const ids = charts.map(({ machine }) => machine.id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice === undefined) return;
  throw new RuntimeError('CHART_ID_TWICE', `${file} exports two charts with the id "${twice}"`, { category: 'conflict', hint: 'Give each machine an id of its own: pages and files are named by it.' });
}
