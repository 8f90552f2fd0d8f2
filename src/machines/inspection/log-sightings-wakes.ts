/** The lives of the wakes in a log, as far as their events show which way they went. */
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import type { ClaimAnswer, CommitAnswer, FoldAnswer, StepAnswer, WakeInput } from '../wake/wake-machine.ts';
import { exploredMachine } from './explored-machine.ts';
import { ChartWalk, SightingCounts, meaningOf } from './log-sightings-walk.ts';
import type { EventMeanings } from './log-sightings-walk.ts';

/**
 * What can be told from a log. Not among them: wakes that found nothing to do, which write nothing; STOP; what was folded again because the log had
 * moved; which part of the work broke, since its end reads the same for all; and what became of the right to write afterwards.
 */
export const SEEN_OF_WAKES: readonly string[] = [
  'claiming|done(claim)|0',
  'folding|done(fold)|0',
  'folding|done(fold)|1',
  'folding|done(fold)|2',
  'assembling|done(assemble)|0',
  'running.stepping|done(step)|0',
  'running.stepping|done(step)|1',
  'running.calling|done(callTools)|0',
  'committing|done(commit)|0',
];

export class WakesInLog {
  readonly counts = new SightingCounts(wakeMachine.id);
  readonly #machine = exploredMachine(wakeMachine);
  readonly #callsOfBackends = new Set<string>();
  #walk: ChartWalk | undefined;
  /** Whether a model step is under way: what happens meanwhile is part of it. */
  #isInStep = false;
  #hasAskedForTools = false;

  readonly #means: EventMeanings = {
    'wake.ended': (data) => {
      this.#end(data);
      this.#walk = undefined;
    },
    'span.started': ({ kind }) => this.#beginStep(kind),
    // A step that another wake closes belongs to none that runs.
    'span.completed': () => {
      this.#isInStep = false;
    },
    'agent.tool_use': ({ by, callId }) => {
      if (by === undefined) this.#hasAskedForTools = true;
      else this.#callsOfBackends.add(callId);
    },
    // A call that nobody knows the end of, or that was taken back, may have been closed with the beginning of the wake.
    'agent.tool_result': ({ outcome, callId }) => (outcome === 'unknown' || outcome === 'cancelled' ? undefined : this.#callTools(callId)),
    'agent.tool_started': ({ callId }) => this.#callTools(callId),
    'agent.subflow_started': ({ callId }) => this.#callTools(callId),
    'agent.question_asked': ({ callId }) => this.#callTools(callId),
    'permission.requested': ({ callId }) => this.#callTools(callId),
    'agent.custom_tool_use': ({ callId }) => (callId === undefined ? undefined : this.#callTools(callId)),
  };

  see(event: SessionEvent): void {
    if (event.type === 'wake.started') this.#begin({ sessionId: event.sessionId, wakeId: event.data.wakeId });
    else meaningOf(this.#means, event)?.(event.data);
  }

  #begin(input: WakeInput): void {
    this.#walk = new ChartWalk(this.#machine, this.counts, input);
    this.#isInStep = false;
    this.#walk.done('claim', 'claimed' satisfies ClaimAnswer);
  }

  #beginStep(kind: SessionEventData<'span.started'>['kind']): void {
    this.#backToFolding();
    const walk = this.#walk;
    if (walk?.state === 'folding') walk.done('fold', 'step' satisfies FoldAnswer);
    // A summary is written on the way to the step.
    if (kind === 'compaction' || walk?.state !== 'assembling') return;
    walk.done('assemble');
    this.#isInStep = true;
    this.#hasAskedForTools = false;
  }

  #callTools(callId: string): void {
    const walk = this.#walk;
    if (walk === undefined || this.#isInStep || this.#callsOfBackends.has(callId)) return;
    if (walk.state === 'folding') walk.done('fold', 'call_tools' satisfies FoldAnswer);
    if (walk.state === 'running.stepping') walk.done('step', 'call_tools' satisfies StepAnswer);
  }

  /** Nothing says that a part is over but what comes after it. */
  #backToFolding(): void {
    const walk = this.#walk;
    if (walk?.state === 'running.calling') walk.done('callTools');
    if (walk?.state === 'running.stepping') walk.done('step', 'fold' satisfies StepAnswer);
  }

  #end({ outcome }: SessionEventData<'wake.ended'>): void {
    // Another wake wrote the end of one that was lost; one that failed may have got there from anywhere.
    if (outcome === 'lost' || outcome === 'failed' || this.#isInStep) return;
    // Whether the calls that were asked for were looked at before the end cannot be told.
    if (this.#walk?.state === 'running.stepping' && this.#hasAskedForTools) return;
    this.#backToFolding();
    if (this.#walk?.state !== 'folding') return;
    this.#walk.done('fold', 'end' satisfies FoldAnswer);
    this.#walk.done('commit', 'committed' satisfies CommitAnswer);
  }
}
