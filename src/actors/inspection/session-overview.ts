/** How one session stands, with why, what it asks for and what it has used. */
import { RuntimeError } from '../../machines/errors.ts';
import type { PriceTable } from '../../machines/run/prices.ts';
import { LEAST_STUCK_MS, isStuck } from '../../machines/inspection-log/session-words.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { Lack } from '../../machines/session/lack.ts';
import type { PendingAction, SessionState } from '../../machines/session/session-state.ts';
import type { Conditions } from '../../machines/session/why-conditions.ts';
import type { SessionWork } from '../../machines/session/why-work.ts';
import { explain } from '../../machines/session/why.ts';
import type { Clock } from '../clock/clock.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { Sessions } from '../session/sessions.ts';
import type { InspectedText } from './inspected-text.ts';
import type { FolderChanges } from './folder-changes.ts';
import type {
  InspectedFormerWorker,
  InspectedRequest,
  InspectedSession,
  InspectedWorker,
} from './inspection-source.ts';
import type { InspectedUsage } from '../../machines/inspection-log/session-usage.ts';
import { formerWorkersOf, suspendedOf, workerOf } from './session-wakers.ts';
import type { WakerFacts } from './session-wakers.ts';
import { SessionLedgers } from './session-ledger.ts';
import type { SessionLedger } from './session-ledger.ts';
import { shownData } from './shown-data.ts';

export interface SessionOverviewsOptions extends Omit<WakerFacts, 'text' | 'onProblem'> {
  readonly sessions: Pick<Sessions, 'list' | 'status' | 'events' | 'hasWakeDied'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly text: InspectedText;
  /** Absent: nothing is said of the time that a wake may take. */
  readonly agents?: Pick<AgentCatalog, 'get'> | undefined;
  readonly prices?: PriceTable | undefined;
  /** The folder in which a session works, absolute. Absent: as the session says itself. */
  readonly workspaceOf?: ((session: SessionState) => string) | undefined;
  /** What there is around the sessions. Absent: nothing is known of it. */
  readonly conditions?: (() => Promise<Conditions>) | undefined;
  /** What it needs and this process has not got. Absent: it is unknown. */
  readonly lacksOf?: ((session: SessionState) => Promise<Lack | undefined>) | undefined;
  /** When one of its calls that run told something last, ISO-8601. Absent: that is unknown. */
  readonly activityOf?: ((session: SessionState) => Promise<string | undefined>) | undefined;
  /** Tells what git has begun in a folder. Absent: it is unknown. */
  readonly folders?: Pick<FolderChanges, 'underWay' | 'finished'> | undefined;
  readonly onProblem: (error: unknown) => void;
}

/** A whole session, and one input of a request. */
const SESSION_LIMITS = { characters: 1_000_000, text: 20_000, entries: 1_000, depth: 40 };
const MAX_PATH_CHARACTERS = 4_096;
const INPUT_LIMITS = { characters: 64_000, text: 32_000, entries: 200, depth: 20 };

const NOTHING_USED: InspectedUsage = { inputTokens: 0, outputTokens: 0, isCostPartial: false, wakes: [], wakeCount: 0 };

interface WorkOverview {
  readonly worker: InspectedWorker | undefined;
  readonly former: readonly InspectedFormerWorker[];
  readonly work: SessionWork;
}

/** What a command puts out tells of its process as well as the log does. */
function heardOf(worker: InspectedWorker, lastActivityAt: string | undefined): InspectedWorker {
  const { heardAt = '' } = worker;
  const isLater = Date.parse(lastActivityAt ?? '') > (Date.parse(heardAt) || 0);
  return isLater ? { ...worker, heardAt: lastActivityAt } : worker;
}

/** Of this machine only it is known. */
function holderOf(worker: InspectedWorker | undefined): Pick<SessionWork, 'isHolderAlive' | 'isHolderWorker'> {
  if (worker === undefined || worker.place === 'elsewhere') return {};
  return {
    isHolderAlive: worker.processorMs !== undefined || worker.residentBytes !== undefined,
    ...(worker.isWorker === true ? { isHolderWorker: true } : {}),
  };
}

export class SessionOverviews {
  readonly #options: SessionOverviewsOptions;
  readonly #ledgers: SessionLedgers;

  constructor(options: SessionOverviewsOptions) {
    this.#options = options;
    this.#ledgers = new SessionLedgers(options.sessions, options.prices ?? {});
  }

