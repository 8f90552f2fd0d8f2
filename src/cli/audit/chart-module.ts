/**
 * The charts of a user's module: every machine that it exports, alone, with what is known about it, or in a list. Its
 * code runs when it is loaded.
 */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { watchLoading } from '../user-module.ts';
import type { Chart } from '../../machines/inspection/chart.ts';
import { chartOf } from '../../machines/inspection/describe-chart.ts';
import type { ChartSource } from '../../machines/inspection/describe-chart.ts';

/** How long a module may take to load, in milliseconds. */
const LOAD_TIMEOUT_MS = 30_000;

const ALONE = 'Export the machines from a module that does nothing else.';

/** How deep lists and plain objects are examined: `export default { doors: [front, back] }`. */
const MAX_DEPTH = 3;

/**
 * In the order of their names in the module; one that is exported twice counts once.
 * @throws RuntimeError MODULE_NOT_FOUND, MODULE_FAILED, MODULE_WITHOUT_CHARTS, CHART_ID_TWICE
 */
export async function chartsOfModule(
  file: string,
  { timeoutMs = LOAD_TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<readonly Chart[]> {
  const path = resolve(file);
  const there = await stat(path).catch(() => undefined);
  if (there?.isFile() !== true) {
    throw new RuntimeError(
      'MODULE_NOT_FOUND',
      `expected a module at ${file}; ${there === undefined ? 'there is no such file' : 'that is no file'}`,
      { category: 'not_found', hint: 'The path is taken from the folder you are in.' },
    );
  }
  const exported = await load(path, { file, timeoutMs });
  const found = new Map<object, Chart>();
  for (const value of Object.values(exported))
    for (const chart of chartsIn(value))
      if (!found.has(chart.machine) || chart.events !== undefined) found.set(chart.machine, chart);
  const charts = [...found.values()];
  if (charts.length === 0) {
    throw new RuntimeError(
      'MODULE_WITHOUT_CHARTS',
      `expected ${file} to export an XState 5 machine, { machine, events }, or a list or an object of them; it exports ${Object.entries(exported).map(exportWord).toSorted().join(', ') || 'nothing'}`,
      {
        category: 'validation',
        hint: 'Export what createMachine() or setup().createMachine() returns. Functions are not called, and classes are not examined.',
      },
    );
  }
  refuseTwice(charts, file);
  return charts;
}

function exportWord([name, value]: readonly [string, unknown]): string {
  return typeof value === 'function' ? `${name} (a function or class)` : name;
}

interface Loading {
  readonly file: string;
  readonly timeoutMs: number;
}

/** What the module exports, promises awaited. */
async function load(path: string, { file, timeoutMs }: Loading): Promise<Readonly<Record<string, unknown>>> {
  const watch = watchLoading({ file, timeoutMs, code: 'MODULE_FAILED', hint: ALONE });
  try {
    return await Promise.race([exportsOf(path), watch.tooLate]);
  } catch (cause) {
    if (RuntimeError.is(cause)) throw cause;
    const isTypeScript = /\.[cm]?tsx?$/.test(path);
    throw new RuntimeError(
      'MODULE_FAILED',
      `${file} could not be loaded: ${messageOf(cause).replaceAll(/\s*\n\s*/g, ' ')}`,
      {
        category: 'validation',
        hint:
          (await misspelt(path, messageOf(cause))) ??
          (isTypeScript
            ? 'TypeScript is read by Node 22.18 or newer, and by others after npm install jiti. Or give the JavaScript that it compiles to.'
            : 'Load it with node by itself to see where it fails.'),
        cause,
      },
    );
  } finally {
    watch.stop();
  }
}

/** How XState refuses a target that is not there; the state that is meant stands in the file, most likely. */
const NO_STATE = /Child state '(?<target>[^']+)' does not exist on/;

async function misspelt(path: string, message: string): Promise<string | undefined> {
  const { target } = NO_STATE.exec(message)?.groups ?? {};
  if (target === undefined) return undefined;
  const text = await readFile(path, 'utf8').catch(() => '');
  const keys = [...text.matchAll(/([\w$-]+)['"]?\s*:/g)].flatMap(([, key]) =>
    key === undefined || key === target ? [] : [key],
  );
  const near = closestName(target, [...new Set(keys)]);
  return near === undefined
    ? `There is no state "${target}"; correct the target, or add the state.`
    : `Did you mean "${near}"?`;
}

async function exportsOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const exported = await imported(path);
  // Not of whatever has a `then`: queries of some databases run when they are awaited.
  return Object.fromEntries(
    await Promise.all(
      Object.entries(exported).map(
        async ([name, value]) => [name, value instanceof Promise ? await value : value] as const,
      ),
    ),
  );
}

async function imported(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const { importedByJiti, isUnread } = await import('../../node/config-module.ts');
    const exported = isUnread(error) ? await importedByJiti(path) : undefined;
    if (exported === undefined) throw error;
    return exported;
  }
}

function chartsIn(value: unknown, depth = 0): readonly Chart[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((each) => chartsIn(each, depth + 1));
  const chart = chartIn(value);
  if (chart !== undefined) return [chart];
  // Of objects that are more than a list with names, such as actors and instances of classes, only the machine is
  // searched for.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null
    ? Object.values(value).flatMap((each) => chartsIn(each, depth + 1))
    : [];
}

function chartIn(value: object): Chart | undefined {
  try {
    return chartOf(value as ChartSource);
  } catch {
    return undefined;
  }
}

/** What XState calls a machine that was given no id. */
const WITHOUT_ID = '(machine)';

function refuseTwice(charts: readonly Chart[], file: string): void {
  const ids = charts.map(({ machine }) => machine.id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice === undefined) return;
  const what = twice === WITHOUT_ID ? 'more than one machine without an id' : `two charts with the id "${twice}"`;
  throw new RuntimeError('CHART_ID_TWICE', `${file} exports ${what}`, {
    category: 'conflict',
    hint: "Give each machine an id of its own, such as createMachine({ id: 'door', … }): pages and files are named by it.",
  });
}
