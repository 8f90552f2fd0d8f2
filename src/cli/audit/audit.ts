/** `wakechart audit`: which charts are meant, and what is to be done with them. */
import { auditChart } from '../../machines/inspection/audit-chart.ts';
import type { ChartAudit } from '../../machines/inspection/chart-audit.ts';
import { auditLines, auditRows, foundLines } from './text.ts';
import { chartsMeant } from './meant-charts.ts';
import type { ChartChoice } from './meant-charts.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { tableLines } from '../terminal/table.ts';
import { usageError } from '../usage.ts';

interface AuditOptions extends ChartChoice {
  readonly write?: boolean | undefined;
  readonly check?: boolean | undefined;
  readonly diff?: string | undefined;
  readonly out: string;
  readonly picture?: string | undefined;
  readonly logs?: string | undefined;
  readonly coverage?: string | undefined;
  readonly floor?: number | undefined;
}

export async function auditCharts(context: CommandContext, options: AuditOptions): Promise<number> {
  const { diff, logs, coverage, picture, floor } = options;
  if (picture !== undefined && [diff, logs, coverage].every((mode) => mode === undefined))
    throw usageError('--picture draws what --diff, --coverage or --logs finds', 'Give one of them too.');
  if (floor !== undefined && logs === undefined && coverage === undefined)
    throw usageError('--floor is about what was seen', 'Give --coverage DIR or --logs DIR too.');
  const meant = await chartsMeant(options);
  if (options.write === true || options.check === true) {
    const { checkAudits, writeAudits } = await import('./files.ts');
    return options.write === true ? writeAudits(context, meant, options) : checkAudits(context, meant, options);
  }
  if (diff !== undefined) return (await import('./diff.ts')).diffAudits(context, meant, { ...options, diff });
  if (logs !== undefined)
    return (await import('./seen.ts')).seenInLogs(context, meant, { directory: logs, floor, picture });
  if (coverage !== undefined)
    return (await import('./seen.ts')).seenInTests(context, meant, { directory: coverage, floor, picture });
  return showAudits(
    context,
    meant.charts.map((chart) => auditChart(chart)),
    options,
  );
}

async function showAudits(
  { out, json }: CommandContext,
  audits: readonly ChartAudit[],
  { charts, module }: AuditOptions,
): Promise<number> {
  if (json) await out.document({ audits });
  // A user who names charts wants to know all about them; of a module, what is wrong with any.
  else
    for (const line of charts.length === 0
      ? [
          ...tableLines(['CHART', 'STATES', 'EVENTS', 'TRANSITIONS', 'FINDINGS', 'LIFE OF'], auditRows(audits), out),
          ...(module === undefined ? [] : audits.flatMap((audit) => foundLines(audit, out))),
        ]
      : audits.flatMap((audit) => auditLines(audit, out)))
      await out.line(line);
  return audits.some(({ counts }) => counts.errors > 0) ? EXIT_FAILURE : EXIT_SUCCESS;
}