  /** Undefined: there is no such session. One whose log cannot be read says so. */
  async of(sessionId: string): Promise<InspectedSession | undefined> {
    const state = await this.stateOf(sessionId);
    if (state === undefined) return undefined;
    const at = this.#options.clock.now();
    if (state.unreadable !== undefined)
      return this.#shown({ state, why: explain(state, at), pendingActions: [], usage: NOTHING_USED, at });
    const ledger = await this.ledgerOf(state);
    const budget = state.lastWake?.outcome === 'budget_reached' ? ledger.budget : undefined;
    const { worker, former, work } = await this.#workOf(state, ledger);
    const lastActivityAt = await this.#options.activityOf?.(state);
    const { usualMs } = ledger;
    const why = explain(state, at, {
      work,
      budget,
      lacks: await this.#options.lacksOf?.(state),
      modelWait: ledger.modelWait,
      conditions: await this.#options.conditions?.(),
      isWakeDead: state.openWake !== undefined && (await this.#options.sessions.hasWakeDied(sessionId)),
      maxSecondsPerWake: await this.#secondsPerWake(state),
    });
    const pendingActions = state.pendingActions.map((action) => this.#request(action, ledger));
    return {
      ...this.#shown({ state, why, pendingActions, usage: ledger.used, at }),
      ...(worker === undefined ? {} : { worker: heardOf(worker, lastActivityAt) }),
      ...(state.openWake !== undefined && isStuck(state, at, { usualMs, lastActivityAt }) ? { isStuck: true } : {}),
      ...(usualMs === undefined ? {} : { usualMs }),
      ...(former.length === 0 ? {} : { formerWorkers: former }),
      ...(lastActivityAt === undefined ? {} : { lastActivityAt }),
    };
  }

  /** What is to be seen of its work. In lists only where its log says that this is worth the time. */
  async listedWork(state: SessionState): Promise<SessionWork> {
    const isTakenOver = state.openWake !== undefined && state.lastWake?.outcome === 'lost';
    if (isTakenOver) return this.workOf(state);
    if (state.openWake !== undefined) {
      const worker = await workerOf(state, { ...this.#options, fleet: undefined });
      return { suspended: suspendedOf(worker, []), ...holderOf(worker) };
    }
    const calls = state.failedCall?.exitCode === 1 ? (await this.ledgerOf(state)).calls : undefined;
    return { ...(calls === undefined ? {} : { calls }), ...(await this.#gitWork(state)) };
  }

  /** All that is to be seen of its work. */
  async workOf(state: SessionState): Promise<SessionWork> {
    return (await this.#workOf(state, await this.ledgerOf(state))).work;
  }

  /** As of `SessionLedger`: only where it runs and has told nothing for a while is it worth reading its log. */
  async usualOf(state: SessionState, nowMs: number): Promise<number | undefined> {
    if (state.openWake === undefined || nowMs - Date.parse(state.updatedAt ?? '') < LEAST_STUCK_MS) return undefined;
    return (await this.ledgerOf(state)).usualMs;
  }

  async #workOf(state: SessionState, { calls, owners }: SessionLedger): Promise<WorkOverview> {
    const worker = await workerOf(state, this.#options);
    const former = await formerWorkersOf(state, owners, this.#options);
    const suspended = suspendedOf(worker, former);
    const rivals = former.flatMap(({ host, pid, state: is }) => (is === 'gone' ? [] : [{ host, pid }]));
    return { worker, former, work: { calls, suspended, rivals, ...holderOf(worker), ...(await this.#gitWork(state)) } };
  }

  /** While it works there, that is its own matter. */
  async #gitWork(state: SessionState): Promise<Pick<SessionWork, 'underWay' | 'finished'>> {
    const folder = this.#options.workspaceOf?.(state) ?? state.workspace;
    if (folder === undefined || state.openWake !== undefined || state.status !== 'idle') return {};
    const found = await this.#options.folders?.underWay?.(folder);
    if (found !== undefined) return { underWay: { ...found, folder } };
    // Its line may be cut: what is finished after a call failed is taken for what that call had begun.
    if (state.failedCall === undefined) return {};
    const finished = await this.#options.folders?.finished?.(folder, Date.parse(state.lastWake?.endedAt ?? ''));
    return finished === undefined ? {} : { finished };
  }

  /** What its log says besides. Where that cannot be read to its end, as far as it can. */
  async ledgerOf(state: SessionState): Promise<SessionLedger> {
    const { ledger, problem } = await this.#ledgers.of(state);
    if (problem !== undefined) this.#options.onProblem(problem);
    return ledger;
  }

  /** Undefined: there is no such session. What cannot be read is the state of an empty one that says so. */
  async stateOf(sessionId: string): Promise<SessionState | undefined> {
    try {
      return await this.#options.sessions.status(sessionId);
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      if (error.code === 'SESSION_NOT_FOUND') return undefined;
      if (error.category !== 'storage' || error.code === 'STORE_CLOSED') throw error;
      this.#options.onProblem(error);
      const { name, code, category, message, recoverable, hint } = error.toJSON();
      const unreadable = { name, code, category, message, recoverable, ...(hint === undefined ? {} : { hint }) };
      const listed = (await this.#options.sessions.list()).find((each) => each.sessionId === sessionId);
      return { ...initialSessionState({ sessionId, agentId: listed?.agentId ?? '' }), unreadable };
    }
  }

  #request(action: PendingAction, ledger: SessionLedger): InspectedRequest {
    const asked = ledger.asked(action.requestId);
    if (asked === undefined) return action;
    const { at: askedAt, because, cwd, input } = asked;
    const shown = shownData(input, this.#options.text, INPUT_LIMITS);
    return {
      ...action,
      askedAt,
      ...(because === undefined ? {} : { because }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(input === undefined ? {} : { input: shown.value }),
      ...(shown.isCut ? { isCut: true } : {}),
    };
  }

  /** An agent that is gone or cannot be read bounds nothing that could be told. */
  async #secondsPerWake({ agentId, openWake }: SessionState): Promise<number | undefined> {
    if (openWake === undefined) return undefined;
    try {
      return (await this.#options.agents?.get(agentId))?.budget.maxSecondsPerWake;
    } catch {
      return undefined;
    }
  }

  #shown(session: InspectedSession): InspectedSession {
    const { text, workspaceOf } = this.#options;
    const workspace =
      session.state.unreadable === undefined ? (workspaceOf?.(session.state) ?? session.state.workspace) : undefined;
    // Each by itself, so that a large state leaves space for the requests, which people came for.
    return {
      state: shownData(session.state, text, SESSION_LIMITS).value,
      why: shownData(session.why, text, SESSION_LIMITS).value,
      pendingActions: session.pendingActions.map((request) => shownData(request, text, SESSION_LIMITS).value),
      usage: shownData(session.usage, text, SESSION_LIMITS).value,
      ...(workspace === undefined ? {} : { workspace: text.cut(workspace, MAX_PATH_CHARACTERS) }),
      at: session.at,
    };
  }
}
