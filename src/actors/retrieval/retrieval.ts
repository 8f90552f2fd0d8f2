/**
 * Finds what an agent's sessions, learnings and memory hold about something: candidates, which are hints, each with the
 * calls that open the truth again. Everything is of one agent; nothing of another one is ever checked. A session that asks
 * finds of the sessions those of its owner alone.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { candidateOf } from '../../machines/retrieval/candidate.ts';
import type { RetrievalCandidate } from '../../machines/retrieval/candidate.ts';
import { prepareQuery } from '../../machines/retrieval/query.ts';
import { rank } from '../../machines/retrieval/ranking.ts';
import type { DocumentFacts, RetrievalKind } from '../../machines/retrieval/retrieval-document.ts';
import { factsOf } from '../../machines/retrieval/retrieval-document.ts';
import { DEFAULT_CANDIDATES, MAX_HITS } from '../../machines/retrieval/retrieval-limits.ts';
import { isWithin, relationshipOf } from '../../machines/retrieval/session-relations.ts';
import type { Relationship, SessionRelation } from '../../machines/retrieval/session-relations.ts';
import type { Clock } from '../clock/clock.ts';
import { KeyedMutex } from '../concurrency/mutex.ts';
import { parentsOf } from '../session/session-tools-relations.ts';
import type { SessionParents } from '../session/session-tools-relations.ts';
import type { WakeHook } from '../wake/wake-hook.ts';
import { refreshSession, refreshSessions, refreshShared } from './index-refresh.ts';
import type { RefreshPorts, RefreshReport } from './index-refresh.ts';
import type { IndexSize } from './retrieval-index.ts';

export interface RetrievalOptions extends RefreshPorts {
  readonly clock: Clock;
}

interface RetrievalRequest {
  readonly agentId: string;
  readonly query: string;
  /** The session that asks: it finds those of its own owner, and relations are as seen from it. Default: all. */
  readonly sessionId?: string | undefined;
  /** From this event on nothing of the session that asks is found: it is before the model already. */
  readonly beforeSeq?: number | undefined;
  readonly kinds?: readonly RetrievalKind[] | undefined;
  /** Default `agent`. Others than that leave learnings and memory out, which are of no session. */
  readonly relation?: SessionRelation | undefined;
  /** Only this session. */
  readonly within?: string | undefined;
  /** ISO-8601, both inclusive. What has no time is found whatever they are. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Only traces of this tool. */
  readonly tool?: string | undefined;
  /** Default DEFAULT_CANDIDATES. */
  readonly limit?: number | undefined;
}

export interface RetrievalAnswer {
  /** The best first. */
  readonly candidates: readonly RetrievalCandidate[];
  readonly searched: IndexSize;
  /** Sessions that were left out, since there is no room for them in the index. */
  readonly sessionsLeftOut: number;
}

/** Listing all sessions again within this time finds nothing that matters, in milliseconds. */
const LISTING_IS_NEW_MS = 1_000;

interface Checked {
  readonly atMs: number;
  readonly report: RefreshReport;
  readonly parents: SessionParents;
  readonly owners: ReadonlyMap<string, string | undefined>;
}

export class Retrieval {
  readonly #options: RetrievalOptions;
  readonly #checked = new Map<string, Checked>();
  /** One at a time for each agent. */
  readonly #mutex = new KeyedMutex();

  constructor(options: RetrievalOptions) {
    this.#options = options;
  }

  /** Reads what is new in every session of the agent. */
  refresh(agentId: string): Promise<RefreshReport> {
    return this.#mutex.run(agentId, async () => (await this.#check(agentId, 0)).report);
  }

  /** A session of the agent has said something: the next search checks all of them again, however soon it comes. */
  expectNews(agentId: string): void {
    this.#checked.delete(agentId);
  }

