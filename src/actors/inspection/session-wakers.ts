/** Which process wakes a session, where it is, and what is known of it. */
import type { SessionState } from '../../machines/session/session-state.ts';
import { isSameProcess, isWorker, shownCommandLine } from '../../machines/session/waker-process.ts';
import type { SuspendedProcess } from '../../machines/session/why-work.ts';
import type { ProcessTree } from '../task/process-tree.ts';
import type { Fleet } from './fleet.ts';
import type { InspectedText } from './inspected-text.ts';
import type { InspectedFormerWorker, InspectedWorker } from './inspection-source.ts';

export interface WakerFacts {
  readonly text: InspectedText;
  /** Names this process in the logs. Absent: every other counts as another. */
  readonly owner?: string | undefined;
  readonly processTree?: Pick<ProcessTree, 'usageOf'> | undefined;
  readonly fleet?: Pick<Fleet, 'workerOf'> | undefined;
  readonly onProblem: (error: unknown) => void;
}

const MAX_OWNER_CHARACTERS = 300;
const MAX_COMMAND_CHARACTERS = 300;

/** Undefined: no wake of it is open. */
export async function workerOf(
  { sessionId, openWake, updatedAt }: SessionState,
  facts: WakerFacts,
): Promise<InspectedWorker | undefined> {
  if (openWake === undefined) return undefined;
  const { text, owner: own, processTree, fleet, onProblem } = facts;
  const { owner, startedAt: since } = openWake;
  const { host, pid } = hostAndProcess(owner);
  const place =
    owner === own ? 'this' : host !== undefined && host === hostAndProcess(own ?? '').host ? 'here' : 'elsewhere';
  const unknown = (error: unknown): undefined => {
    onProblem(error);
    return undefined;
  };
  const found =
    place === 'elsewhere' || pid === undefined ? undefined : await processTree?.usageOf?.(pid).catch(unknown);
  const use = isSameProcess(found?.startedAtMs, since) ? found : undefined;
  const row = await fleet?.workerOf(sessionId).catch(unknown);
  return {
    owner: text.cut(owner, MAX_OWNER_CHARACTERS),
    place,
    ...(host === undefined ? {} : { host: text.cut(host, MAX_OWNER_CHARACTERS), pid }),
    since,
    ...(updatedAt === undefined ? {} : { heardAt: updatedAt }),
    ...(row === undefined
      ? {}
      : row.owner === owner
        ? { aliveUntil: row.aliveUntil }
        : { takenBy: text.cut(row.owner, MAX_OWNER_CHARACTERS) }),
    ...(use?.processorMs === undefined ? {} : { processorMs: use.processorMs }),
    ...(use?.residentBytes === undefined ? {} : { residentBytes: use.residentBytes }),
    ...(use?.isSuspended === true ? { isSuspended: true } : {}),
    ...(use?.commandLine === undefined ? {} : ofCommand(use.commandLine, text)),
  };
}

function ofCommand(words: readonly string[], text: InspectedText): Pick<InspectedWorker, 'commandLine' | 'isWorker'> {
  return { commandLine: inspectedCommand(words, text), ...(isWorker(words) ? { isWorker: true } : {}) };
}

/** Without secrets, and bounded. */
export function inspectedCommand(words: readonly string[], text: InspectedText): string {
  return text.cut(shownCommandLine(words), MAX_COMMAND_CHARACTERS);
}

/**
 * Those of this machine that woke a session which runs, or whose wakes were lost, but for the one that wakes it now: the
 * last of them first.
 */
export async function formerWorkersOf(
  { openWake, lastWake }: SessionState,
  owners: ReadonlyMap<string, string>,
  { text, owner: own = '', processTree, onProblem }: Omit<WakerFacts, 'fleet'>,
): Promise<readonly InspectedFormerWorker[]> {
  const isOfUse = openWake !== undefined || lastWake?.outcome === 'lost';
  if (!isOfUse || processTree?.usageOf === undefined) return [];
  const here = hostAndProcess(own).host;
  const found = await Promise.all(
    [...owners].map(async ([owner, since]): Promise<readonly InspectedFormerWorker[]> => {
      const { host, pid } = hostAndProcess(owner);
      if (owner === openWake?.owner || host === undefined || host !== here || pid === undefined) return [];
      try {
        const use = await processTree.usageOf?.(pid);
        const isGone = use === undefined || !isSameProcess(use.startedAtMs, since);
        const state = isGone ? 'gone' : use.isSuspended === true ? 'suspended' : 'running';
        const command = isGone ? undefined : use.commandLine;
        const told = command === undefined ? {} : { commandLine: inspectedCommand(command, text) };
        return [{ host, pid, state, since, ...told }];
      } catch (error) {
        onProblem(error);
        return [];
      }
    }),
  );
  return found.flat().toReversed();
}

/** Of all that woke it. */
export function suspendedOf(
  worker: InspectedWorker | undefined,
  former: readonly InspectedFormerWorker[],
): readonly SuspendedProcess[] {
  const { host, pid, isSuspended } = worker ?? {};
  return [
    ...(isSuspended === true && host !== undefined && pid !== undefined ? [{ host, pid }] : []),
    ...former.filter(({ state }) => state === 'suspended').map((process) => ({ host: process.host, pid: process.pid })),
  ];
}

/** Programs may name themselves otherwise. */
function hostAndProcess(owner: string): { readonly host?: string; readonly pid?: number } {
  const { host, pid } = /^(?<host>.+):(?<pid>[1-9]\d{0,9})$/.exec(owner)?.groups ?? {};
  return host === undefined ? {} : { host, pid: Number(pid) };
}
