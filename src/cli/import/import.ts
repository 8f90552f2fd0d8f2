/** `wakechart import`: brings sessions over from other runtimes' logs, and says what came and what did not. */
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { importReport } from '../../machines/import/import-report.ts';
import type { ImportReport, ImportedSessionReport } from '../../machines/import/import-report.ts';
import type { SourceRuntime } from '../../machines/import/source-fact.ts';
import { importSessions } from '../../adapters/import-logs/import-sessions.ts';
import type { ImportOutcome } from '../../adapters/import-logs/import-sessions.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { absolutePath } from '../home.ts';
import { withSessions } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, oneLine, printable } from '../terminal/text.ts';
import { checkedAgentName } from '../usage.ts';

export interface ImportOptions {
  readonly path: string;
  readonly from: SourceRuntime;
  readonly agent: string | undefined;
  readonly dryRun: boolean;
}

/** Damaged places and kinds that people are shown of one session; the JSON has more. */
const MAX_SHOWN = 5;

export async function importLogs(
  context: CommandContext,
  { path, from, agent, dryRun }: ImportOptions,
): Promise<number> {
  const { out, json, interruption } = context;
  const agentId = agent === undefined ? undefined : checkedAgentName(agent);
  const clock = createSystemClock();
  // The first Ctrl-C ends it between two sessions, with an account; the second at once, which leaves no half session
  // either.
  const release = interruption.guard(() => process.exit(interruption.exitCode));
  const outcome = await withSessions(context, ({ sessions, agents, layout }) =>
    importSessions(
      { from, path: absolutePath(path), agentId, dryRun, signal: interruption.signal, onSession: progressOf(context) },
      { sessions, agents, workspaceOf: (identity) => layout.ownWorkspace(identity), now: () => clock.now() },
    ),
  ).finally(release);
  const report = importReport({ from, path, dryRun, ...outcome });
  if (json) await out.document(report);
  else await showReport(context, report);
  return report.failed > 0 || hasTrouble(outcome) || interruption.signal.aborted ? EXIT_FAILURE : EXIT_SUCCESS;
}

function hasTrouble({ passedOver }: ImportOutcome): boolean {
  return passedOver.some(({ isTrouble }) => isTrouble);
}

function progressOf({
  err,
  json,
}: CommandContext): ((report: ImportedSessionReport, found: number) => void) | undefined {
  if (json || !err.canRedraw) return undefined;
  let done = 0;
  return (_report, found) => {
    done += 1;
    void err.push(done === found ? '\r\u001B[K' : `\r${done} of ${counted(found, 'session')}`);
  };
}

async function showReport(context: CommandContext, report: ImportReport): Promise<void> {
  const { out } = context;
  const { from, found, imported, already, failed, notReached, dryRun, sessions } = report;
  const rows = sessions.map((each) => [
    STATUS_WORDS[each.status],
    each.sessionId ?? '-',
    each.agentId ?? each.source.agentId ?? '-',
    String(each.events),
    each.title ?? each.source.path,
  ]);
  for (const line of tableLines(['', 'SESSION', 'AGENT', 'EVENTS', 'TITLE'], rows, out)) await out.line(line);
  for (const session of sessions) for (const line of remarksOn(session)) await out.line(line);
  for (const { path, because } of report.passedOver)
    await out.line(`  passed over ${oneLine(path)}: ${oneLine(because)}`);
  const verb = dryRun ? 'would be imported' : 'imported';
  await out.line(
    `${counted(found, 'session')} of ${from} found: ${imported} ${verb}, ${already} here already, ${failed} could not be`,
  );
  if (notReached > 0)
    await out.line(
      `${out.styles.yellow('note:')} it was stopped before ${counted(notReached, 'session')}: the same command brings the rest`,
    );
  if (imported + already === 0) return;
  await out.line(
    `${out.styles.yellow('note:')} the logs of other runtimes may hold secrets: they are copied as they are, readable for you and for the agents of these sessions`,
  );
  const waiting = sessions.find(({ status, isParked }) => status === 'imported' && isParked);
  if (waiting?.sessionId !== undefined)
    await out.line(
      `What was unread or queued waits until it is woken: ${nextCommand(context, 'wake', '--session', waiting.sessionId)}`,
    );
}

const STATUS_WORDS = {
  imported: 'imported',
  would_import: 'would import',
  already: 'here already',
  failed: 'failed',
} as const satisfies Record<ImportedSessionReport['status'], string>;

function remarksOn(session: ImportedSessionReport): string[] {
  const {
    source,
    status,
    because,
    hint,
    damage,
    damaged,
    repeated,
    leftOver,
    closedCalls,
    unread,
    queuedWakes,
    files,
    notBrought,
  } = session;
  const kinds = Object.entries(leftOver).map(([type, count]) => `${count} x ${type}`);
  const remarks = [
    ...(status === 'failed' ? [`failed: ${because ?? ''}`, ...(hint === undefined ? [] : [`hint: ${hint}`])] : []),
    ...damage
      .slice(0, MAX_SHOWN)
      .map(
        ({ line, what, repaired }) =>
          `${line === 0 ? 'the log' : `line ${line}`}: ${what}${repaired ? '' : ' (kept as text)'}`,
      ),
    ...(damaged > MAX_SHOWN ? [`and ${damaged - MAX_SHOWN} more damaged places`] : []),
    ...(repeated === 0 ? [] : [`${counted(repeated, 'record')} stood there twice`]),
    ...(kinds.length === 0
      ? []
      : [
          `left over, kept as text: ${kinds.slice(0, MAX_SHOWN).join(', ')}${kinds.length > MAX_SHOWN ? ` and ${kinds.length - MAX_SHOWN} more kinds` : ''}`,
        ]),
    ...(closedCalls === 0 ? [] : [`${counted(closedCalls, 'open call')} closed`]),
    ...(unread + queuedWakes === 0 ? [] : [`${unread} unread, ${counted(queuedWakes, 'queued wake')}`]),
    ...(files.length === 0 ? [] : [`in imported/ of its workspace: ${files.join(', ')}`]),
    ...notBrought.slice(0, MAX_SHOWN).map(({ path, because: why }) => `not brought: ${path} (${why})`),
    ...(notBrought.length > MAX_SHOWN ? [`and ${notBrought.length - MAX_SHOWN} more files not brought`] : []),
  ];
  return remarks.length === 0 ? [] : [`${printable(source.path)}:`, ...remarks.map((remark) => `  ${oneLine(remark)}`)];
}
