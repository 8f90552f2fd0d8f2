/**
 * Grades, evaluates and tells the history of outcomes for callers outside of a wake. An evaluation holds the right to
 * wake the session, so that nothing is changed under it and no two run at once, in whatever processes.
 */
import { narrowedAgent } from '../../machines/agent/narrowed-agent.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { checkHistoryLimit } from '../../machines/outcome/outcome-definitions.ts';
import { gradeOf } from '../../machines/outcome/outcome-grade.ts';
import type { Grade } from '../../machines/outcome/outcome-grade.ts';
import { checkSessionId } from '../../machines/session/session-requests.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { SessionEnvironments } from '../environment/session-environment.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import { keepView, sessionBusy } from '../session/event-store.ts';
import type { EventStore, WakeRight } from '../session/event-store.ts';
import { appendAtHead } from '../session/ingress.ts';
import type { JournalCache } from '../session/journal-cache.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { SessionDirectories } from '../session/session-directories.ts';
import type { SessionJournal } from '../session/session-journal.ts';
import { evaluateOutcome } from './evaluation.ts';
import type { EvaluationPlace, EvaluationPorts, OutcomeReport } from './evaluation.ts';
import { readHistory } from './outcome-history.ts';
import type { OutcomeHistory } from './outcome-history.ts';
import { readWork } from './read-work.ts';

export interface OutcomeEvaluatorOptions extends EvaluationPorts {
  readonly store: EventStore;
  readonly journals: JournalCache;
  readonly agents: AgentCatalog;
  readonly directories: SessionDirectories;
  /** What sessions work in. Without it in their workspace, with nothing shut in. */
  readonly environments?: SessionEnvironments | undefined;
}

interface OutcomeEvaluateOptions {
  /** Ends the evaluation; nothing is stored then. */
  readonly signal?: AbortSignal | undefined;
}

export class OutcomeEvaluator {
  readonly #options: OutcomeEvaluatorOptions;
  /** Evaluations of this process, by session. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #ending = new AbortController();

  constructor(options: OutcomeEvaluatorOptions) {
    this.#options = options;
  }

  /** How far a session has come. Stores nothing. @throws RuntimeError SESSION_NOT_FOUND */
  async grade(sessionId: string): Promise<Grade> {
    const { state } = await this.#options.journals.open(checkSessionId(sessionId));
    const { store, leftRunning } = this.#options;
    return gradeOf({ state, record: await readWork(store, state), leftRunning: await leftRunning?.(state) });
  }

  /** How it was evaluated so far. @param options `limit`: entries at most, the newest; default 20 */
  async history(sessionId: string, options: { readonly limit?: number | undefined } = {}): Promise<OutcomeHistory> {
    const limit = checkHistoryLimit(options.limit);
    const { state } = await this.#options.journals.open(checkSessionId(sessionId));
    return readHistory(this.#options.store, state, limit);
  }

  /**
   * Evaluates the outcome of a session that rests, and stores what came of it.
   * @throws RuntimeError SESSION_NOT_FOUND; SESSION_TERMINATED; SESSION_BUSY while a wake of it runs or it is evaluated
   * already; what entering its environment throws. Nothing is stored then
   */
  async evaluate(sessionId: string, { signal }: OutcomeEvaluateOptions = {}): Promise<OutcomeReport> {
    const id = checkSessionId(sessionId);
    const whole = AbortSignal.any([this.#ending.signal, ...(signal === undefined ? [] : [signal])]);
    whole.throwIfAborted();
    return this.alone(id, async () => {
      const journal = await this.#options.journals.open(id);
      const right = await this.#acquireRight(journal);
      try {
        return await this.#evaluateUnder(right, journal, AbortSignal.any([whole, right.lost]));
      } finally {
        await right.release();
      }
    });
  }

  /** One evaluation of a session at a time, also of those that wakes ask for here. @throws RuntimeError SESSION_BUSY */
  async alone<Result>(sessionId: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running.has(sessionId)) throw evaluatedAlready(sessionId);
    const running = work();
    this.#running.set(sessionId, running);
    try {
      return await running;
    } finally {
      this.#running.delete(sessionId);
    }
  }

  /** Ends what runs, and resolves when nothing does any more. Idempotent. */
  async close(): Promise<void> {
    this.#ending.abort(
      new RuntimeError('RUNTIME_SHUT_DOWN', 'the runtime is shut down and evaluates nothing', {
        category: 'conflict',
        hint: 'Open a new runtime.',
      }),
    );
    await Promise.allSettled(this.#running.values());
  }

  async #evaluateUnder(right: WakeRight, journal: SessionJournal, signal: AbortSignal): Promise<OutcomeReport> {
    const { state } = journal;
    if (state.status === 'terminated') throw refusalError(state.sessionId, 'outcome.evaluated', terminated(state));
    // A wake that died has to be put right first, and the next wake does that.
    if (state.openWake !== undefined || state.status === 'running') throw diedInside(state.sessionId);
    const place = await this.#placeOf(state);
    const report = await evaluateOutcome(
      {
        ...place,
        state: () => journal.state,
        append: async (draftsFor) => {
          await journal.refresh();
          await appendAtHead(journal, (now) => place.environment?.secrets.drafts(draftsFor(now)) ?? draftsFor(now), {
            epoch: right.epoch,
          });
        },
        signal,
      },
      this.#options,
    );
    await keepView(this.#options.store, journal.state);
    return report;
  }

  async #placeOf(
    state: SessionState,
  ): Promise<Pick<EvaluationPlace, 'environment' | 'workspaceDirectory' | 'agentDirectory'>> {
    const { agents, directories, environments } = this.#options;
    const agent = narrowedAgent(await agents.get(state.agentId), state.narrowing);
    const workspaceDirectory = await directories.workspaceDirectory(placeOfSession(state));
    const entered = await environments?.enter({ session: state, agent, workspaceDirectory });
    return {
      workspaceDirectory,
      agentDirectory: directories.agentDirectory(state.agentId),
      ...(entered === undefined ? {} : { environment: entered.environment }),
    };
  }

  /** The right to write after all that is in the log by then. */
  async #acquireRight(journal: SessionJournal): Promise<WakeRight> {
    const { store } = this.#options;
    for (let state = await journal.refresh(); ;) {
      const right = await store
        .acquireWakeRight(state.sessionId, { epoch: state.epoch, isOpen: state.openWake !== undefined })
        .catch((error: unknown) => {
          throw RuntimeError.is(error) && error.code === 'WAKE_CONFLICT' ? sessionBusy(state.sessionId) : error;
        });
      state = await journal.refresh();
      // Whole wakes may have come and gone while we asked.
      if (state.epoch < right.epoch) return right;
      await right.release();
    }
  }
}

function evaluatedAlready(sessionId: string): RuntimeError {
  return new RuntimeError('SESSION_BUSY', `the outcome of session ${sessionId} is being evaluated already`, {
    category: 'conflict',
    hint: 'Wait for that evaluation: session events shows what came of it.',
    details: { sessionId },
  });
}

function diedInside(sessionId: string): RuntimeError {
  return new RuntimeError('SESSION_BUSY', `session ${sessionId} is in the middle of a wake whose process has died`, {
    category: 'conflict',
    hint: 'Wake it, so that it is put right; then evaluate again.',
    details: { sessionId },
  });
}
