/** `wakechart audit --write` and `--check`: the audits as files beside the code that they are about. */
import { join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { auditChart } from '../../machines/inspection/audit-chart.ts';
import { auditIndex, auditPage, findingsWord } from '../../machines/inspection/audit-page.ts';
import type { ChartAudit } from '../../machines/inspection/chart-audit.ts';
import { diagramHash, diagramHashIn } from '../../adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../adapters/diagram/render-chart.ts';
import { sealed, staleAuditFiles, writeAuditFiles, writtenPicture } from '../../adapters/audit-files/audit-folder.ts';
import type { AuditFiles, StaleFile } from '../../adapters/audit-files/audit-folder.ts';
import { findingLines } from './text.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { toldWhile } from '../terminal/progress.ts';
import { counted, printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import type { ChartChoice, MeantCharts } from './meant-charts.ts';

const PROBLEMS = {
  missing: 'is missing',
  differs: 'is stale',
  left: 'is about a chart that is gone',
} as const satisfies Record<StaleFile['problem'], string>;

interface FileOptions extends ChartChoice {
  readonly out: string;
}

export async function writeAudits(
  context: CommandContext,
  meant: MeantCharts,
  { out: directory, charts, module }: FileOptions,
): Promise<number> {
  refusePart(meant, charts);
  const { audits, files } = await toldWhile(context, 'drawing the charts', () =>
    filesOf(meant, { directory, draws: true }),
  );
  const changed = await writeAuditFiles(directory, files);
  const { out, json } = context;
  if (json) await out.document({ directory, changed, findings: openFindings(audits) });
  else {
    for (const { name, problem } of changed)
      await out.line(`${problem === 'left' ? 'removed' : 'wrote'} ${join(directory, name)}`);
    await out.line(
      changed.length === 0
        ? `${directory} is up to date.`
        : `${counted(changed.length, 'file')} changed in ${directory}.`,
    );
    await showErrors(context, audits, module);
  }
  return hasErrors(audits) ? EXIT_FAILURE : EXIT_SUCCESS;
}

export async function checkAudits(
  context: CommandContext,
  meant: MeantCharts,
  { out: directory, charts, module }: FileOptions,
): Promise<number> {
  refusePart(meant, charts);
  const { audits, files } = await toldWhile(context, 'checking the charts', () =>
    filesOf(meant, { directory, draws: false }),
  );
  const stale = await staleAuditFiles(directory, files);
  const isFine = stale.length === 0 && !hasErrors(audits);
  const { out, json } = context;
  if (json) await out.document({ directory, ok: isFine, stale, findings: openFindings(audits) });
  else {
    // Where nothing was ever written one line says it all.
    if (stale.length === files.size && stale.every(({ problem }) => problem === 'missing'))
      await out.line(`There are no written audits in ${directory}.`);
    else
      for (const { name, problem } of stale)
        await out.line(`${join(directory, name)} ${out.styles.red(PROBLEMS[problem])}.`);
    await showErrors(context, audits, module);
    if (stale.length > 0)
      await out.line(
        `Bring them up to date: ${nextCommand(context, 'audit', '--write', ...(module === undefined ? [] : ['--module', module]), '--out', directory)}`,
      );
    if (isFine) await out.line(`${counted(audits.length, 'chart')}, and ${directory} says what they do.`);
  }
  return isFine ? EXIT_SUCCESS : EXIT_FAILURE;
}

/** The index lists all charts: a part of them cannot be written, nor searched for. */
function refusePart({ isAll }: MeantCharts, charts: readonly string[]): void {
  if (!isAll)
    throw usageError(
      `--write and --check are about all charts; ${charts.join(', ')} would be a part of them`,
      'Leave the names out.',
    );
}

interface Making {
  readonly directory: string;
  /** Drawing takes long: a check only checks whether it would have to be done. */
  readonly draws: boolean;
}

/** Pages and files are named by the id. @throws RuntimeError CHART_ID_UNFIT */
export function fileNameOf(id: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(id) && id.toLowerCase() !== 'readme') return id;
  throw new RuntimeError('CHART_ID_UNFIT', `a file cannot be named by the chart id "${printable(id)}"`, {
    category: 'validation',
    hint: 'Give the machine an id of letters, digits, "-", "_" and ".", such as createMachine({ id: \'door\', … }).',
  });
}

async function filesOf(
  { charts }: MeantCharts,
  making: Making,
): Promise<{ readonly audits: readonly ChartAudit[]; readonly files: AuditFiles }> {
  const audits = charts.map((chart) => auditChart(chart));
  const files = new Map([['README.md', auditIndex(audits)]]);
  for (const audit of audits) {
    const id = fileNameOf(audit.chart.id);
    files.set(`${id}.md`, auditPage(audit));
    files.set(`${id}.json`, `${JSON.stringify(audit, undefined, 2)}\n`);
    files.set(`${id}.svg`, await pictureOf(audit, making));
  }
  return { audits, files };
}

/**
 * The one that is there, where it shows the chart as it is; else a new one, or nothing, which no written one is equal
 * to.
 */
async function pictureOf({ chart }: ChartAudit, { directory, draws }: Making): Promise<string> {
  const known = await writtenPicture(directory, `${chart.id}.svg`);
  if (known !== undefined && diagramHashIn(known) === diagramHash(chart)) return known;
  return draws ? sealed(await renderChart(chart)) : '';
}

function openFindings(audits: readonly ChartAudit[]): readonly object[] {
  return audits.flatMap(({ chart, findings }) =>
    findings.filter(({ waived }) => waived === undefined).map((finding) => ({ chart: chart.id, ...finding })),
  );
}

function hasErrors(audits: readonly ChartAudit[]): boolean {
  return audits.some(({ counts }) => counts.errors > 0);
}

async function showErrors(
  { out }: CommandContext,
  audits: readonly ChartAudit[],
  module: string | undefined,
): Promise<void> {
  for (const { chart, counts, findings } of audits.filter((audit) => audit.counts.errors > 0)) {
    await out.line(
      `${out.styles.bold(chart.id)}: ${findingsWord(counts)}${module === undefined ? '' : `, in ${module}`}`,
    );
    const errors = findings.filter(({ severity, waived }) => severity === 'error' && waived === undefined);
    for (const line of findingLines(errors, out)) await out.line(line);
  }
}
