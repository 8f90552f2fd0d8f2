/** Deals with the trees of hosts that died: ends or adopts what lives on, and clears their records away. */
import type { ReconcileOptions, ReconciledProcessTree } from '../../actors/task/process-tree.ts';
import { isAlive, isSeenInto, reachOf, recordedHost } from './host-identity.ts';
import { isOfTag } from './process-table.ts';
import type { ProcessRecord, ProcessRecords, RecordFile } from './records.ts';
import { TAG_VARIABLE, splitTags } from './tags.ts';
import { TrackedTree, livingOf } from './tracked-tree.ts';
import type { TreeSurroundings } from './tracked-tree.ts';

export interface Reconciliation {
  readonly around: TreeSurroundings;
  readonly records: ProcessRecords;
  readonly options: ReconcileOptions;
  /** Takes over an adopted tree. */
  readonly adopt: (tree: TrackedTree) => void;
}

/** One report for each record, but for those that another host is faster to deal with. */
export async function reconcileRecords(work: Reconciliation): Promise<readonly ReconciledProcessTree[]> {
  const { tag, policy } = work.options;
  if (policy !== 'report') await work.records.sweep();
  const source = policy === 'report' ? await work.records.unchanging() : work.records;
  const files = (await source.list()).filter((file) => tag === undefined || file.tag === tag);
  const reports = await Promise.all(files.map((file) => reconcileFile(work, file, source)));
  return reports.filter((report) => report !== undefined);
}

async function reconcileFile(
  work: Reconciliation,
  file: RecordFile,
  source: Pick<ProcessRecords, 'read'>,
): Promise<ReconciledProcessTree | undefined> {
  const { records, around } = work;
  const left = (reason: ReconciledProcessTree['reason'], record?: ProcessRecord): ReconciledProcessTree => ({
    ...reportHead(file.tag, record),
    action: 'left',
    reason,
    survivors: [],
  });
  // To end the tree that this host itself runs in would be suicide.
  const own = await around.table.check(process.pid);
  if (own !== undefined && isOfTag({ ...own, tags: splitTags(process.env[TAG_VARIABLE] ?? '') }, file.tag))
    return left('around_this_host');
  if (file.claimedBy !== undefined && (await isAlive(file.claimedBy, around.table))) return left('being_reconciled');
  const content = await source.read(file).catch(() => ({ kind: 'unreadable', isForeign: true }) as const);
  if (content.kind === 'absent') return undefined;
  if (content.kind === 'unreadable') {
    if (!content.isForeign && work.options.policy !== 'report') await records.quarantine(file);
    return left('unreadable');
  }
  const { record } = content;
  // Without times to compare it cannot be told which process is alive, and it must not be guessed.
  if (record.host.seenThrough !== around.table.kind) return left('unreadable', record);
  const reach = reachOf(record.host, around.host);
  if (reach === 'elsewhere') return reconcileElsewhere(work, file, record);
  const isSameBoot = reach === 'here';
  const isHostAlive = isSameBoot && (await isAlive(record.host, around.table));
  if (work.options.policy === 'report') {
    const survivors = isSameBoot ? await new TrackedTree(record, around).living() : [];
    return { ...left(isHostAlive ? 'host_alive' : 'host_dead', record), survivors };
  }
  if (isHostAlive) return left('host_alive', record);
  const claim = await records.claim(file, around.host);
  return claim === undefined ? undefined : settleClaim(work, { claim, record, isSameBoot });
}

/**
 * Its pids mean others here, so nothing is signalled: what is left there is for the next host there. A record goes when
 * there is nothing.
 */
async function reconcileElsewhere(
  work: Reconciliation,
  file: RecordFile,
  record: ProcessRecord,
): Promise<ReconciledProcessTree> {
  const { records, around, options } = work;
  const { host } = record;
  const head = reportHead(record.tag, record);
  const isDead = host.token !== undefined && (await around.life?.isAlive(host.token)) === false;
  if (!isDead) return { ...head, action: 'left', reason: 'elsewhere', survivors: [] };
  const { entries } = await around.checks.check({ startedSince: record.startedSince });
  const survivors = [...entries.values()].filter((entry) => isOfTag(entry, record.tag) && entry.state !== 'dead');
  const isOver = survivors.length === 0 && isSeenInto(host, entries.keys());
  if (isOver && options.policy !== 'report') {
    await records.bury(file);
    return { ...head, action: 'gone', survivors: [] };
  }
  return {
    ...head,
    action: 'left',
    reason: 'elsewhere',
    survivors: await livingOf(survivors, around.table),
  };
}

interface ClaimedRecord {
  readonly claim: RecordFile;
  readonly record: ProcessRecord;
  readonly isSameBoot: boolean;
}

async function settleClaim(
  work: Reconciliation,
  { claim, record, isSameBoot }: ClaimedRecord,
): Promise<ReconciledProcessTree> {
  const { records } = work;
  const head = reportHead(record.tag, record);
  try {
    const tree = new TrackedTree(record, work.around);
    // After another boot nothing of it can be left, and its pids mean others.
    const survivors = isSameBoot ? await tree.survivors() : [];
    if (survivors.length > 0 && work.options.policy === 'adopt') {
      // On record under the new name before the old one goes.
      const own = new TrackedTree(await ownRecord(record, work.around), work.around);
      await own.writeRecord();
      work.adopt(own);
      await records.forget(claim);
      return { ...head, action: 'adopted', survivors };
    }
    if (survivors.length > 0) await tree.end({ graceMs: work.options.graceMs });
    await records.bury(claim);
    return { ...head, action: survivors.length > 0 ? 'killed' : 'gone', survivors: [] };
  } catch {
    await records.release(claim);
    const survivors = await new TrackedTree(record, work.around).survivors().catch(() => []);
    return { ...head, action: 'left', reason: 'not_ended', survivors };
  }
}

async function ownRecord(record: ProcessRecord, around: TreeSurroundings): Promise<ProcessRecord> {
  return {
    ...record,
    host: await recordedHost(around),
    sharedLeaders: [...record.sharedLeaders, ...around.host.leaders],
  };
}

/** Those that were dealt with lately. */
export async function lostTrees(records: ProcessRecords): Promise<readonly ReconciledProcessTree[]> {
  return (await records.lost()).map((record) => ({
    ...reportHead(record.tag, record),
    action: 'gone',
    reason: 'host_dead',
    survivors: [],
  }));
}

function reportHead(
  tag: string,
  record: ProcessRecord | undefined,
): Omit<ReconciledProcessTree, 'action' | 'reason' | 'survivors'> {
  if (record === undefined) return { tag };
  const { taskId, sessionId, commandPreview, limitMs, hasLogFile, startedAt, root, host } = record;
  const { pid, token } = host;
  const work = { taskId, sessionId, commandPreview, limitMs, hasLogFile };
  return { tag, ...work, startedAt, pid: root?.pid, host: { pid, token } };
}
