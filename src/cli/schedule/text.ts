/** Schedules in the words of the command line. */
import type { ScheduleOverview } from '../../actors/schedule/durable-registry.ts';
import { instantOf } from '../../machines/schedule/slot-record.ts';
import { isSilent } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleState } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleTarget } from '../../machines/schedule/schedule-definition.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { localTime, oneLine, printable } from '../terminal/text.ts';

/** What a user cannot guess, and has to know. */
export function workerText(context: CommandContext): string {
  return `Schedules fire only while a worker runs: ${nextCommand(context, 'worker')}`;
}

export function whenText({ nextFireAt }: Pick<ScheduleOverview, 'nextFireAt'>): string {
  return nextFireAt === undefined ? 'never' : localTime(nextFireAt);
}

export function stateText({ status, reason }: ScheduleState): string {
  return reason === undefined ? status : `${status}: ${printable(reason.message)}`;
}

/** How the last slot that came due went. */
export function lastText({ state: { lastRun }, lastSlot }: Pick<ScheduleOverview, 'state' | 'lastSlot'>): string {
  if (lastSlot !== undefined && lastSlot > (lastRun?.slot ?? '')) return `${localTime(lastSlot)} did not fire`;
  if (lastRun === undefined) return '';
  const isDead = lastRun.outcome === 'running' && isSilent(lastRun, instantOf(Date.now()));
  const outcome = isDead ? 'interrupted: its worker is gone' : lastRun.outcome;
  return `${localTime(lastRun.slot)} ${outcome}${lastRun.note === undefined ? '' : ` (${oneLine(lastRun.note)})`}`;
}

export function targetText(target: ScheduleTarget): string {
  return target.kind === 'command'
    ? `runs ${oneLine(target.command)}`
    : `sends ${JSON.stringify(oneLine(target.text))} into ${target.sessionId}`;
}