  /** Forgets the index of an agent; the next search builds it anew. */
  clear(agentId: string): Promise<void> {
    return this.#mutex.run(agentId, async () => {
      this.#checked.delete(agentId);
      await this.#options.index.clear(agentId);
    });
  }

  /**
   * What is new is read first. What could not be read is told to `onTrouble`, and the rest is searched.
   * @throws RuntimeError RETRIEVAL_REQUEST_INVALID before anything is read
   */
  async search(request: RetrievalRequest): Promise<RetrievalAnswer> {
    const { agentId, query, limit = DEFAULT_CANDIDATES } = request;
    checkAsker(request);
    const span = spanOf(request);
    return this.#mutex.run(agentId, async () => {
      const checked = await this.#check(agentId, LISTING_IS_NEW_MS);
      const index = await this.#options.index.of(agentId);
      const own = request.sessionId;
      if (own !== undefined && checked.parents.has(own)) await refreshSession(index, own, this.#options);
      const prepared = prepareQuery(query);
      const now = this.#options.clock.now();
      const kin = (sessionId: string | undefined): Relationship =>
        own === undefined || sessionId === undefined
          ? 'none'
          : relationshipOf(own, sessionId, (id) => checked.parents.get(id));
      const isOwners = await this.#ownersOf(own, checked);
      const isWanted = filterOf(request, span, kin);
      const accepts = (facts: DocumentFacts): boolean => isOwners(facts) && isWanted(facts);
      const hits = await index.search({ terms: prepared.terms, accepts, limit: MAX_HITS });
      const ranked = rank(
        hits,
        {
          query: prepared,
          rarity: (word) => index.rarity(word),
          around: (document) => index.around(document),
          relationshipOf: kin,
          accepts: (document) => accepts(factsOf(document)),
          now,
        },
        limit,
      );
      const best = ranked[0]?.score ?? 0;
      return {
        candidates: ranked.map((each) => candidateOf(each, best)),
        searched: index.size(),
        sessionsLeftOut: checked.report.sessionsLeftOut,
      };
    });
  }

  /** Learnings and memory are shared by all sessions of the agent. What is of a session that is not known is left out. */
  async #ownersOf(own: string | undefined, { owners }: Checked): Promise<(facts: DocumentFacts) => boolean> {
    if (own === undefined) return () => true;
    const owner = owners.has(own) ? owners.get(own) : (await this.#options.sources.sessions.get(own)).owner;
    return ({ kind, sessionId }) =>
      kind === 'learning' ||
      kind === 'memory' ||
      (sessionId !== undefined && (sessionId === own || (owners.has(sessionId) && owners.get(sessionId) === owner)));
  }

  async #check(agentId: string, newEnoughMs: number): Promise<Checked> {
    const { clock, index, sources } = this.#options;
    const known = this.#checked.get(agentId);
    if (known !== undefined && clock.now() - known.atMs < newEnoughMs) return known;
    const agentIndex = await index.of(agentId);
    await refreshShared(agentIndex, agentId, this.#options);
    const states = await sources.sessions.list({ agentId });
    const checked = {
      atMs: clock.now(),
      report: await refreshSessions(agentIndex, states, this.#options),
      parents: await parentsOf(states, (sessionId) => sources.sessions.get(sessionId)),
      owners: new Map(states.map(({ sessionId, owner }) => [sessionId, owner])),
    };
    this.#checked.set(agentId, checked);
    return checked;
  }
}

/** Milliseconds since the epoch, both inclusive. */
interface Span {
  readonly since: number;
  readonly until: number;
}

function filterOf(
  request: RetrievalRequest,
  { since, until }: Span,
  kin: (sessionId: string | undefined) => Relationship,
): (facts: DocumentFacts) => boolean {
  const { sessionId: own, beforeSeq = Infinity, kinds, relation = 'agent', within, tool } = request;
  const wantsRelated = relation !== 'agent';
  return ({ kind, sessionId, lastSeq, atMs, tool: usedTool }) => {
    if (kinds !== undefined && !kinds.includes(kind)) return false;
    if (tool !== undefined && usedTool !== tool) return false;
    if (within !== undefined && (sessionId !== within || kind === 'learning')) return false;
    // What all sessions share belongs to none of them, wherever it was learned.
    if (wantsRelated && (kind === 'learning' || kind === 'memory' || !isWithin(kin(sessionId), relation))) return false;
    if (sessionId === own && own !== undefined && kind !== 'learning' && lastSeq >= beforeSeq) return false;
    return !(atMs < since) && !(atMs > until);
  };
}

/**
 * Without a session nothing is related to anything, and finding nothing would look like an answer. @throws RuntimeError
 * RETRIEVAL_REQUEST_INVALID
 */
function checkAsker({ sessionId, relation = 'agent' }: RetrievalRequest): void {
  if (sessionId !== undefined || relation === 'agent') return;
  throw new RuntimeError(
    'RETRIEVAL_REQUEST_INVALID',
    `expected a session with the relation "${relation}", received none`,
    {
      category: 'validation',
      hint: 'Relations are as seen from a session: name it, or search all sessions of the agent.',
    },
  );
}

/** @throws RuntimeError RETRIEVAL_REQUEST_INVALID */
function spanOf(request: RetrievalRequest): Span {
  const since = timeOf(request.since, 'since', -Infinity);
  const until = timeOf(request.until, 'until', Infinity);
  if (since <= until) return { since, until };
  throw new RuntimeError(
    'RETRIEVAL_REQUEST_INVALID',
    `expected "until" to be no earlier than "since", received since ${request.since ?? ''} and until ${request.until ?? ''}`,
    {
      category: 'validation',
      hint: 'Turn them around. A day counts from its beginning in UTC: for one day name the next one as the end.',
    },
  );
}

/** @throws RuntimeError RETRIEVAL_REQUEST_INVALID */
function timeOf(text: string | undefined, name: string, otherwise: number): number {
  if (text === undefined) return otherwise;
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new RuntimeError(
    'RETRIEVAL_REQUEST_INVALID',
    `expected a time for "${name}", received ${JSON.stringify(text)}`,
    { category: 'validation', hint: 'Write a date or a time like 2026-03-01 or 2026-03-01T12:00:00Z.' },
  );
}

/** Goes along with wakes: what a wake has said is found from its end on, since the next search reads what is new. */
export function createRetrievalHook(retrieval: Retrieval): WakeHook {
  return {
    name: 'retrieval',
    ended: async (wake) => retrieval.expectNews(wake.state().agentId),
    needsRight: () => false,
  };
}
