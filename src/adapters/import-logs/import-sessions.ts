/**
 * Brings sessions of another runtime over, one by one: each is there with all that belongs to it, or not at all. The
 * same source again brings nothing. Nothing is ever written where the source lies.
 */
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { agentId as agentIdSchema, isUuidV7 } from '../../machines/ids.ts';
import { composeSession } from '../../machines/import/compose-session.ts';
import type { ComposedSession } from '../../machines/import/compose-session.ts';
import { countedByType, unreadReport } from '../../machines/import/import-report.ts';
import type { ImportedSessionReport } from '../../machines/import/import-report.ts';
import { derivedSessionId, firstEventId, isOfSameSource } from '../../machines/import/imported-ids.ts';
import type { SourceMark } from '../../machines/import/imported-ids.ts';
import type { SourceRuntime } from '../../machines/import/source-fact.ts';
import type { LeftOver, SourceEntry } from '../../machines/import/source-log.ts';
import { exportedLines } from './exported-lines.ts';
import { findSessions } from './find-sessions.ts';
import type { PassedOver, SourceSession } from './find-sessions.ts';
import { keepImportedFiles } from './imported-files.ts';
import { readSession, sha256 } from './read-session.ts';
import type { ReadSession } from './read-session.ts';
import { SourceTree } from './source-tree.ts';

