/**
 * The runs of a backend that are under way: one per id, begun with its event, ended by its id or by the signal of its
 * caller.
 */
import type { RunFailure } from '../../machines/run/run-failure.ts';
import { forwardAbort } from '../concurrency/forward-abort.ts';
import type { AgentRunParams, AgentRunResult } from './agent-runtime.ts';
import type { RunEvents } from './run-events.ts';

export class ActiveRuns {
  readonly #controllers = new Map<string, AbortController>();

  has(runId: string): boolean {
    return this.#controllers.has(runId);
  }

  stop(runId: string): void {
    this.#controllers.get(runId)?.abort('aborted by the caller');
  }

  /**
   * Announces the start and does the work, which tells its own end; the run is active until then. The controller aborts
   * when the run is to stop. While another run of the same id is active, it is refused with the kind `coordination`.
   */
  async run(
    params: AgentRunParams,
    events: RunEvents,
    work: (controller: AbortController) => Promise<AgentRunResult>,
  ): Promise<AgentRunResult> {
    const { runId, provider, model, abortSignal } = params;
    const isTaken = this.has(runId);
    const controller = new AbortController();
    // Before the start is told: a listener may stop the run.
    if (!isTaken) this.#controllers.set(runId, controller);
    events.emit({ stream: 'lifecycle', data: { phase: 'start', provider, model } });
    if (isTaken) return refusedRun(events, alreadyActive(runId));
    const release = forwardAbort(controller, abortSignal);
    try {
      return await work(controller);
    } finally {
      release();
      this.#controllers.delete(runId);
    }
  }
}

/** The end of a run that could not even begin. */
export function refusedRun(events: RunEvents, error: RunFailure): AgentRunResult {
  events.fail(error);
  return { payloads: [], meta: { error, modelSteps: 0 } };
}

function alreadyActive(runId: string): RunFailure {
  return {
    kind: 'coordination',
    message: `the run ${runId} is active already; another needs an id of its own, or has to wait for it to end`,
  };
}
