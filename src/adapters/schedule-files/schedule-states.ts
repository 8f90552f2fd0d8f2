/**
 * The states of schedules, in files: `<SCHEDULE_STATES_FOLDER>/<id>-<series>/<revision>.json`, each the whole state.
 * The newest one counts. A revision is a file that only one writer can create, so the next state replaces exactly the
 * one it was made from, without a lock and with nothing to clean up after a crash.
 */
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RecordedScheduleState, ScheduleStates } from '../../actors/schedule/durable-ports.ts';
import { messageOf } from '../../machines/errors.ts';
import { scheduleState } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleState } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleDefinition } from '../../machines/schedule/schedule-definition.ts';
import { SCHEDULE_STATES_FOLDER } from '../../machines/stored-names.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { hasCode } from '../system/error-codes.ts';
import { createFile, makeFolder, namesIn } from '../system/whole-files.ts';
import { damaged, storeError } from './file-access.ts';

const REVISION_DIGITS = 12;
const REVISION_NAME = /^(?<revision>\d{12})\.json$/;
/** Old revisions say how it came to the present one. */
const REVISIONS_KEPT = 64;
/** A revision is pruned while a process reads it only when many others were made meanwhile. */
const MAX_READS = 16;

/** @param options.directory the folder of all that is kept of schedules */
export function createFileScheduleStates({ directory }: { readonly directory: string }): ScheduleStates {
  const root = join(resolve(directory), SCHEDULE_STATES_FOLDER);
  const folderOf = ({ id, series }: ScheduleDefinition): string => join(root, `${id}-${series}`);
  return {
    load: (definition) =>
      load(folderOf(definition)).catch((thrown: unknown) => {
        throw storeError(thrown, `read how schedule "${definition.id}" stands`);
      }),
    record: (definition, after, state) =>
      record(folderOf(definition), after, state).catch((thrown: unknown) => {
        throw storeError(thrown, `record how schedule "${definition.id}" stands`);
      }),
  };
}

async function load(folder: string): Promise<RecordedScheduleState | undefined> {
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const revision = (await revisionsIn(folder)).at(-1);
    if (revision === undefined) return undefined;
    const path = pathOf(folder, revision);
    try {
      return { revision, state: parse(path, await readFile(path, 'utf8')) };
    } catch (thrown) {
      if (!hasCode(thrown, 'ENOENT')) throw thrown;
    }
  }
  throw damaged(folder, `its newest revision went away ${MAX_READS} times while it was read`);
}

async function record(folder: string, after: number, state: ScheduleState): Promise<boolean> {
  await makeFolder(folder);
  const revision = after + 1;
  if (!(await createFile(pathOf(folder, revision), `${JSON.stringify(state)}\n`))) return false;
  const revisions = await revisionsIn(folder);
  // A writer that slept so long that its revision was made and pruned meanwhile has not made the newest.
  if (revisions.some((other) => other >= revision + REVISIONS_KEPT)) {
    await rm(pathOf(folder, revision), { force: true });
    return false;
  }
  const old = revisions.filter((other) => other <= revision - REVISIONS_KEPT);
  await Promise.all(old.map((other) => rm(pathOf(folder, other), { force: true })));
  return true;
}

function parse(path: string, text: string): ScheduleState {
  try {
    return parseOrThrow(scheduleState, JSON.parse(text), {
      what: `the state in ${path}`,
      code: 'SCHEDULE_STORE',
    });
  } catch (thrown) {
    throw damaged(path, `it holds no state of a schedule: ${messageOf(thrown)}`);
  }
}

/** Ascending. */
async function revisionsIn(folder: string): Promise<number[]> {
  const names = await namesIn(folder);
  return names
    .map((name) => REVISION_NAME.exec(name)?.groups?.['revision'])
    .filter((revision) => revision !== undefined)
    .map(Number)
    .toSorted((one, other) => one - other);
}

function pathOf(folder: string, revision: number): string {
  return join(folder, `${String(revision).padStart(REVISION_DIGITS, '0')}.json`);
}
