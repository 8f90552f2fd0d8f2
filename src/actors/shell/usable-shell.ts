/**
 * Finds the shell that a call means, and opens it again where it is not there any more: since its process ended, it was
 * not used for long, its session went on in another process, or the session's environment is another one now. What is
 * not known of it, the reply names.
 */
import type { ShellRecord } from '../../machines/turn/shell/shell-record.ts';
import type { ShellHistory, ShellRestoring } from '../../machines/turn/shell/shell-results.ts';
import { SHELL_START_COMMAND } from '../../machines/turn/shell/shell-script.ts';
import { messageOf } from '../../machines/errors.ts';
import type { CommandEnvironmentSettings } from '../../machines/turn/shell/environment.ts';
import type { EventStore, SessionIdentity } from '../session/event-store.ts';
import { commandIn, environmentIn, secretsFor } from './command-workspace.ts';
import type { CommandPlace, SecretVariables } from './command-workspace.ts';
import { entriesOfEnded } from './shell-history.ts';
import type { HistoryBefore } from './shell-history.ts';
import type { ShellHost, ShellRecords } from './shell-host.ts';
import type { Shell, ShellRequest } from './shell.ts';
import type { Shells } from './shells.ts';

export interface ShellPorts {
  readonly shells: Shells;
  readonly host: ShellHost;
  /** What commands get besides the usual variables. */
  readonly environment: CommandEnvironmentSettings;
  readonly records?: ShellRecords | undefined;
  /** Where the values of variables are. */
  readonly log?: Pick<EventStore, 'read'> | undefined;
}

export interface UsableShell {
  readonly shell: Shell;
  /** It was opened for this call, and there was none before. */
  readonly isNew: boolean;
  readonly restoring: ShellRestoring;
}

const PROCESS_ENDED = 'the process in which it was open has ended';
const WENT_ON_ELSEWHERE = 'its session has gone on in another process since';
const ENVIRONMENT_CHANGED =
  'SHELL_ENVIRONMENT_CHANGED: the environment of the session is another one now, and whatever ran in the shell was ended';
const NEVER_RESTORED = 'functions, aliases, background jobs, and variables that are not exported';
/** Of a record that says nothing of them. */
const EXPORTS_UNKNOWN = 'variables that commands have exported: the shell was not asked which there are';

/**
 * @param mayBegin whether one is opened where there was none @throws RuntimeError SHELL_CLOSED, and what opening a
 * shell throws
 */
export async function usableShell(
  ports: ShellPorts,
  context: CommandPlace,
  { name, mayBegin }: { readonly name: string; readonly mayBegin: boolean },
): Promise<UsableShell> {
  const { shells, records } = ports;
  const found = shells.find(context.session.sessionId, name);
  // What is kept of it may just be changing.
  if (found?.isOpen !== true) await found?.saved();
  const record = records?.read(context.session, name);
  const because = whyNotUsable(found, record, context);
  if (because !== undefined) {
    const before = record ?? found?.record();
    if (found?.isOpen === true) await found.end(because, { records: 'keep' });
    if (before !== undefined) return restored(ports, context, { name, before, because });
  }
  if (!mayBegin || found?.isOpen === true)
    return { shell: shells.get(context.session.sessionId, name), isNew: false, restoring: {} };
  return {
    shell: await openShell(ports, context, { name, cwd: workspaceOf(ports, context) }),
    isNew: true,
    restoring: {},
  };
}

/** Undefined for one that can be used, and where there is none. */
function whyNotUsable(
  found: Shell | undefined,
  record: ShellRecord | undefined,
  { environment }: CommandPlace,
): string | undefined {
  if (found === undefined) return record === undefined ? undefined : PROCESS_ENDED;
  if (record !== undefined && isSuperseded(found, record)) return WENT_ON_ELSEWHERE;
  if (!found.isOpen) return record === undefined ? undefined : found.endedBecause;
  return found.fingerprint === environment?.fingerprint ? undefined : ENVIRONMENT_CHANGED;
}

/** Another process has opened it since. */
export function isSuperseded(found: Shell, record: ShellRecord): boolean {
  return record.instance !== found.instance;
}

/**
 * Where a command of it would run, also when it would have to be opened again. Undefined for one that would begin anew.
 */
export function folderOfShell(
  { shells, records }: ShellPorts,
  session: SessionIdentity,
  name: string,
): string | undefined {
  const found = shells.find(session.sessionId, name);
  const record = records?.read(session, name);
  if (found?.isOpen === true && (record === undefined || !isSuperseded(found, record))) return found.cwd;
  return record?.cwd;
}

/** Undefined where nothing is known of it. */
export function historyOf(
  { shells, records }: ShellPorts,
  session: SessionIdentity,
  name: string,
): ShellHistory | undefined {
  const found = shells.find(session.sessionId, name);
  const record = records?.read(session, name);
  if (record === undefined || (found !== undefined && !isSuperseded(found, record))) return found?.describe();
  const { entries, variables, cwd, forgotten } = record;
  return {
    shell: name,
    open: false,
    ended: `${found === undefined ? PROCESS_ENDED : WENT_ON_ELSEWHERE}; it is opened again when it is used`,
    ...(cwd === undefined ? {} : { cwd }),
    variables: variables.flatMap((variable) => ('removed' in variable ? [] : [variable.name])),
    entries: entriesOfEnded(entries),
    ...(forgotten > 0 ? { forgotten } : {}),
  };
}

