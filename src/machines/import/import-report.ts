/** The account of an import, for people and for programs. */
import type { SourceRuntime } from './source-fact.ts';
import type { LeftOver, SourceDamage } from './source-log.ts';

/** `already`: it was brought over before, as it still is. `would_import`: the caller asked for no more than a check. */
export type ImportStatus = 'imported' | 'would_import' | 'already' | 'failed';

export interface ImportedSessionReport {
  readonly source: {
    readonly path: string;
    readonly sessionId?: string | undefined;
    readonly agentId?: string | undefined;
  };
  readonly status: ImportStatus;
  readonly sessionId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly title?: string | undefined;
  /** Why it was not imported. */
  readonly because?: string | undefined;
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
  /** Of the session that is made. */
  readonly events: number;
  /** Whole records of the source. */
  readonly records: number;
  /** Records that stand there twice. */
  readonly repeated: number;
  /** Places where the log was not as it should be, and the first of them. */
  readonly damaged: number;
  readonly damage: readonly SourceDamage[];
  /**
   * Records that are kept in `imported/left-over.jsonl`, since not all of them has a place in a session; by what they
   * are.
   */
  readonly leftOver: Readonly<Record<string, number>>;
  /** Calls that had no end, and were closed. */
  readonly closedCalls: number;
  /** Messages that no wake has read. */
  readonly unread: number;
  readonly queuedWakes: number;
  /** It wakes when a client sends to it or wakes it, and not before. */
  readonly isParked: boolean;
  /** Events that have the id they had. */
  readonly keptIds: number;
  /** The ids of the others, by those that they had; the first of them. */
  readonly newIds: Readonly<Record<string, string>>;
  /** In `imported/` of the session's workspace. */
  readonly files: readonly string[];
  readonly notBrought: readonly { readonly path: string; readonly because: string }[];
}

export interface ImportReport {
  readonly from: SourceRuntime;
  readonly path: string;
  readonly dryRun: boolean;
  readonly found: number;
  readonly imported: number;
  readonly already: number;
  readonly failed: number;
  /** Found and not checked, since the user stopped the import. */
  readonly notReached: number;
  /** Ids of the sessions here, by those that they had in the source. */
  readonly sessionIds: Readonly<Record<string, string>>;
  readonly passedOver: readonly { readonly path: string; readonly because: string }[];
  readonly sessions: readonly ImportedSessionReport[];
}

const NOTHING = {
  events: 0,
  records: 0,
  repeated: 0,
  damaged: 0,
  damage: [],
  leftOver: {},
  closedCalls: 0,
  unread: 0,
  queuedWakes: 0,
  isParked: false,
  keptIds: 0,
  newIds: {},
  files: [],
  notBrought: [],
} as const;

/** The account of a session of which nothing has been read. */
export function unreadReport(
  report: Pick<ImportedSessionReport, 'source' | 'status' | 'because' | 'code' | 'hint'>,
): ImportedSessionReport {
  return { ...NOTHING, ...report };
}

export function countedByType(leftOver: readonly LeftOver[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { type } of leftOver) counts.set(type, (counts.get(type) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

export interface ReportParts extends Pick<ImportReport, 'from' | 'path' | 'dryRun' | 'notReached' | 'passedOver'> {
  readonly sessions: readonly ImportedSessionReport[];
}

export function importReport({ from, path, dryRun, notReached, passedOver, sessions }: ReportParts): ImportReport {
  const count = (...statuses: readonly ImportStatus[]): number =>
    sessions.filter(({ status }) => statuses.includes(status)).length;
  const known = sessions.flatMap(({ source, sessionId }) =>
    source.sessionId === undefined || sessionId === undefined ? [] : [[source.sessionId, sessionId] as const],
  );
  return {
    from,
    path,
    dryRun,
    found: sessions.length + notReached,
    imported: count('imported', 'would_import'),
    already: count('already'),
    failed: count('failed'),
    notReached,
    sessionIds: Object.fromEntries(known),
    passedOver,
    sessions,
  };
}
