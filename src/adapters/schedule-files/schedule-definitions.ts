/** Definitions of schedules in files: `<directory>/definitions/<id>.json`, one each, for people to read. */
import { watch } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ScheduleDefinitions, ScheduleListing } from '../../actors/schedule/durable-ports.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { scheduleDefinition, scheduleId } from '../../machines/schedule/schedule-definition.ts';
import type { ScheduleDefinition } from '../../machines/schedule/schedule-definition.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { hasCode } from '../system/error-codes.ts';
import { createFile, makeFolder, namesIn, removeFile, replaceFile } from '../system/whole-files.ts';
import { absent, readFrom, storeError } from './file-access.ts';

const DEFINITIONS_FOLDER = 'definitions';
const EXTENSION = '.json';
/** More than the longest definition, with every character escaped. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

const INVALID = 'SCHEDULE_DEFINITION_INVALID';
const REPAIR = 'Repair the file, or remove the schedule and add it again.';

/** @param options.directory the folder of all that is kept of schedules; made when the first one is added */
export function createFileScheduleDefinitions({ directory }: { readonly directory: string }): ScheduleDefinitions {
  const folder = join(resolve(directory), DEFINITIONS_FOLDER);
  const pathOf = (id: string): string => join(folder, `${id}${EXTENSION}`);

  return {
    list: () => listingsIn(folder),
    async get(id) {
      const listing = await listingOf(id, pathOf(checkedName(id)));
      if (listing === undefined) throw unknown(id);
      if ('definition' in listing) return listing.definition;
      const { code, message, category, hint, details } = listing.error;
      throw new RuntimeError(code, message, { category, hint, details });
    },
    async add(definition) {
      const isNew = await attempt(`add schedule "${definition.id}"`, async () => {
        await makeFolder(folder);
        return createFile(pathOf(definition.id), textOf(definition));
      });
      if (!isNew)
        throw new RuntimeError('SCHEDULE_EXISTS', `there is a schedule "${definition.id}" already`, {
          category: 'conflict',
          hint: 'Choose another id, or replace it.',
          details: { scheduleId: definition.id },
        });
    },
    replace: (definition) =>
      attempt(`replace schedule "${definition.id}"`, () => replaceFile(pathOf(definition.id), textOf(definition))),
    async remove(id) {
      await attempt(`remove schedule "${id}"`, () =>
        removeFile(pathOf(checkedName(id))).catch((thrown: unknown) => {
          if (hasCode(thrown, 'ENOENT')) throw unknown(id);
          throw thrown;
        }),
      );
    },
    async ring(id) {
      const now = new Date();
      // A time of the file that changes is heard by those who watch its folder, and changes nothing else.
      await utimes(pathOf(id), now, now)
        .catch(absent)
        .catch((thrown: unknown) => failed(thrown, `tell of the change of schedule "${id}"`));
    },
    watch: (onChange) => watchFolder(folder, onChange),
  };
}

async function listingsIn(folder: string): Promise<readonly ScheduleListing[]> {
  const names = await attempt('list the schedules', () => namesIn(folder));
  const ids = names.filter((name) => name.endsWith(EXTENSION)).map((name) => name.slice(0, -EXTENSION.length));
  const listings: ScheduleListing[] = [];
  for (const id of ids.toSorted()) {
    // One after another: a file that is open counts against what a process may have open.
    const listing = await listingOf(id, join(folder, `${id}${EXTENSION}`));
    if (listing !== undefined) listings.push(listing);
  }
  return listings;
}

/** Undefined when there is no such file. Whatever else is wrong is a part of the listing. */
async function listingOf(id: string, path: string): Promise<ScheduleListing | undefined> {
  try {
    return { id, definition: await read(id, path) };
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    const error = RuntimeError.is(thrown)
      ? thrown
      : new RuntimeError(INVALID, `${path} cannot be read: ${messageOf(thrown)}`, {
          category: 'storage',
          hint: 'Check the file and at who owns it.',
          cause: thrown,
        });
    return { id, error: error.toJSON() };
  }
}

async function read(id: string, path: string): Promise<ScheduleDefinition> {
  const bytes = await readFrom(path, 0, MAX_FILE_BYTES + 1);
  if (bytes.length > MAX_FILE_BYTES) throw invalid(path, `it holds more than ${MAX_FILE_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
  const definition = parseOrThrow(scheduleDefinition, value, {
    what: `the schedule in ${path}`,
    code: INVALID,
    hint: REPAIR,
  });
  if (definition.id !== id) throw invalid(path, `it defines the schedule "${definition.id}"; its name says "${id}"`);
  return definition;
}

function checkedName(id: string): string {
  if (scheduleId.safeParse(id).success) return id;
  throw unknown(id);
}

function textOf(definition: ScheduleDefinition): string {
  return `${JSON.stringify(definition, undefined, 2)}\n`;
}

/** The folder is made if it is not there: nothing can be watched that does not exist. */
function watchFolder(folder: string, onChange: () => void): () => void {
  let watcher: ReturnType<typeof watch> | undefined;
  let isOver = false;
  const begin = async (): Promise<void> => {
    await makeFolder(folder);
    if (isOver) return;
    watcher = watch(folder, { persistent: false }, () => onChange());
    watcher.on('error', () => watcher?.close());
    onChange();
  };
  // Without a watch changes are found by checking.
  begin().catch(() => undefined);
  return () => {
    isOver = true;
    watcher?.close();
  };
}

async function attempt<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  return work().catch((thrown: unknown) => failed(thrown, what));
}

function failed(thrown: unknown, what: string): never {
  throw storeError(thrown, what);
}

function invalid(path: string, what: string, cause?: unknown): RuntimeError {
  return new RuntimeError(INVALID, `the schedule in ${path} is not valid: ${what}`, {
    category: 'validation',
    hint: REPAIR,
    cause,
  });
}

function unknown(id: string): RuntimeError {
  return new RuntimeError('SCHEDULE_NOT_FOUND', `there is no schedule "${id}"`, {
    category: 'not_found',
    hint: 'List the schedules.',
    details: { scheduleId: id },
  });
}
