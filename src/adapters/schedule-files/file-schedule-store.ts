/**
 * Schedules remembered in files: one folder for each, append-only, safe against crashes and shared by any number of
 * processes.
 */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import * as z from 'zod';
import type { ScheduleStore } from '../../actors/schedule/schedule-store.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { storeError } from './file-access.ts';
import { ScheduleFile } from './schedule-file.ts';
import { folderOf } from './schedule-folder.ts';

const storeOptions = z.strictObject({
  /** Created when the first record is stored. */
  directory: z.string().min(1),
  /**
   * `disk`: a record counts when `fdatasync` has returned. `os`: it survives the end of the process, not a power
   * failure.
   */
  durability: z.enum(['disk', 'os']).default('disk'),
  /** A segment this long is closed. Opening a schedule reads one segment, however long its history is. */
  maxSegmentBytes: z
    .number()
    .int()
    .positive()
    .default(1024 * 1024),
});

export type FileScheduleStoreOptions = Readonly<z.input<typeof storeOptions>>;

/** @throws RuntimeError category `validation` for options that make no sense */
export function createFileScheduleStore(options: FileScheduleStoreOptions): ScheduleStore {
  const { directory, durability, maxSegmentBytes } = checked(options);
  const root = resolve(directory);
  const writer = randomUUID();
  let lineCount = 0;
  const files = new Map<string, { readonly file: ScheduleFile; tail: Promise<unknown> }>();

  const entryOf = (scheduleId: string): { readonly file: ScheduleFile; tail: Promise<unknown> } => {
    const known = files.get(scheduleId);
    if (known !== undefined) return known;
    const file = new ScheduleFile({
      folder: folderOf(root, scheduleId),
      scheduleId,
      maxSegmentBytes,
      durability,
      nextLineId: () => `${writer}-${(lineCount += 1)}`,
    });
    const entry = { file, tail: Promise.resolve() };
    files.set(scheduleId, entry);
    return entry;
  };

  /** One access to a schedule's file after another. */
  const inTurn = <Result>(
    scheduleId: string,
    what: string,
    work: (file: ScheduleFile) => Promise<Result>,
  ): Promise<Result> => {
    const entry = entryOf(scheduleId);
    const result = entry.tail
      .then(() => work(entry.file))
      .catch((thrown: unknown) => {
        throw storeError(thrown, `${what} schedule "${scheduleId}"`);
      });
    entry.tail = result.catch(() => undefined);
    return result;
  };

  return {
    load: (scheduleId) => inTurn(scheduleId, 'read', (file) => file.history()),
    append: (scheduleId, records) => inTurn(scheduleId, 'record', (file) => file.append(records)),
    async *records(scheduleId) {
      try {
        yield* entryOf(scheduleId).file.records();
      } catch (thrown) {
        throw storeError(thrown, `read schedule "${scheduleId}"`);
      }
    },
  };
}

function checked(options: FileScheduleStoreOptions): z.output<typeof storeOptions> {
  const parsed = storeOptions.safeParse(options);
  if (parsed.success) return parsed.data;
  throw new RuntimeError(
    'SCHEDULE_STORE_OPTIONS',
    `invalid options of the schedule store: ${z.prettifyError(parsed.error)}`,
    { category: 'validation' },
  );
}