export interface ShellOpening {
  readonly name: string;
  /** A real path in the workspace. */
  readonly cwd: string;
  readonly secrets?: SecretVariables | undefined;
  readonly before?: ShellRequest['before'];
}

/**
 * @throws RuntimeError SHELL_ALREADY_OPEN, SHELL_LIMIT, SHELLS_CLOSED or SHELL_NOT_OPENED; SECRET_UNKNOWN,
 * SECRET_NOT_FOR_COMMANDS, SECRET_UNAVAILABLE
 */
export async function openShell(
  { shells, host, environment: settings }: ShellPorts,
  context: CommandPlace,
  { name, cwd, secrets = {}, before }: ShellOpening,
): Promise<Shell> {
  const { session, environment } = context;
  const filled = Object.entries(secrets).map(([variable, secret]) => ({ name: variable, secret }));
  return shells.open({
    name,
    session: { sessionId: session.sessionId, agentId: session.agentId },
    cwd,
    command: commandIn(context, SHELL_START_COMMAND, cwd),
    isShutIn: environment?.sandbox !== undefined,
    environment: { ...environmentIn(context, host, settings), ...secretsFor(context, secrets) },
    fingerprint: environment?.fingerprint,
    secrets: environment?.secrets,
    before: before ?? { entries: [], forgotten: 0, variables: filled },
  });
}

/** A sandbox has it by its real path. */
function workspaceOf({ host }: ShellPorts, { workspaceDirectory, environment }: CommandPlace): string {
  return environment?.sandbox === undefined ? workspaceDirectory : host.resolveInside(workspaceDirectory, '.');
}

interface Restoration {
  readonly name: string;
  readonly before: Pick<ShellRecord, 'cwd' | 'exports'> & HistoryBefore;
  readonly because: string;
}

async function restored(
  ports: ShellPorts,
  context: CommandPlace,
  { name, before, because }: Restoration,
): Promise<UsableShell> {
  const cwd = workspaceOf(ports, context);
  const { secrets, missing } = secretsThatAreThere(context, before);
  const { variables, lost } = await valuesIn(ports, context.session, before);
  const shell = await openShell(ports, context, { name, cwd, secrets, before });
  const { variables: exports, notKept } = before.exports ?? { variables: [], notKept: [EXPORTS_UNKNOWN] };
  const lostNow = lost.filter(({ name: given }) => !exports.some((each) => each.name === given));
  const notExported = notKept.filter(
    (words) => !lostNow.some(({ name: given }) => words.startsWith(`the exported variable ${given}:`)),
  );
  const refused = await shell.bringBack({ cwd: before.cwd, variables, exports });
  const running =
    before.entries.at(-1)?.status === 'running' ? ['the command that ran in it; how far it came is not known'] : [];
  return {
    shell,
    isNew: false,
    restoring: {
      restored: true,
      because,
      notRestored: [
        NEVER_RESTORED,
        ...notExported,
        ...running,
        ...missing,
        ...lostNow.map(({ words }) => words),
        ...refused,
      ],
    },
  };
}

function secretsThatAreThere(
  context: CommandPlace,
  { variables }: HistoryBefore,
): { readonly secrets: SecretVariables; readonly missing: readonly string[] } {
  const secrets: Record<string, string> = {};
  const missing: string[] = [];
  for (const variable of variables) {
    if (!('secret' in variable)) continue;
    try {
      secretsFor(context, { [variable.name]: variable.secret });
      secrets[variable.name] = variable.secret;
    } catch (error) {
      missing.push(`the variable ${variable.name}: ${messageOf(error)}`);
    }
  }
  return { secrets, missing };
}

interface Values {
  readonly variables: readonly { readonly name: string; readonly value: string | null }[];
  readonly lost: readonly { readonly name: string; readonly words: string }[];
}

async function valuesIn(
  { log }: ShellPorts,
  { sessionId }: SessionIdentity,
  { variables }: HistoryBefore,
): Promise<Values> {
  const found: { name: string; value: string | null }[] = [];
  const lost: { name: string; words: string }[] = [];
  for (const variable of variables) {
    const { name } = variable;
    if ('removed' in variable) found.push({ name, value: null });
    else if ('lost' in variable) lost.push({ name, words: `the variable ${name}: ${variable.lost}` });
    else if ('seq' in variable) {
      const value = await valueAt(log, sessionId, { name, seq: variable.seq });
      if (value === undefined)
        lost.push({ name, words: `the variable ${name}: the call that set it cannot be found in the log` });
      else found.push({ name, value });
    }
  }
  return { variables: found, lost };
}

/** The record says where to check, the log what was set: a record of something else sets nothing. */
async function valueAt(
  log: ShellPorts['log'],
  sessionId: string,
  { name, seq }: { readonly name: string; readonly seq: number },
): Promise<string | undefined> {
  const [event] = (await log?.read(sessionId, { from: seq, limit: 1 }).catch(() => [])) ?? [];
  if (event?.type !== 'agent.tool_use' || event.seq !== seq || event.data.name !== 'shell_set_env') return undefined;
  const input: unknown = event.data.input;
  if (typeof input !== 'object' || input === null || !('name' in input) || !('value' in input)) return undefined;
  return input.name === name && typeof input.value === 'string' ? input.value : undefined;
}
