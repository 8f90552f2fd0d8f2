/**
 * The wakes of a stored session as actors of their chart, as far as their events show which way they went; how they
 * ended always.
 */
import { describeChart } from '../inspection/describe-chart.ts';
import { WakeInLog } from '../inspection/wake-in-log.ts';
import type { SessionEvent, SessionEventData } from '../session/session-event.ts';
import { wakeEvents } from '../wake/wake-events.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import type { WakeInput } from '../wake/wake-machine.ts';
import { ToldLife, lazilyExplored } from './session-record-writer.ts';
import type { SessionRecordWriter } from './session-record-writer.ts';

export class WakeRecords {
  readonly #writer: SessionRecordWriter;
  readonly #session: string;
  readonly #machine = lazilyExplored(wakeMachine);
  readonly #led = new WakeInLog<ToldLife>();

  constructor(writer: SessionRecordWriter, session: string) {
    this.#writer = writer;
    this.#session = session;
  }

  /** The key of the wake that runs, as far as the log tells. */
  get open(): string | undefined {
    return this.#led.open?.key;
  }

  see(event: SessionEvent): void {
    if (event.type === 'wake.started') this.#begin(event.sessionId, event.data);
    else if (event.type === 'wake.ended') this.#end(event.data);
    else this.#led.see(event);
  }

  #begin(sessionId: string, { wakeId, trigger }: SessionEventData<'wake.started'>): void {
    // Another one begins only when the one before is over, though the log does not say how.
    this.#led.open?.end('stopped');
    const input = { sessionId, wakeId } satisfies WakeInput;
    const chart = (): ReturnType<typeof describeChart> => describeChart(wakeMachine, { events: wakeEvents });
    this.#led.begin(
      new ToldLife(this.#writer, {
        chart,
        machine: this.#machine(),
        input,
        parent: this.#session,
        id: wakeId,
        facts: { label: trigger, wakeId },
      }),
    );
  }

  #end({ outcome, summary, error }: SessionEventData<'wake.ended'>): void {
    const life = this.#led.open;
    const isTold = this.#led.end(outcome);
    if (life === undefined) return;
    const output = { outcome, summary, ...(error === undefined ? {} : { error }) };
    // Another wake wrote the end of one that was lost: where it was then is unknown.
    if (outcome === 'lost') return life.end('stopped', { output });
    if (isTold) life.done('release');
    life.end('done', { value: 'ended', output });
  }
}
