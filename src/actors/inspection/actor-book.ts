/** The actors that are recorded while they live, and which events each of them has been sent and not processed yet. */
import type { AnyActorRef } from 'xstate';
import type { InspectedStatus, InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectedMachine } from './chart-book.ts';
import type { RecordOwner } from './record-ring.ts';

/** An event in the mailbox of an actor. XState tells of what is processed by the same object. */
interface Sent {
  readonly event: object;
  /** Undefined for its first, which nobody sent. */
  readonly number: number | undefined;
  readonly type: string;
  /** In which turn of the event loop. */
  readonly turn: number;
}

export class InspectedActor implements RecordOwner {
  told: InspectionRecord | undefined = undefined;
  stood: InspectionRecord | undefined = undefined;
  readonly ref: AnyActorRef;
  readonly key: string;
  readonly machine: InspectedMachine | undefined;
  /** Of the context that was recorded last. */
  context: unknown = undefined;
  /** Whether it was known where it stands at first, when it was told. */
  hasStood = true;
  /** The status that was recorded last. */
  status: InspectedStatus = 'active';
  /** Timers that it has set: the type of the event of each, by id. */
  timers: Map<string, string> | undefined = undefined;
  /** The next one, and those after it: most actors have one event at a time. */
  #next: Sent | undefined = undefined;
  #further: Sent[] | undefined = undefined;
  #current: Sent | undefined = undefined;

  constructor(ref: AnyActorRef, key: string, machine: InspectedMachine | undefined) {
    this.ref = ref;
    this.key = key;
    this.machine = machine;
  }

  get isWaiting(): boolean {
    return this.#next !== undefined;
  }

  sent(sent: Sent): void {
    if (this.#next === undefined) this.#next = sent;
    else (this.#further ??= []).push(sent);
  }

  /** The event that is being processed, as it was sent. Undefined: the actor has raised it itself. */
  process(event: object): Sent | undefined {
    if (this.#current?.event === event) return this.#current;
    if (this.#next?.event !== event && this.#further?.some((each) => each.event === event) !== true) return undefined;
    // What stood before it was never processed: the mailbox was emptied.
    while (this.#next !== undefined && this.#next.event !== event) this.#shift();
    this.#current = this.#next;
    this.#shift();
    return this.#current;
  }

  /** Whether a microstep has told already that this event is being processed. */
  isProcessing(event: object): boolean {
    return this.#current?.event === event;
  }

  processed(): void {
    this.#current = undefined;
  }

  #shift(): void {
    this.#next = this.#further?.shift();
  }
}
