/** `wakechart audit --logs` and `--coverage`: which transitions were ever taken, in sessions that ran and in tests. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChartCoverage, ChartHits } from '../../machines/inspection/chart-change.ts';
import type { Chart } from '../../machines/inspection/chart.ts';
import { coverageOf, floorProblems } from '../../machines/inspection/coverage.ts';
import { describeChart } from '../../machines/inspection/describe-chart.ts';
import { chartsToldByLogs, hiddenFromLogs, logHits } from '../../machines/inspection/log-hits.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { renderCoverage } from '../../adapters/diagram/coverage-page.ts';
import { readHits } from '../../adapters/audit-files/hits-folder.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { isHomeThere } from '../home.ts';
import { withSessions } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, oneLine } from '../terminal/text.ts';
import { fileNameOf } from './files.ts';
import type { MeantCharts } from './meant-charts.ts';

interface Seen {
  /** Of hits also one file. */
  readonly directory: string;
  /** The folder for pages. */
  readonly picture: string | undefined;
  /** In percent of the transitions of each chart. */
  readonly floor: number | undefined;
}

/** A chart with what was seen of it, and what could not be. */
interface Line {
  readonly chart: Chart;
  readonly hits: ChartHits;
  readonly coverage: ChartCoverage;
  /** Ids of transitions that no log can show. */
  readonly hidden: readonly string[];
}

export async function seenInTests(
  context: CommandContext,
  { charts }: MeantCharts,
  { directory, floor, picture }: Seen,
): Promise<number> {
  const hits = await readHits(directory);
  const lines = charts.map((chart) => lineOf(chart, hits, []));
  return tell(context, lines, { floor, never: 'never taken in a test', from: directory, picture });
}

export async function seenInLogs(
  context: CommandContext,
  { charts }: MeantCharts,
  { directory, floor, picture }: Seen,
): Promise<number> {
  if (!(await isHomeThere(directory))) {
    throw new RuntimeError('HOME_NOT_FOUND', `expected a home with sessions at ${directory}; there is none`, {
      category: 'not_found',
      hint: 'Name the folder that --home names elsewhere, such as .wakechart.',
    });
  }
  const told = charts.filter(({ machine }) => chartsToldByLogs.includes(machine.id));
  const { seen, sessions } = await hitsOf({ ...context, home: directory });
  const lines = told.map((chart) => lineOf(chart, seen, hiddenFromLogs(chart.machine.id)));
  if (!context.json)
    await context.out.line(
      `${counted(sessions, 'session')} read. Logs tell of the charts ${told.map(({ machine }) => machine.id).join(', ')}.`,
    );
  return tell(context, lines, { floor, never: 'never seen in these logs', from: directory, picture });
}

async function hitsOf(
  context: CommandContext,
): Promise<{ readonly seen: ReadonlyMap<string, ChartHits>; readonly sessions: number }> {
  return withSessions(context, async ({ sessions }) => {
    let seen: ReadonlyMap<string, ChartHits> = new Map();
    let count = 0;
    for (const { sessionId } of await sessions.list()) {
      seen = await logHits(sessions.events(sessionId), seen);
      count += 1;
    }
    return { seen, sessions: count };
  });
}

function lineOf(chart: Chart, seen: ReadonlyMap<string, ChartHits>, hidden: readonly string[]): Line {
  const { id } = chart.machine;
  const hits = seen.get(id) ?? { chart: id, transitions: {}, pairs: {} };
  return { chart, hits, coverage: coverageOf(describeChart(chart.machine, { events: chart.events }), hits), hidden };
}

/** One page for each chart. @returns their paths */
async function drawPages(directory: string | undefined, lines: readonly Line[]): Promise<readonly string[]> {
  if (directory === undefined) return [];
  await mkdir(directory, { recursive: true });
  const drawn: string[] = [];
  for (const { chart, hits } of lines) {
    const path = join(directory, `${fileNameOf(chart.machine.id)}.coverage.html`);
    await writeFile(path, await renderCoverage(chart, hits));
    drawn.push(path);
  }
  return drawn;
}

interface Telling {
  readonly floor: number | undefined;
  readonly never: string;
  readonly from: string;
  readonly picture: string | undefined;
}

async function tell(
  { out, json }: CommandContext,
  lines: readonly Line[],
  { floor, never, from, picture }: Telling,
): Promise<number> {
  const pages = await drawPages(picture, lines);
  const shown = lines.map(({ coverage, hidden }) => ({
    coverage,
    hidden,
    missing: coverage.transitions.missing.filter((id) => !hidden.includes(id)),
  }));
  // What no log can show is nothing that is missing in it.
  const judged = shown.map(({ coverage, missing }) => ({
    ...coverage,
    transitions: { seen: coverage.transitions.seen, all: coverage.transitions.seen + missing.length, missing },
  }));
  const below = floor === undefined ? [] : floorProblems(judged, floor);
  if (json)
    await out.document({
      from,
      floor,
      ok: below.length === 0,
      charts: shown.map(({ coverage, hidden }) => ({ ...coverage, hidden })),
      ...(picture === undefined ? {} : { pictures: pages }),
    });
  else {
    const rows = judged.map(({ chart, transitions, pairs, guards }) => [
      chart,
      share(transitions),
      share(pairs),
      share(guards),
    ]);
    for (const line of tableLines(['CHART', 'TRANSITIONS', 'PAIRS', 'GUARDS'], rows, out)) await out.line(line);
    for (const { coverage, hidden, missing } of shown) {
      for (const id of missing) await out.line(`${out.styles.yellow(never)}: ${coverage.chart} ${oneLine(id)}`);
      if (hidden.length > 0)
        await out.line(
          `${out.styles.dim('no log can show')}: ${coverage.chart} ${hidden.map((id) => oneLine(id)).join(', ')}`,
        );
      for (const id of coverage.unknown)
        await out.line(`${out.styles.dim('of another version of the chart')}: ${coverage.chart} ${oneLine(id)}`);
    }
    for (const path of pages) await out.line(`drawn: ${path}`);
    for (const { says } of below) await out.line(`${out.styles.red('below the floor')} ${oneLine(says)}`);
  }
  return below.length === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

function share({ seen, all }: Pick<ChartCoverage['transitions'], 'seen' | 'all'>): string {
  return all === 0 ? '-' : `${seen}/${all} (${Math.floor(percentOf(seen, all))} %)`;
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 100 : (part / whole) * 100;
}
