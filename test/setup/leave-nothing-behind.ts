/**
 * After its last test a file must have left nothing: no process it started, no open handle, no temporary file.
 *
 * Every test file has a TMPDIR of its own. Children inherit it, so a process that left its parent, its group and its
 * session is still found by it. What is found fails the file, and is then cleared away. Where files share a process,
 * what they replaced in it counts too.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject } from 'vitest';
import { isOnDisk } from './on-disk.ts';
import { processesLeft, runningPids } from './processes-left.ts';
import type { LeftProcess } from './processes-left.ts';

// What all that runs in a process shares, and a test file may have replaced: the next file in the same process would
// run under it.

const EVENTS = ['uncaughtException', 'unhandledRejection', 'warning', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What it is to people, and something that is the same until a test replaces it. */
type ProcessMarks = ReadonlyMap<string, unknown>;

function processMarks(): ProcessMarks {
  // The temporary folder is one of each file, given to it by its setup.
  const { TMPDIR: _, ...environment } = process.env;
  return new Map<string, unknown>([
    ['the clock', globalThis.Date],
    ['the timers', globalThis.setTimeout],
    ['the variables', JSON.stringify(environment, Object.keys(environment).toSorted())],
    ['the working folder', process.cwd()],
    ['the platform', process.platform],
    ...EVENTS.map((event) => [`who listens to ${event}`, process.listenerCount(event)] as const),
  ]);
}

/** @returns what is not as it was */
function replacedSince(before: ProcessMarks): string[] {
  return [...processMarks()].flatMap(([name, mark]) => (mark === before.get(name) ? [] : [name]));
}

declare module 'vitest' {
  interface ProvidedContext {
    /** How long something that is on its way out may take, on a busy machine, in milliseconds. A clean file waits 0.1 s at most:
     *  Vitest itself keeps a timer that long to batch its reports. */
    readonly leftoverGraceMs: number;
    /** Whether other test files come after this one in its process. */
    readonly sharesProcess: boolean;
  }
}

const POLL_MS = 10;

/** Say nothing about the test: closing takes a turn of the loop, and a terminal is there or not. */
const IGNORED_HANDLES: ReadonlySet<string> = new Set(['CloseReq', 'TTYWrap']);
/** Made by tools that children run, shared by all of them, and worth keeping. */
const IGNORED_FILES: ReadonlySet<string> = new Set(['node-compile-cache']);

interface Leftovers {
  readonly processes: readonly LeftProcess[];
  readonly handles: readonly string[];
  readonly files: readonly string[];
}

// A test that leaves simulated timers behind must not stop the clock of this check.
const realSetTimeout = globalThis.setTimeout;
const realNow = performance.now.bind(performance);
const pidsBefore = new Set(runningPids());
const place = isOnDisk(expect.getState().testPath ?? '') ? 'ordinary' : inject('scratchPlace');
const temporaryFolder = mkdtempSync(join(inject('scratchFolders')[place], 'f-'));
process.env['TMPDIR'] = temporaryFolder;

// Both open their handle when first touched, which may be in a test.
void process.stdout;
void process.stderr;
const handlesBefore = countHandles();
const marksBefore = processMarks();

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!IGNORED_HANDLES.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function handlesLeft(): string[] {
  return [...countHandles()].flatMap(([kind, count]) => {
    const extra = count - (handlesBefore.get(kind) ?? 0);
    return extra > 0 ? [`${extra} ${kind}`] : [];
  });
}

function filesLeft(): string[] {
  return readdirSync(temporaryFolder).filter((name) => !IGNORED_FILES.has(name));
}

async function settled(): Promise<Leftovers> {
  const deadline = realNow() + inject('leftoverGraceMs');
  for (;;) {
    const handles = handlesLeft();
    const isOver = realNow() > deadline;
    // Checking processes costs the most, and means little while handles are still closing.
    if (isOver || handles.length === 0) {
      const left = { processes: processesLeft(temporaryFolder, pidsBefore), handles, files: filesLeft() };
      if (isOver || left.processes.length + left.files.length === 0) return left;
    }
    await new Promise((resolve) => realSetTimeout(resolve, POLL_MS));
  }
}

function clearAway({ processes }: Leftovers): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended in between.
    }
  }
  rmSync(temporaryFolder, { recursive: true, force: true });
}

afterAll(async () => {
  const left = await settled();
  clearAway(left);
  const lines = [
    ...left.processes.map(({ pid, command }) => `process ${pid} still runs: ${command}`),
    ...left.handles.map((handle) => `still open: ${handle}`),
    ...left.files.map((name) => `still in the temporary folder: ${name}`),
    ...(inject('sharesProcess') ? replacedSince(marksBefore).map((name) => `not put back: ${name}`) : []),
  ];
  if (lines.length > 0) throw new Error(`this test file left something behind\n  ${lines.join('\n  ')}`);
});
