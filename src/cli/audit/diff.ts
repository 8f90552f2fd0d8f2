/**
 * `wakechart audit --diff`: what has changed since a version, as semantic versions count it, and whether what that
 * version wrote down can still be read.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Buffer } from 'node:buffer';
import { auditChart } from '../../machines/inspection/audit-chart.ts';
import type { Bump, ChartChange, ChartDiff } from '../../machines/inspection/chart-change.ts';
import type { Chart } from '../../machines/inspection/chart.ts';
import { diffCharts, weightOf } from '../../machines/inspection/diff-charts.ts';
import { restoreOldSnapshots } from '../../machines/inspection/old-snapshots.ts';
import type { WrittenAudit } from '../../machines/inspection/written-audit.ts';
import { earlierAudits } from '../../adapters/audit-files/earlier-audits.ts';
import { renderChartDiff } from '../../adapters/diagram/render-chart-diff.ts';
import { GitCommand } from '../../adapters/git/git-command.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { oneLine } from '../terminal/text.ts';
import { fileNameOf } from './files.ts';
import type { MeantCharts } from './meant-charts.ts';

const GIT_TIMEOUT_MS = 30_000;

interface DiffOptions {
  readonly diff: string;
  readonly out: string;
  readonly picture?: string | undefined;
}

export async function diffAudits(
  context: CommandContext,
  { charts, isAll }: MeantCharts,
  { diff: from, out: directory, picture }: DiffOptions,
): Promise<number> {
  const { out, json, interruption } = context;
  const git = new GitCommand({ gitPath: 'git', timeoutMs: GIT_TIMEOUT_MS });
  const run = async (...words: readonly string[]): Promise<string> =>
    Buffer.from(await git.run(words, { cwd: '.', signal: interruption.signal }), 'latin1').toString('utf8');
  const before = await earlierAudits({ from, directory, git: run });
  const diffs = charts.map((chart) => diffOf(chart, before.get(chart.machine.id)));
  const gone = isAll
    ? [...before.keys()].filter((id) => !charts.some(({ machine }) => machine.id === id)).map(goneChart)
    : [];
  const all = [...diffs, ...gone];
  const bump = heaviest(all.map((diff) => diff.bump));
  const pictures = picture === undefined ? [] : await draw(picture, { charts, before, diffs });
  if (json) await out.document({ since: from, bump, charts: all, ...(picture === undefined ? {} : { pictures }) });
  else for (const line of linesOf(context, { from, bump, diffs: all, pictures })) await out.line(line);
  return bump === 'major' ? EXIT_FAILURE : EXIT_SUCCESS;
}

function diffOf(chart: Chart, before: WrittenAudit | undefined): ChartDiff {
  const { id } = chart.machine;
  if (before === undefined)
    return {
      chart: id,
      bump: 'minor',
      changes: [{ bump: 'minor', kind: 'state-added', says: `The chart ${id} is new.` }],
    };
  const { changes } = diffCharts(before.chart, auditChart(chart).chart);
  const together = [...changes, ...restoreOldSnapshots(before, chart)];
  return { chart: id, bump: heaviest(together.map((change) => change.bump)), changes: together };
}

function goneChart(id: string): ChartDiff {
  return {
    chart: id,
    bump: 'major',
    changes: [{ bump: 'major', kind: 'state-removed', says: `The chart ${id} is gone.` }],
  };
}

function heaviest(bumps: readonly Bump[]): Bump {
  return bumps.reduce<Bump>((most, bump) => (weightOf(bump) > weightOf(most) ? bump : most), 'none');
}

interface Sides {
  readonly charts: readonly Chart[];
  readonly before: ReadonlyMap<string, WrittenAudit>;
  readonly diffs: readonly ChartDiff[];
}

async function draw(directory: string, { charts, before, diffs }: Sides): Promise<readonly string[]> {
  await mkdir(directory, { recursive: true });
  const drawn: string[] = [];
  for (const [index, chart] of charts.entries()) {
    const old = before.get(chart.machine.id);
    const diff = diffs[index];
    if (old === undefined || diff === undefined || diff.bump === 'none') continue;
    const path = join(directory, `${fileNameOf(chart.machine.id)}.diff.svg`);
    await writeFile(path, await renderChartDiff(old.chart, auditChart(chart).chart, diff));
    drawn.push(path);
  }
  return drawn;
}

interface Told {
  readonly from: string;
  readonly bump: Bump;
  readonly diffs: readonly ChartDiff[];
  readonly pictures: readonly string[];
}

function linesOf({ out: { styles } }: CommandContext, { from, bump, diffs, pictures }: Told): string[] {
  const changed = diffs.filter((diff) => diff.bump !== 'none');
  if (changed.length === 0) return [`Nothing has changed in the charts since ${oneLine(from)}.`];
  const weight = (change: ChartChange): string =>
    change.bump === 'major'
      ? styles.red('major')
      : change.bump === 'minor'
        ? styles.green('minor')
        : styles.dim('patch');
  const told = changed.flatMap((diff) => [
    `${styles.bold(diff.chart)}: ${diff.bump}`,
    ...diff.changes.map((change) => `  ${weight(change)}  ${oneLine(change.says)}`),
  ]);
  return [
    ...told,
    ...pictures.map((path) => `drawn: ${path}`),
    `Since ${oneLine(from)}, the charts as a whole have a ${bump} change${bump === 'major' ? ': what relies on them may break.' : '.'}`,
  ];
}
