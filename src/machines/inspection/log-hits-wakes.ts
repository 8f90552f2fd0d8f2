/** The lives of the wakes in a log, as far as their events show which way they went. */
import type { SessionEvent } from '../session/session-event.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import type { WakeInput } from '../wake/wake-machine.ts';
import { exploredMachine } from './explored-machine.ts';
import { ChartWalk, HitCounts } from './log-hits-walk.ts';
import { WakeInLog } from './wake-in-log.ts';

/**
 * What can be told from a log. Not among them: wakes that found nothing to do, which write nothing; STOP; what was
 * folded again because the log had moved; which part of the work broke, since its end reads the same for all; and what
 * became of the right to write afterwards.
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
  readonly counts = new HitCounts(wakeMachine.id);
  readonly #machine = exploredMachine(wakeMachine);
  readonly #led = new WakeInLog<ChartWalk>();

  see(event: SessionEvent): void {
    if (event.type === 'wake.started') {
      const input = { sessionId: event.sessionId, wakeId: event.data.wakeId } satisfies WakeInput;
      this.#led.begin(new ChartWalk(this.#machine, this.counts, input));
    } else if (event.type === 'wake.ended') this.#led.end(event.data.outcome);
    else this.#led.see(event);
  }
}
