/**
 * Reads processes through `ps`, where there is no /proc: macOS and the BSDs.
 *
 * Start times come in whole seconds, and some systems hide environments even from their owner; what is left to go by
 * then are parentage, group and session.
 */
import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../machines/errors.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { ProcessSnapshot } from './process-table.ts';
import type { ProcessEntry, ProcessTable, ProcessUsage } from './process-table.ts';
import { TAG_VARIABLE, splitTags } from './tags.ts';

const run = promisify(execFile);

const COLUMNS = 'pid=,ppid=,pgid=,sess=,state=,lstart=,command=';
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 256 * 1_048_576;
/** `ps` may round a start time either way from one call to the next. */
const START_TOLERANCE_S = 2;

/** pid, parent, group, session, state, a date of five words, and the command with its environment. */
const ROW =
  /^\s*(?<pid>\d+)\s+(?<parent>\d+)\s+(?<group>\d+)\s+(?<session>\S+)\s+(?<state>\S+)\s+(?<start>\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)(?:\s+(?<command>.*))?$/;
const TAG = new RegExp(`(?:^|\\s)${TAG_VARIABLE}=(?<tags>\\S*)`);

export function createPsTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  const list = async (selection: readonly string[]): Promise<Map<number, ProcessEntry>> => {
    const { stdout } = await run('ps', [...selection, '-o', COLUMNS], {
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
    });
    const entries = stdout.split('\n').flatMap((line) => parseRow(line) ?? []);
    return new Map(entries.map((entry) => [entry.pid, entry]));
  };
  /** The environment after the command is one more option, and no two systems agree on it. */
  const everything = platform === 'darwin' ? ['-A', '-E', '-ww'] : ['axeww'];

  const listAll = (): Promise<Map<number, ProcessEntry>> =>
    list(everything).catch((cause: unknown) => {
      throw new BackgroundTaskError('process', `the list of processes could not be read: ${messageOf(cause)}`, {
        code: 'PROCESS_TABLE_UNREADABLE',
        hint: 'Install ps, or run where /proc is available.',
        cause,
      });
    });

  // `onEntry` is never called: by the time ps has printed entries they are too old to be acted on.
  const read = async (): Promise<ProcessSnapshot> => new ProcessSnapshot(await listAll());
  const pick = async (pids: readonly number[]): Promise<Map<number, ProcessEntry>> => {
    try {
      return await list(['-p', pids.join(',')]);
    } catch {
      // ps exits with 1 when it finds none of them.
      return new Map();
    }
  };

  return {
    kind: 'ps',
    startTolerance: START_TOLERANCE_S,
    identityOf: ({ startTime }) => (Number.isFinite(startTime) ? { startedAtMs: startTime * 1_000 } : {}),
    read,
    check: async (pid) => (await pick([pid])).get(pid),
    stillThere: async (entries) => {
      const now = await pick(entries.map(({ pid }) => pid));
      return entries.filter(
        ({ pid, startTime }) => Math.abs((now.get(pid)?.startTime ?? -Infinity) - startTime) <= START_TOLERANCE_S,
      );
    },
    usageOf: (entries) => usageOf(entries.map(({ pid }) => pid)),
    outputsOf: () => [],
    holdersOf: () => Promise.resolve([]),
  };
}

/** pid, kilobytes, processor time as `[[dd-]hh:]mm:ss[.hh]`, and the name of the program. */
const USAGE =
  /^\s*(?<pid>\d+)\s+(?<kilobytes>\d+)\s+(?:(?:(?<days>\d+)-)?(?<hours>\d+):)?(?<minutes>\d+):(?<seconds>[\d.]+)\s+(?<name>.*)$/;

async function usageOf(pids: readonly number[]): Promise<ReadonlyMap<number, ProcessUsage>> {
  if (pids.length === 0) return new Map();
  // It exits with 1 when it finds none of them.
  const { stdout } = await run('ps', ['-p', pids.join(','), '-o', 'pid=,rss=,time=,comm='], {
    env: { ...process.env, LC_ALL: 'C' },
    timeout: TIMEOUT_MS,
  }).catch(() => ({ stdout: '' }));
  return new Map(
    stdout.split('\n').flatMap((line) => {
      const { pid, kilobytes, days = 0, hours = 0, minutes, seconds, name = '' } = USAGE.exec(line)?.groups ?? {};
      if (pid === undefined) return [];
      const whole = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
      const used = {
        name: basename(name),
        processorMs: Math.round(whole * 1000),
        residentBytes: Number(kilobytes) * 1024,
      };
      return [[Number(pid), used] as const];
    }),
  );
}

function parseRow(line: string): ProcessEntry | undefined {
  const row = ROW.exec(line)?.groups;
  if (row === undefined) return undefined;
  const state = row['state'] ?? '';
  const session = Number(row['session']);
  return {
    pid: Number(row['pid']),
    parent: Number(row['parent']),
    group: Number(row['group']),
    session: Number.isInteger(session) ? session : 0,
    startTime: Date.parse(`${row['start'] ?? ''} UTC`) / 1000,
    state: /^[ZX]/.test(state) ? 'dead' : state.startsWith('T') ? 'stopped' : 'alive',
    // The ps of BSD systems says so; that of Linux does not.
    isExiting: state.slice(1).includes('E'),
    tags: splitTags(TAG.exec(row['command'] ?? '')?.groups?.['tags'] ?? ''),
  };
}
