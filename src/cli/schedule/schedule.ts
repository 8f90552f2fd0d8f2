/** `wakechart schedule list | show | pause | resume | remove`. */
import type { ScheduleOverview, ScheduleRegistry, ScheduleView } from '../../actors/schedule/durable-registry.ts';
import { describeRecord } from '../../machines/schedule/record-text.ts';
import type { ScheduleRecord } from '../../machines/schedule/slot-record.ts';
import { nextCommand, storeText } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { checkedScheduleName, withSchedules } from './schedules.ts';
import { lastText, stateText, targetText, whenText, workerText } from './text.ts';
import { fieldLines, tableLines } from '../terminal/table.ts';
import { counted, localTime, printable } from '../terminal/text.ts';

/** Records of slots that `show` shows. */
const RECORDS_SHOWN = 10;

export async function listSchedules(context: CommandContext): Promise<number> {
  const { out, json } = context;
  const schedules = await withSchedules(context, (registry) => registry.list());
  if (json) await out.document({ schedules });
  else if (schedules.length === 0)
    await out.line(
      `No schedules in ${storeText(context)} yet. Add one: ${nextCommand(context, 'schedule', 'add', '--help')}`,
    );
  else {
    for (const line of tableLines(['SCHEDULE', 'STATUS', 'NEXT', 'LAST', 'DOES'], schedules.map(rowOf), out))
      await out.line(line);
    await out.line(workerText(context));
  }
  return EXIT_SUCCESS;
}

function rowOf(view: ScheduleView): readonly string[] {
  if ('error' in view) return [view.id, 'invalid', '', '', view.error.message];
  const { id, definition, state } = view;
  return [id, stateText(state), whenText(view), lastText(view), targetText(definition.target)];
}

export async function showSchedule(context: CommandContext, id: string): Promise<number> {
  const { out, json } = context;
  const name = checkedScheduleName(id);
  await withSchedules(context, async (registry) => {
    const view = await registry.get(name);
    const records = await lastRecords(registry, view);
    if (json) return out.document({ ...view, records });
    for (const line of fieldLines(fieldsOf(view), out)) await out.line(line);
    for (const record of records)
      await out.line(`  ${out.styles.dim(localTime(record.at))}  ${printable(describeRecord(record))}`);
    await out.line(workerText(context));
  });
  return EXIT_SUCCESS;
}

async function lastRecords(
  registry: ScheduleRegistry,
  { definition }: ScheduleOverview,
): Promise<readonly ScheduleRecord[]> {
  const last: ScheduleRecord[] = [];
  for await (const record of registry.records(definition)) {
    // A step on the way: what became of it follows.
    if (record.type === 'slot.claimed') continue;
    last.push(record);
    if (last.length > RECORDS_SHOWN) last.shift();
  }
  return last;
}

function fieldsOf(view: ScheduleOverview): [string, string | undefined][] {
  const { definition, state } = view;
  const { target, limits, catchUp } = definition;
  return [
    ['schedule', view.id],
    ['status', stateText(state)],
    ['next', whenText(view)],
    ['last', lastText(view)],
    ['when', `${printable(definition.cron)} in ${printable(definition.timezone)}`],
    ['does', targetText(target)],
    ['delivery', target.kind === 'session' ? target.delivery : undefined],
    ['folder', target.kind === 'command' ? printable(target.cwd) : undefined],
    ['timeout', target.kind === 'command' && target.timeoutMs !== undefined ? `${target.timeoutMs} ms` : undefined],
    ['variables', target.kind === 'command' ? target.env?.join(', ') : undefined],
    ['catch-up', typeof catchUp === 'string' ? catchUp : `all, at most ${catchUp.all}`],
    ['overlap', definition.overlap],
    ['runs', `${state.runs}${limits.maxRuns === undefined ? '' : ` of ${limits.maxRuns}`}`],
    ['until', limits.until === undefined ? undefined : localTime(limits.until)],
    [
      'failures',
      state.failuresInARow === 0
        ? undefined
        : `${counted(state.failuresInARow, 'run')} in a row; parked at ${limits.maxFailures}`,
    ],
    ['created', localTime(definition.createdAt)],
  ];
}

export async function pauseSchedule(context: CommandContext, id: string): Promise<number> {
  return change(context, id, 'Paused', (registry, name) => registry.pause(name));
}

export async function resumeSchedule(context: CommandContext, id: string): Promise<number> {
  return change(context, id, 'Resumed', (registry, name) => registry.resume(name));
}

async function change(
  context: CommandContext,
  id: string,
  participle: string,
  work: (registry: ScheduleRegistry, name: string) => Promise<ScheduleOverview>,
): Promise<number> {
  const { out, json } = context;
  const name = checkedScheduleName(id);
  const view = await withSchedules(context, (registry) => work(registry, name));
  if (json) await out.document(view);
  else
    await out.line(
      `${out.styles.green(participle)} schedule ${out.styles.bold(name)}${view.nextFireAt === undefined ? '' : `, next ${whenText(view)}`}`,
    );
  return EXIT_SUCCESS;
}

export async function removeSchedule(context: CommandContext, id: string): Promise<number> {
  const { out, json } = context;
  const name = checkedScheduleName(id);
  await withSchedules(context, (registry) => registry.remove(name));
  if (json) await out.document({ removed: name });
  else await out.line(`${out.styles.green('Removed')} schedule ${out.styles.bold(name)}`);
  return EXIT_SUCCESS;
}
