/**
 * How schedules stand, in files: `<directory>/standings/<id>-<series>/<revision>.json`, each the whole standing. The
 * newest one counts. A revision is a file that only one writer can create, so the next standing replaces exactly the
 * one it was made from, without a lock and with nothing to clean up after a crash.
 */
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RecordedStanding, ScheduleStandings } from '../../actors/schedule/durable-ports.ts';
import { messageOf } from '../../machines/errors.ts';
import { scheduleStanding } from '../../machines/schedule/durable-standing.ts';
import type { ScheduleStanding } from '../../machines/schedule/durable-standing.ts';
import type { ScheduleDefinition } from '../../machines/schedule/schedule-definition.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { hasCode } from '../system/error-codes.ts';
import { createFile, makeFolder, namesIn } from '../system/whole-files.ts';
import { damaged, storeError } from './file-access.ts';

const STANDINGS_FOLDER = 'standings';
const REVISION_DIGITS = 12;
const REVISION_NAME = /^(?<revision>\d{12})\.json$/;
/** Old revisions say how it came to the present one. */
const REVISIONS_KEPT = 64;
/** A revision is pruned while a process reads it only when many others were made meanwhile. */
const MAX_READS = 16;

/** @param options.directory the folder of all that is kept of schedules */
export function createFileScheduleStandings({ directory }: { readonly directory: string }): ScheduleStandings {
  const root = join(resolve(directory), STANDINGS_FOLDER);
  const folderOf = ({ id, series }: ScheduleDefinition): string => join(root, `${id}-${series}`);
  return {
    load: (definition) =>
      load(folderOf(definition)).catch((thrown: unknown) => {
        throw storeError(thrown, `read how schedule "${definition.id}" stands`);
      }),
    record: (definition, after, standing) =>
      record(folderOf(definition), after, standing).catch((thrown: unknown) => {
        throw storeError(thrown, `record how schedule "${definition.id}" stands`);
      }),
  };
}

async function load(folder: string): Promise<RecordedStanding | undefined> {
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const revision = (await revisionsIn(folder)).at(-1);
    if (revision === undefined) return undefined;
    const path = pathOf(folder, revision);
    try {
      return { revision, standing: parse(path, await readFile(path, 'utf8')) };
    } catch (thrown) {
      if (!hasCode(thrown, 'ENOENT')) throw thrown;
    }
  }
  throw damaged(folder, `its newest revision went away ${MAX_READS} times while it was read`);
}

async function record(folder: string, after: number, standing: ScheduleStanding): Promise<boolean> {
  await makeFolder(folder);
  const revision = after + 1;
  if (!(await createFile(pathOf(folder, revision), `${JSON.stringify(standing)}\n`))) return false;
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

function parse(path: string, text: string): ScheduleStanding {
  try {
    return parseOrThrow(scheduleStanding, JSON.parse(text), {
      what: `the standing in ${path}`,
      code: 'SCHEDULE_STORE',
    });
  } catch (thrown) {
    throw damaged(path, `it holds no standing of a schedule: ${messageOf(thrown)}`);
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
