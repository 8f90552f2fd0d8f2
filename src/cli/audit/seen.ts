/** `wakechart audit --logs` and `--coverage`: which transitions were ever taken, in sessions that ran and in tests. */
import { auditChart } from '../../machines/inspection/audit-chart.ts';
import type { ChartCoverage, ChartHits } from '../../machines/inspection/chart-change.ts';
import type { Chart } from '../../machines/inspection/chart.ts';
import { coverageOf, floorProblems } from '../../machines/inspection/coverage.ts';
import { chartsToldByLogs, hiddenFromLogs, logHits } from '../../machines/inspection/log-hits.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { readHits } from '../../adapters/audit-files/hits-folder.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { isHomeThere } from '../home.ts';
import { withSessions } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, oneLine } from '../terminal/text.ts';
import type { MeantCharts } from './meant-charts.ts';

interface Seen {
  readonly directory: string;
  /** In percent of the transitions of each chart. */
  readonly floor: number | undefined;
}

/** A chart with what was seen of it, and what could not be. */
interface Line {
  readonly coverage: ChartCoverage;
  /** Ids of transitions that no log can show. */
  readonly hidden: readonly string[];
}

export async function seenInTests(
  context: CommandContext,
  { charts }: MeantCharts,
  { directory, floor }: Seen,
): Promise<number> {
  const hits = await readHits(directory);
  const lines = charts.map((chart): Line => ({
    coverage: coverageOf(auditChart(chart).chart, hits.get(chart.machine.id) ?? nothingOf(chart)),
    hidden: [],
  }));
  return tell(context, lines, { floor, never: 'never taken in a test', from: directory });
}

export async function seenInLogs(
  context: CommandContext,
  { charts }: MeantCharts,
  { directory, floor }: Seen,
): Promise<number> {
  if (!(await isHomeThere(directory))) {
    throw new RuntimeError('HOME_NOT_FOUND', `expected a home with sessions at ${directory}; there is none`, {
      category: 'not_found',
      hint: 'Name the folder that --home names elsewhere, such as .wakechart.',
    });
  }
  const told = charts.filter(({ machine }) => chartsToldByLogs.includes(machine.id));
  const { seen, sessions } = await hitsOf({ ...context, home: directory });
  const lines = told.map((chart): Line => ({
    coverage: coverageOf(auditChart(chart).chart, seen.get(chart.machine.id) ?? nothingOf(chart)),
    hidden: hiddenFromLogs(chart.machine.id),
  }));
  if (!context.json)
    await context.out.line(
      `${counted(sessions, 'session')} read. Logs tell of the charts ${told.map(({ machine }) => machine.id).join(', ')}.`,
    );
  return tell(context, lines, { floor, never: 'never seen in these logs', from: directory });
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

function nothingOf({ machine }: Chart): ChartHits {
  return { chart: machine.id, transitions: {}, pairs: {} };
}

interface Telling {
  readonly floor: number | undefined;
  readonly never: string;
  readonly from: string;
}

async function tell(
  { out, json }: CommandContext,
  lines: readonly Line[],
  { floor, never, from }: Telling,
): Promise<number> {
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
