/** `wakechart audit`: which charts are meant, and what is to be done with them. */
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { auditChart } from '../../machines/inspection/audit-chart.ts';
import type { ChartAudit } from '../../machines/inspection/chart-audit.ts';
import { charts as ownCharts } from '../../machines/inspection/chart-catalog.ts';
import type { Chart } from '../../machines/inspection/chart.ts';
import { auditLines, auditRows } from './text.ts';
import { chartsOfModule } from './chart-module.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { tableLines } from '../terminal/table.ts';
import { usageError } from '../usage.ts';

export interface AuditOptions {
  /** Ids; none: all. */
  readonly charts: readonly string[];
  readonly module?: string | undefined;
  readonly write?: boolean | undefined;
  readonly check?: boolean | undefined;
  readonly diff?: string | undefined;
  readonly out: string;
  readonly picture?: string | undefined;
  readonly logs?: string | undefined;
  readonly coverage?: string | undefined;
  readonly floor?: number | undefined;
}

/** The charts that are meant, and whether they are all there are. */
export interface MeantCharts {
  readonly charts: readonly Chart[];
  readonly isAll: boolean;
}

export async function auditCharts(context: CommandContext, options: AuditOptions): Promise<number> {
  const { diff, logs, coverage, picture, floor } = options;
  if (picture !== undefined && diff === undefined)
    throw usageError('--picture draws what --diff finds', 'Give --diff REF too.');
  if (floor !== undefined && logs === undefined && coverage === undefined)
    throw usageError('--floor is about what was seen', 'Give --coverage DIR or --logs DIR too.');
  const meant = await chartsMeant(options);
  if (options.write === true || options.check === true) {
    const { checkAudits, writeAudits } = await import('./files.ts');
    return options.write === true ? writeAudits(context, meant, options) : checkAudits(context, meant, options);
  }
  if (diff !== undefined) return (await import('./diff.ts')).diffAudits(context, meant, { ...options, diff });
  if (logs !== undefined) return (await import('./seen.ts')).seenInLogs(context, meant, { directory: logs, floor });
  if (coverage !== undefined)
    return (await import('./seen.ts')).seenInTests(context, meant, { directory: coverage, floor });
  return showAudits(
    context,
    meant.charts.map((chart) => auditChart(chart)),
    options,
  );
}

async function chartsMeant({ charts: ids, module }: AuditOptions): Promise<MeantCharts> {
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

async function showAudits(
  { out, json }: CommandContext,
  audits: readonly ChartAudit[],
  { charts }: AuditOptions,
): Promise<number> {
  if (json) await out.document({ audits });
  // A user who names charts wants to know all about them.
  else
    for (const line of charts.length === 0
      ? tableLines(['CHART', 'STATES', 'EVENTS', 'TRANSITIONS', 'FINDINGS', 'LIFE OF'], auditRows(audits), out)
      : audits.flatMap((audit) => auditLines(audit, out)))
      await out.line(line);
  return audits.some(({ counts }) => counts.errors > 0) ? EXIT_FAILURE : EXIT_SUCCESS;
}