export interface ImportPorts {
  readonly sessions: Pick<Sessions, 'import' | 'events' | 'delete'>;
  readonly agents: Pick<AgentCatalog, 'get'>;
  /** Where a session works. */
  readonly workspaceOf: (identity: SessionIdentity) => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface ImportRequest {
  readonly from: SourceRuntime;
  /** The home of the other runtime, an agent, a session or one log of it. */
  readonly path: string;
  /** Whose sessions they become. Default: the agent of the same id. */
  readonly agentId?: string | undefined;
  /** Checks, and makes nothing. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears of each session when it is done. */
  readonly onSession?: ((report: ImportedSessionReport, found: number) => void) | undefined;
}

export interface ImportOutcome {
  readonly sessions: readonly ImportedSessionReport[];
  /** Sessions that were found and not checked, since the caller stopped the import. */
  readonly notReached: number;
  readonly passedOver: readonly PassedOver[];
}

/** The ids that were not kept; more of them do not help. */
const MAX_NEW_IDS = 10_000;

/**
 * @throws RuntimeError IMPORT_UNREADABLE, IMPORT_NOTHING_FOUND, AGENT_NOT_FOUND for `agentId`; what is wrong with one
 * session is in its report
 */
export async function importSessions(request: ImportRequest, ports: ImportPorts): Promise<ImportOutcome> {
  const { from, path, agentId, signal, onSession } = request;
  if (agentId !== undefined) await ports.agents.get(agentId);
  const tree = await SourceTree.open(path);
  const { sessions: found, passedOver } = await findSessions(tree, from);
  if (found.length === 0) throw nothingFound(request, passedOver);
  const sessions: ImportedSessionReport[] = [];
  for (const session of found) {
    if (signal?.aborted === true) break;
    const report = await importOne({ tree, session, request, ports });
    sessions.push(report);
    onSession?.(report, found.length);
  }
  return { sessions, notReached: found.length - sessions.length, passedOver };
}

interface OneImport {
  readonly tree: SourceTree;
  readonly session: SourceSession;
  readonly request: ImportRequest;
  readonly ports: ImportPorts;
}

async function importOne(one: OneImport): Promise<ImportedSessionReport> {
  const { tree, session, request } = one;
  const path = tree.shown(session.folder ?? session.log);
  let source: ImportedSessionReport['source'] = { path };
  try {
    const read = await readSession(tree, session, request.from);
    source = {
      path,
      sessionId: read.identity.sessionId ?? session.name,
      agentId: session.agentName ?? read.identity.agentId,
    };
    return await importRead(one, read, source);
  } catch (error) {
    const { code, hint } = RuntimeError.is(error) ? error : { code: 'INTERNAL', hint: undefined };
    return unreadReport({ source, status: 'failed', because: messageOf(error), code, hint });
  }
}

async function importRead(
  { request, ports }: OneImport,
  read: ReadSession,
  source: ImportedSessionReport['source'],
): Promise<ImportedSessionReport> {
  assertImportable(read, source, request.from);
  const nowMs = ports.now();
  const mark: SourceMark = { source: read.source, content: read.content, createdAtMs: read.identity.createdAtMs ?? 0 };
  const place = await placeFor(mark, read.identity.sessionId ?? source.sessionId, ports);
  const agentId = await agentFor(place, request, { wanted: source.agentId, agents: ports.agents });
  const identity = { sessionId: place.sessionId, agentId };
  const composed = composeSession({
    ...{ from: request.from, mark, ...identity, digest: sha256, nowMs },
    ...{
      title: read.identity.title,
      model: read.identity.model,
      entries: read.log.entries,
      queue: read.queue,
      outcome: read.outcome,
      isTerminated: read.isTerminated,
    },
    fallbackAtMs: read.writtenAtMs > 0 ? read.writtenAtMs : nowMs,
  });
  const leftOver = [...read.log.leftOver, ...composed.leftOver].toSorted((one, other) => one.line - other.line);
  const files = filesFor(read, leftOver);
  const report = reportOf({ read, composed, leftOver, source, identity, files });
  if (request.dryRun === true) return { ...report, status: place.isThere ? 'already' : 'would_import' };
  const isMade = !place.isThere && (await make(identity, composed, mark, ports));
  await keepFiles(identity, files, { isMade, ports });
  return { ...report, status: isMade ? 'imported' : 'already' };
}

/** @throws RuntimeError IMPORT_OURS, IMPORT_EMPTY, IMPORT_NOT_UNDERSTOOD */
function assertImportable(
  { log, queueLog, files }: ReadSession,
  { path }: ImportedSessionReport['source'],
  from: SourceRuntime,
): void {
  if (log.isOurs)
    throw new RuntimeError('IMPORT_OURS', `${path} is a log of Wakechart`, {
      category: 'validation',
      hint: 'Bring it over with `wakechart session export` and `wakechart session import`.',
    });
  if (log.entries.length + log.leftOver.length + (queueLog?.entries.length ?? 0) + files.size === 0)
    throw new RuntimeError('IMPORT_EMPTY', `there is nothing in ${path}`, {
      category: 'validation',
      hint: 'Nothing is lost: it holds no record.',
    });
  if (files.size > 0 || [...log.entries, ...(queueLog?.entries ?? [])].some(isUnderstood)) return;
  throw new RuntimeError(
    'IMPORT_NOT_UNDERSTOOD',
    `expected records of ${from} in ${path}, found none: ${counts(log)}`,
    {
      category: 'validation',
      hint: `Name a log of ${from}; --from ${OTHER[from]} reads those of ${OTHER[from]}. Nothing was made, and the file is as it was.`,
    },
  );
}

const OTHER = { openboa: 'rowboat', rowboat: 'openboa' } as const satisfies Record<SourceRuntime, SourceRuntime>;

/** Any file has lines; a session without a known event would only be a copy of them where agents can read it. */
function isUnderstood({ reading: { facts, identity, leftOver } }: SourceEntry): boolean {
  return facts.length > 0 || identity !== undefined || leftOver === undefined;
}

function counts({ entries, leftOver }: ReadSession['log']): string {
  return `${entries.length} unknown and ${leftOver.length} damaged`;
}

interface Place {
  readonly sessionId: string;
  /** It was brought over before, as it still is. */
  readonly isThere: boolean;
  readonly agentId?: string | undefined;
}

/** Under its own id where that is one of ours and free. @throws RuntimeError IMPORT_SOURCE_CHANGED */
async function placeFor(mark: SourceMark, own: string | undefined, { sessions }: ImportPorts): Promise<Place> {
  const expected = firstEventId(mark, sha256);
  for (const sessionId of [...(own !== undefined && isUuidV7(own) ? [own] : []), derivedSessionId(mark, sha256)]) {
    const first = await firstEventOf(sessionId, sessions);
    if (first === undefined) return { sessionId, isThere: false };
    if (first.id === expected) return { sessionId, isThere: true, agentId: first.agentId };
    if (isOfSameSource(first.id, expected)) throw changed(sessionId);
  }
  throw new RuntimeError('SESSION_EXISTS', 'both ids that it could have are taken by other sessions', {
    category: 'conflict',
    hint: 'Delete one of them, if it is not wanted any more.',
  });
}

interface FirstEvent {
  readonly id: string;
  readonly agentId: string | undefined;
}

async function firstEventOf(sessionId: string, sessions: ImportPorts['sessions']): Promise<FirstEvent | undefined> {
  try {
    for await (const { id, type, data } of sessions.events(sessionId, { from: 1, limit: 1 }))
      return { id, agentId: type === 'session.created' ? data.agentId : undefined };
    return { id: '', agentId: undefined };
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
    throw error;
  }
}

function changed(sessionId: string): RuntimeError {
  return new RuntimeError(
    'IMPORT_SOURCE_CHANGED',
    `it was imported before, as session ${sessionId}, and has changed since`,
    {
      category: 'conflict',
      hint: `The session may have gone on here, so nothing is added to it. To have it as it is now, export session ${sessionId} if it matters, delete it, and import again.`,
    },
  );
}

/** @throws RuntimeError IMPORT_NO_AGENT */
async function agentFor(
  { isThere, agentId: has }: Place,
  { agentId }: ImportRequest,
  { wanted, agents }: { readonly wanted: string | undefined; readonly agents: ImportPorts['agents'] },
): Promise<string> {
  // What is there already belongs to whom it was given.
  if (isThere && has !== undefined) return has;
  if (agentId !== undefined) return agentId;
  const own = agentIdSchema.safeParse(wanted);
  if (own.success) {
    try {
      await agents.get(own.data);
      return own.data;
    } catch (error) {
      if (!RuntimeError.is(error) || error.code !== 'AGENT_NOT_FOUND') throw error;
    }
  }
  const [what, name] = own.success
    ? [`there is no agent "${own.data}" here`, own.data]
    : [
        wanted === undefined
          ? 'it does not say whose session it is'
          : `"${beginningOf(wanted, 100)}" cannot be the name of an agent here`,
        'NAME',
      ];
  throw new RuntimeError('IMPORT_NO_AGENT', what, {
    category: 'not_found',
    hint: `Make the agent with \`wakechart agent create ${name}\`, or name one that is there with --agent NAME.`,
  });
}

/**
 * False when another process was faster. @throws RuntimeError STORAGE_FAILED and what else storing a session throws;
 * nothing is made then
 */
async function make(
  identity: SessionIdentity,
  { events }: ComposedSession,
  mark: SourceMark,
  { sessions, now }: ImportPorts,
): Promise<boolean> {
  try {
    await sessions.import(exportedLines(identity, events, now()));
    return true;
  } catch (error) {
    const isTaken = RuntimeError.is(error) && error.code === 'SESSION_EXISTS';
    if (isTaken && (await firstEventOf(identity.sessionId, sessions))?.id === firstEventId(mark, sha256)) return false;
    throw error;
  }
}

/**
 * A session that was made and lacks what belongs to it is taken back. One that a crash has left like that gets it with
 * the next import.
 */
async function keepFiles(
  identity: SessionIdentity,
  files: ReadonlyMap<string, string | Uint8Array>,
  { isMade, ports }: { readonly isMade: boolean; readonly ports: ImportPorts },
): Promise<void> {
  try {
    await keepImportedFiles(ports.workspaceOf(identity), files);
  } catch (error) {
    if (isMade) await ports.sessions.delete(identity.sessionId);
    throw error;
  }
}

function filesFor(
  { files, queueLog }: ReadSession,
  leftOver: readonly LeftOver[],
): ReadonlyMap<string, string | Uint8Array> {
  const queueLeft = [
    ...(queueLog?.leftOver ?? []),
    ...(queueLog?.entries ?? []).flatMap(({ line, record, reading }) =>
      reading.leftOver === undefined ? [] : [{ line, type: reading.type, because: reading.leftOver, record }],
    ),
  ];
  const lines = [
    ...leftOver.map((each) => ({ file: 'log', ...each })),
    ...queueLeft.map((each) => ({ file: 'wake-queue.jsonl', ...each })),
  ];
  return new Map<string, string | Uint8Array>([
    ...files,
    ...(lines.length === 0
      ? []
      : [['left-over.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join('')] as const]),
  ]);
}

interface ReportSources {
  readonly read: ReadSession;
  readonly composed: ComposedSession;
  readonly leftOver: readonly LeftOver[];
  readonly source: ImportedSessionReport['source'];
  readonly identity: SessionIdentity;
  readonly files: ReadonlyMap<string, unknown>;
}

function reportOf({
  read,
  composed,
  leftOver,
  source,
  identity,
  files,
}: ReportSources): Omit<ImportedSessionReport, 'status'> {
  const { log, queueLog } = read;
  const { state } = composed;
  return {
    ...{ source, ...identity, title: state.title },
    events: composed.events.length,
    records: log.records,
    repeated: log.repeated + composed.repeated,
    damaged: log.damaged + (queueLog?.damaged ?? 0),
    damage: [
      ...log.damage,
      ...(queueLog?.damage ?? []).map((each) => ({ ...each, what: `wake-queue.jsonl: ${each.what}` })),
    ],
    leftOver: countedByType(leftOver),
    ...{
      closedCalls: composed.closedCalls,
      unread: state.pending.length,
      queuedWakes: state.queuedWakes.length,
      isParked: state.parked !== undefined,
    },
    keptIds: composed.keptIds,
    newIds: Object.fromEntries([...composed.newIds].slice(0, MAX_NEW_IDS)),
    files: [...files.keys()],
    notBrought: read.notBrought,
  };
}

function nothingFound({ from, path }: ImportRequest, passedOver: readonly PassedOver[]): RuntimeError {
  const why =
    passedOver.length === 0
      ? ''
      : ` (${passedOver
          .map((each) => `${each.path}: ${each.because}`)
          .slice(0, 3)
          .join('; ')})`;
  const where =
    from === 'openboa'
      ? 'its home (.openboa), an agent, a session or its events.jsonl'
      : 'its home (with a folder runs) or one run log (runs/<run>.jsonl)';
  return new RuntimeError('IMPORT_NOTHING_FOUND', `there are no sessions of ${from} in ${path}${why}`, {
    category: 'not_found',
    hint: `Name ${where}.`,
  });
}
