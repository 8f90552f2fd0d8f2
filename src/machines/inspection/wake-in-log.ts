/**
 * Leads a wake through its chart by what a session's log tells of it: which way it went is told by its events, and that
 * a part is over only by what comes after it.
 */
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import {
  ASSEMBLED,
  CLAIMED,
  COMMITTED,
  FOLDED_TO_CALLS,
  FOLDED_TO_END,
  FOLDED_TO_STEP,
  STEPPED,
  STEPPED_TO_CALLS,
} from '../wake/wake-answers.ts';
import { meaningOf } from './log-hits-walk.ts';
import type { EventMeanings } from './log-hits-walk.ts';

/** Whatever lives by the chart of a wake. */
export interface LedWake {
  /** The leaf it is in, such as `running.stepping`. */
  readonly state: string | undefined;
  /** The actor that it has invoked under this id has answered. */
  done(id: string, output?: unknown): void;
}

export class WakeInLog<Wake extends LedWake> {
  readonly #callsOfBackends = new Set<string>();
  #wake: Wake | undefined;
  /** Whether a model step is under way: what happens meanwhile is part of it. */
  #isInStep = false;
  #hasAskedForTools = false;

  readonly #means: EventMeanings = {
    'span.started': ({ kind }) => this.#beginStep(kind),
    // A step that another wake closes belongs to none that runs.
    'span.completed': () => {
      this.#isInStep = false;
    },
    'agent.tool_use': ({ by, callId }) => {
      if (by === undefined) this.#hasAskedForTools = true;
      else this.#callsOfBackends.add(callId);
    },
    // A call whose end is unknown, or that was taken back, may have been closed with the beginning of the wake.
    'agent.tool_result': ({ outcome, callId }) =>
      outcome === 'unknown' || outcome === 'cancelled' ? undefined : this.#callTools(callId),
    'agent.tool_started': ({ callId }) => this.#callTools(callId),
    'agent.subflow_started': ({ callId }) => this.#callTools(callId),
    'agent.question_asked': ({ callId }) => this.#callTools(callId),
    'permission.requested': ({ callId }) => this.#callTools(callId),
    'agent.custom_tool_use': ({ callId }) => (callId === undefined ? undefined : this.#callTools(callId)),
  };

  /** The one that runs, as far as the log tells. */
  get open(): Wake | undefined {
    return this.#wake;
  }

  begin(wake: Wake): void {
    this.#wake = wake;
    this.#isInStep = false;
    this.#hasAskedForTools = false;
    this.#callsOfBackends.clear();
    wake.done('claim', CLAIMED);
  }

  /** Not `wake.started` and `wake.ended`: the caller that leads it says what these mean. */
  see(event: SessionEvent): void {
    meaningOf(this.#means, event)?.(event.data);
  }

  /** No wake is led any more. @returns whether the log tells how it got to its end; then it has committed */
  end(outcome: SessionEventData<'wake.ended'>['outcome']): boolean {
    const wake = this.#wake;
    const isTold = wake !== undefined && this.#leadToCommit(wake, outcome);
    this.#wake = undefined;
    return isTold;
  }

  #leadToCommit(wake: Wake, outcome: SessionEventData<'wake.ended'>['outcome']): boolean {
    // Another wake wrote the end of one that was lost; one that failed may have got there from anywhere.
    if (outcome === 'lost' || outcome === 'failed' || this.#isInStep) return false;
    // Whether the calls that were asked for were checked before the end cannot be told.
    if (wake.state === 'running.stepping' && this.#hasAskedForTools) return false;
    this.#backToFolding();
    if (wake.state !== 'folding') return false;
    wake.done('fold', FOLDED_TO_END);
    wake.done('commit', COMMITTED);
    return true;
  }

  #beginStep(kind: SessionEventData<'span.started'>['kind']): void {
    this.#backToFolding();
    const wake = this.#wake;
    if (wake?.state === 'folding') wake.done('fold', FOLDED_TO_STEP);
    // A summary is written on the way to the step.
    if (kind === 'compaction' || wake?.state !== 'assembling') return;
    wake.done('assemble', ASSEMBLED);
    this.#isInStep = true;
    this.#hasAskedForTools = false;
  }

  #callTools(callId: string): void {
    const wake = this.#wake;
    if (wake === undefined || this.#isInStep || this.#callsOfBackends.has(callId)) return;
    if (wake.state === 'folding') wake.done('fold', FOLDED_TO_CALLS);
    if (wake.state === 'running.stepping') wake.done('step', STEPPED_TO_CALLS);
  }

  /** Nothing says that a part is over but what comes after it. */
  #backToFolding(): void {
    const wake = this.#wake;
    if (wake?.state === 'running.calling') wake.done('callTools');
    if (wake?.state === 'running.stepping') wake.done('step', STEPPED);
  }
}
