/** What many workers do between them, as people read it: tables with their headings. */
import type { StatusWords } from '../../machines/inspection-log/session-words.ts';
import type { FleetLag, FleetLease, FleetList, FleetParked, FleetOverview, FleetWorker } from './fleet.ts';

export interface ShownFleet {
  /** ISO-8601: ages are counted up to then. */
  readonly at: string;
  readonly parts: readonly ShownFleetPart[];
}

export interface ShownFleetPart {
  readonly title: string;
  /** How many there are. */
  readonly count: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly FleetCell[])[];
  /** What is to be known besides, or why there is nothing. */
  readonly note?: string | undefined;
}

export interface FleetCell {
  readonly text?: string | undefined;
  /** It is a badge, of this color. */
  readonly status?: StatusWords['status'] | undefined;
  /** ISO-8601: how long ago that was. */
  readonly since?: string | undefined;
  /** ISO-8601: in how long that will be. */
  readonly until?: string | undefined;
  /** The text leads to this session. */
  readonly session?: string | undefined;
}

const MAX_CHARACTERS = 500;

/** What others wrote is without secrets, and bounded. @param cut takes out and cuts */
export function redactedFleet(sight: FleetOverview, cut: (text: string, most: number) => string): FleetOverview {
  const told = (text: string): string => cut(text, MAX_CHARACTERS);
  const each = <Item>({ items, ...rest }: FleetList<Item>, change: (item: Item) => Item): FleetList<Item> => ({
    ...rest,
    items: items.map(change),
  });
  return {
    ...sight,
    workers: each(sight.workers, (worker) => ({ ...worker, owner: told(worker.owner) })),
    leases: each(sight.leases, ({ owner, ...lease }) => ({
      ...lease,
      agentId: told(lease.agentId),
      ...(owner === undefined ? {} : { owner: told(owner) }),
    })),
    lag: {
      ...sight.lag,
      parts: sight.lag.parts.map((part) => ({ ...part, tenant: told(part.tenant), priority: told(part.priority) })),
    },
    parked: each(sight.parked, (parked) => ({ ...parked, agentId: told(parked.agentId), reason: told(parked.reason) })),
  };
}

export function shownFleet({ at, workers, leases, lag, parked, connections, isHearing }: FleetOverview): ShownFleet {
  const hears = isHearing ? 'is told of news at once' : 'is not told of news and searches for them every now and then';
  return {
    at,
    parts: [
      {
        title: 'Workers',
        count: countOf(workers),
        columns: ['Worker', 'State', 'For', 'Wakes', 'Taken'],
        rows: workers.items.map(workerRow),
        note: sentences([
          workers.total === 0 ? 'No worker runs: what is due waits until one is started.' : omitted(workers),
          `${connections.open} of ${connections.most} connections to the database are open. This program ${hears}.`,
        ]),
      },
      {
        title: 'Wakes',
        count: countOf(leases),
        columns: ['Session', 'Worker', 'State', 'For', 'Epoch'],
        rows: leases.items.map(leaseRow),
        note: leases.total === 0 ? 'No session is awake.' : omitted(leases),
      },
      {
        title: 'Lag',
        count: lagCount(lag),
        columns: ['Tenant', 'Priority', 'Sessions', 'Due for'],
        rows: lag.parts.map(lagRow),
        note: lagNote(lag),
      },
      {
        title: 'Parked',
        count: countOf(parked),
        columns: ['Session', 'For', 'Why'],
        rows: parked.items.map(parkedRow),
        note: parked.total === 0 && !parked.isCut ? 'No session waits for a person to examine it.' : omitted(parked),
      },
    ],
  };
}

function workerRow({ id, owner, isAlive, startedAt, aliveUntil, wakes, claims }: FleetWorker): readonly FleetCell[] {
  const state: readonly FleetCell[] = isAlive
    ? [{ text: 'alive', status: 'done' }, { since: startedAt }]
    : [{ text: 'silent', status: 'error' }, { since: aliveUntil }];
  return [{ text: owner === '' ? id : owner }, ...state, { text: String(wakes) }, { text: String(claims) }];
}

function leaseRow({
  sessionId,
  agentId,
  workerId,
  owner = workerId,
  isAlive,
  since,
  epoch,
}: FleetLease): readonly FleetCell[] {
  return [
    sessionCell(sessionId, agentId),
    { text: owner },
    isAlive ? { text: 'runs', status: 'running' } : { text: 'abandoned', status: 'error' },
    { since },
    { text: String(epoch) },
  ];
}

function lagRow({ tenant, priority, sessions, since }: FleetLag['parts'][number]): readonly FleetCell[] {
  return [{ text: tenant }, { text: priority }, { text: amount(sessions) }, { since }];
}

function parkedRow({ sessionId, agentId, reason, since }: FleetParked): readonly FleetCell[] {
  return [sessionCell(sessionId, agentId), since === undefined ? {} : { since }, { text: reason }];
}

/** The last characters tell sessions apart: ids begin with the time. */
function sessionCell(session: string, agentId: string): FleetCell {
  return { text: `${agentId} ${session.slice(-6)}`, session };
}

function countOf({ total, isCut }: FleetList<unknown>): string {
  return `${isCut ? 'more than ' : ''}${amount(total)}`;
}

function lagCount({ sessions, isCut }: FleetLag): string {
  return `${isCut ? 'at least ' : ''}${amount(sessions)} ${sessions === 1 ? 'session' : 'sessions'}`;
}

function lagNote({ sessions, isCut }: FleetLag): string | undefined {
  if (sessions > 0) return undefined;
  return isCut
    ? 'So much is due that has been taken that the search ended there.'
    : 'Everything that is due has been taken.';
}

function omitted({ items, total }: FleetList<unknown>): string | undefined {
  return total > items.length ? `${amount(total - items.length)} more are not listed.` : undefined;
}

function sentences(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(' ');
}

function amount(count: number): string {
  return count.toLocaleString('en');
}
