/** Our own charts with one thing changed in each, as somebody might by mistake. */
import { StateMachine } from 'xstate';
import type { Chart } from '../../../src/machines/inspection/chart.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';

/** A part of a machine's definition, as far as the edits go into it. */
export interface Part {
  [key: string]: unknown;
}

/** @param path keys and indexes, with a slash between them; empty for the whole */
export function partAt(config: Part, path: string): Part {
  return path
    .split('/')
    .filter((key) => key !== '')
    .reduce<Part>((part, key) => (part[key] ??= {}) as Part, config);
}

/** @throws Error when there is none */
export function ourChart(id: string): Chart {
  const found = charts.find(({ machine }) => machine.id === id);
  if (found === undefined) throw new Error(`there is no chart ${id}`);
  return found;
}

/** The chart with its definition changed; what its names stand for stays. */
export function edited(chart: Chart, edit: (config: Part) => void): Chart {
  const config = copied(chart.machine.config) as Part;
  edit(config);
  return { ...chart, machine: new StateMachine(config as never, chart.machine.implementations as never) };
}

/** Functions and classes stay as they are. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copied(inner)]));
}
