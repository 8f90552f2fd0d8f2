/**
 * Recorders as the benches of the inspector attach them, in the words of dist/, as in ../subagents/worker-parts.ts; and
 * tasks for them to watch.
 */
import { createSystemClock } from 'wakechart/node';
import { createManager, endless, noop, request } from '../tasks/managers.ts';

type Manager = ReturnType<typeof createManager>;

export interface Recorder {
  readonly statistics: {
    readonly records: number;
    readonly keptRecords: number;
    readonly untoldActors: number;
    readonly droppedPayloads: number;
    readonly faults: number;
  };
  detach(): void;
  follow(listener: () => void): () => void;
  range(): { readonly first: number; readonly last: number };
  records(from: number): AsyncIterable<readonly { readonly s: number }[]>;
}

export type Attach = (manager: Manager) => Recorder;

export async function loadRecorder(): Promise<Attach> {
  const { createRecorder } = (await import(
    new URL('../../../dist/actors/inspection/recorder.js', import.meta.url).href
  )) as { readonly createRecorder: (options: object) => Recorder };
  return ({ supervisor }) => createRecorder({ root: supervisor, clock: createSystemClock() });
}

/**
 * A manager of as many tasks as there are, from the files that the recorder is from: what lives in a system is known to
 * the copy of the code that keeps it.
 */
export async function createVastManager(): Promise<Manager> {
  const { BackgroundTaskManager } = (await import(
    new URL('../../../dist/actors/task/background-task-manager.js', import.meta.url).href
  )) as { readonly BackgroundTaskManager: new (options: object) => Manager };
  return new BackgroundTaskManager({ maxConcurrent: Infinity, maxPending: Infinity, runners: { process: endless } });
}

export const TASKS = 100_000;
/** What a no-op task leads to at least. */
const RECORDS_PER_TASK = 12;

export type Mode = 'off' | 'detached' | 'on' | 'followed';

/** Undefined: all come at once. Else so many in a turn of the event loop. */
export type Wave = number | undefined;

/** @returns microseconds per task */
export async function taskUs(attach: Attach, mode: Mode, wave: Wave): Promise<number> {
  const manager = createManager(noop);
  const recorder = mode === 'off' ? undefined : attach(manager);
  if (mode === 'detached') recorder?.detach();
  const heard = mode === 'followed' && recorder !== undefined ? readAlong(recorder) : () => Infinity;
  const us = await runTasks(manager, wave);
  const { records = 0, faults = 0, droppedPayloads = 0 } = recorder?.statistics ?? {};
  recorder?.detach();
  const isRecorded = mode === 'on' || mode === 'followed';
  if (faults > 0 || (isRecorded && records < TASKS * RECORDS_PER_TASK)) throw new Error('the recorder lost something');
  if (isRecorded && wave !== undefined && droppedPayloads > TASKS / 10)
    throw new Error('the recorder left out what it is measured with');
  if (mode === 'followed' && wave !== undefined && heard() < records / 2) throw new Error('the follower was not told');
  return us;
}

/** Reads everything as soon as it is told that there is something. @returns how many records it has read */
function readAlong(recorder: Recorder): () => number {
  let next = 1;
  let heard = 0;
  let isReading = false;
  const read = async (): Promise<void> => {
    isReading = true;
    while (next <= recorder.range().last) {
      for await (const page of recorder.records(next)) {
        heard += page.length;
        next = (page.at(-1)?.s ?? next) + 1;
      }
    }
    isReading = false;
  };
  recorder.follow(() => {
    if (!isReading) void read();
  });
  return () => heard;
}

async function runTasks(manager: Manager, wave: Wave = TASKS): Promise<number> {
  let completed = 0;
  let started = 0;
  const startedMs = performance.now();
  await new Promise<void>((resolve) => {
    manager.subscribe((event) => {
      if (event.type === 'background_task_completed' && (completed += 1) === TASKS) resolve();
    });
    const start = (): void => {
      for (const end = Math.min(TASKS, started + wave); started < end; started += 1) void manager.spawn(request);
      if (started < TASKS) setImmediate(start);
    };
    start();
  });
  return ((performance.now() - startedMs) / TASKS) * 1_000;
}
