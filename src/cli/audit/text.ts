/** Audits as they are shown on a terminal. */
import { findingsWord } from '../../machines/inspection/audit-page.ts';
import type { ChartAudit, Finding, MatrixCell, StateReach } from '../../machines/inspection/chart-audit.ts';
import { ROOT } from '../../machines/inspection/chart-states.ts';
import type { Output } from '../terminal/output.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, oneLine } from '../terminal/text.ts';

export function auditRows(audits: readonly ChartAudit[]): string[][] {
  return audits.map(({ chart, counts, about = '' }) => [
    chart.id,
    String(counts.leaves),
    String(counts.events),
    String(counts.transitions),
    findingsWord(counts),
    about,
  ]);
}

/**
 * One audit whole: what each state does with each event, one line for each pair that does anything, then the findings.
 */
export function auditLines(audit: ChartAudit, out: Output): string[] {
  const { chart, about, counts, findings, reach } = audit;
  const rows = chart.events.flatMap(({ type }) =>
    audit.matrix
      .filter(
        ({ event, class: kind }) => event === type && kind !== 'final' && kind !== 'ignored' && kind !== 'rejected',
      )
      .map((each) => rowOf(audit, each)),
  );
  const paths = new Map(reach.map((each) => [each.state, wayTo(each)]));
  const leaves = [...new Set(audit.matrix.map(({ state }) => state))];
  return [
    out.styles.bold(chart.id) + (about === undefined ? '' : `  the life of ${about}`),
    `${counted(counts.leaves, 'state')}, ${counted(counts.events, 'event')}, ${counted(counts.transitions, 'transition')}`,
    '',
    ...tableLines(
      ['STATE', 'REACHED BY', 'HOLDS'],
      leaves.map((state) => [
        stateName(state),
        paths.get(state) ?? '',
        chart.states.find(({ id }) => id === state)?.description ?? '',
      ]),
      out,
    ),
    '',
    ...tableLines(['EVENT', 'IN', 'LEADS TO'], rows, out),
    '',
    ...(findings.length === 0 ? ['No findings.'] : findingLines(findings, out)),
    '',
  ];
}

/** What was found in a chart of several and not waived, the worst first; nothing where there is nothing. */
export function foundLines({ chart, findings }: ChartAudit, out: Output): string[] {
  const left = findings.filter(({ waived }) => waived === undefined);
  return left.length === 0 ? [] : ['', out.styles.bold(chart.id), ...findingLines(left, out)];
}

/** The root has no path. */
function stateName(state: string): string {
  return state === ROOT ? '(the whole chart)' : state;
}

function wayTo({ reach, path, isPassed }: StateReach): string {
  if (reach !== 'witnessed') return reach === 'unreachable' ? '(not reachable)' : '(no events found)';
  const way = path.length === 0 ? '(start)' : path.join(' ');
  return isPassed === true ? `${way} (left at once)` : way;
}

function rowOf({ chart }: ChartAudit, { event, state, class: kind, transitions }: MatrixCell): string[] {
  if (kind === 'forbidden') return [event, stateName(state), '(taken, and nothing happens)'];
  const taken = transitions.flatMap((id) => chart.transitions.filter((transition) => transition.id === id));
  const words = taken.map(
    ({ targets, guard }) =>
      `${targets.length === 0 ? 'stays' : targets.map((target) => (target === ROOT ? '(the start)' : target)).join(' + ')}${guard === undefined ? '' : ` [${guard.name}]`}`,
  );
  return [event, stateName(state), words.join(', else ')];
}

/** What one hint is for stands together, and the hint once below it: a chart may have a note at every action. */
export function findingLines(findings: readonly Finding[], out: Pick<Output, 'styles'>): string[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { severity, rule, hint, waived } = finding;
    const key = JSON.stringify([severity, rule, waived === undefined ? hint : 'waived']);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].flatMap((group) => [
    ...group.map((finding) => findingLine(finding, out)),
    ...group.slice(0, 1).flatMap(({ hint, waived }) => (waived === undefined ? [`        ${oneLine(hint)}`] : [])),
  ]);
}

function findingLine(
  { severity, rule, state, event, says, waived }: Finding,
  { styles }: Pick<Output, 'styles'>,
): string {
  const where = [state === ROOT ? 'the whole chart' : state, ...(event === undefined ? [] : [event])].join(', ');
  if (waived !== undefined)
    return `${styles.dim('waived ')} ${where}: ${oneLine(says)} ${styles.dim(`(${rule}; ${oneLine(waived)})`)}`;
  const weight =
    severity === 'error'
      ? styles.red('error  ')
      : severity === 'warning'
        ? styles.yellow('warning')
        : styles.dim('note   ');
  return `${weight} ${where}: ${oneLine(says)} ${styles.dim(`(${rule})`)}`;
}
