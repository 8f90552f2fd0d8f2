/** The schedules of a home, without anything that could run them: for commands that add, change and check. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { ScheduleRegistry } from '../../actors/schedule/durable-registry.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { scheduleId } from '../../machines/schedule/schedule-definition.ts';
import { createCronerPlan } from '../../adapters/cron/croner-plan.ts';
import { storageFailed } from '../../adapters/files/storage-errors.ts';
import { systemCodeOf } from '../../adapters/system/error-codes.ts';
import { nextCommand, storeText } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { checkHome } from '../home.ts';
import { openStore } from '../open/store.ts';
import { closestName } from '../../machines/closest-name.ts';
import { usageError } from '../usage.ts';

const SCHEDULES_FOLDER = 'schedules';
/** More names than these do not help. */
const MAX_SHOWN = 10;

/** What can be seen from the arguments alone. */
const WRONG_USAGE: ReadonlySet<string> = new Set([
  'SCHEDULE_INVALID',
  'SCHEDULE_EXPRESSION',
  'SCHEDULE_TIMEZONE',
  'SCHEDULE_NEVER_FIRES',
]);

/** Lets `work` use the schedules. An error about one that is not there says which ones are. */
export async function withSchedules<Result>(
  context: CommandContext,
  work: (registry: ScheduleRegistry) => Promise<Result>,
): Promise<Result> {
  await checkHome(context.home);
  const { store, clock, schedules } = await openStore(context);
  const registry = new ScheduleRegistry({ ...schedules, cron: createCronerPlan(), clock });
  try {
    return await work(registry);
  } catch (error) {
    throw await inOurWords(error, context, registry);
  } finally {
    await store.close();
  }
}

export function checkedScheduleName(id: string): string {
  if (scheduleId.safeParse(id).success) return id;
  throw usageError(
    `expected the id of a schedule, received ${JSON.stringify(id)}`,
    'An id has lower-case letters, digits, "-" and "_", at most 64 of them, such as nightly-report.',
  );
}

/**
 * What the system says of a disk that is read-only; some ways of making a folder say that what is above it is missing.
 */
const READ_ONLY: ReadonlySet<unknown> = new Set(['EROFS', 'ENOENT']);

/**
 * Why nothing can be written, where that is the reason: in the words of the home, since the store of schedules is a
 * part of it.
 */
async function writingRefused({ home }: CommandContext, cause: RuntimeError): Promise<RuntimeError | undefined> {
  if (cause.category !== 'storage' || !READ_ONLY.has(cause.details?.['code'])) return undefined;
  const folder = join(home, SCHEDULES_FOLDER);
  const refusal = await access(folder, constants.W_OK).catch((error: unknown) =>
    systemCodeOf(error) === 'ENOENT' ? access(home, constants.W_OK).catch((above: unknown) => above) : error,
  );
  return refusal === undefined ? undefined : storageFailed(`change the schedules in ${home}`, refusal);
}

async function inOurWords(error: unknown, context: CommandContext, registry: ScheduleRegistry): Promise<unknown> {
  if (!RuntimeError.is(error)) return error;
  const { code, message, category, details, hint } = error;
  if (WRONG_USAGE.has(code)) return usageError(message, hint ?? 'See: wakechart schedule add --help');
  if (code === 'SCHEDULE_NOT_FOUND')
    return new RuntimeError(code, message, {
      category,
      details,
      hint: await whatThereIs(error, context, registry),
      cause: error,
    });
  if (code === 'SCHEDULE_EXISTS')
    return new RuntimeError(code, message, {
      category,
      details,
      hint: 'Choose another --id, or add --replace.',
      cause: error,
    });
  return (await writingRefused(context, error)) ?? error;
}

async function whatThereIs(error: RuntimeError, context: CommandContext, registry: ScheduleRegistry): Promise<string> {
  const ids = await registry.list().then(
    (views) => views.map(({ id }) => id),
    () => [],
  );
  if (ids.length === 0)
    return `There are no schedules in ${storeText(context)} yet. Add one: ${nextCommand(context, 'schedule', 'add', '--help')}`;
  const given = error.details?.['scheduleId'];
  const meant = closestName(typeof given === 'string' ? given : '', ids);
  const more = ids.length > MAX_SHOWN ? ` and ${ids.length - MAX_SHOWN} more` : '';
  return `${meant === undefined ? '' : `Did you mean "${meant}"? `}Schedules in ${storeText(context)}: ${ids.slice(0, MAX_SHOWN).join(', ')}${more}.`;
}
