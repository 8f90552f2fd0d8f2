/** The actors that are recorded while they live, and which events each of them has been sent and not processed yet. */
import type { AnyActorRef } from 'xstate';
import type { InspectedStatus } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectedMachine } from './chart-registry.ts';
import { RecordOwner } from './record-owner.ts';

/** An event in the mailbox of an actor. XState tells of what is processed by the same object. */
interface Sent {
  readonly event: object;
  readonly number: number;
  readonly type: string;
}

/**
 * Its fields are assigned one by one: V8 sizes objects by counting those, and one of these is made for each actor. Most
 * actors have one event at a time, so that one needs no object of its own.
 */
export class InspectedActor {
  declare readonly ref: AnyActorRef;
  declare readonly owner: RecordOwner;
  declare readonly machine: InspectedMachine | undefined;
  /** Of the context that was recorded last. */
  declare context: unknown;
  /** Whether it was known where it stands at first, when it was told. */
  declare hasStood: boolean;
  /** The status that was recorded last. */
  declare status: InspectedStatus;
  /** Timers that it has set: the type of the event of each, by id. */
  declare timers: Map<string, string> | undefined;
  /**
   * The event that is being processed, and of the last one that was: its number (0 for its first, which has no sender)
   * and its type.
   */
  declare event: object | undefined;
  declare number: number;
  declare type: string;
  /** The same of the one that is next. */
  declare private nextEvent: object | undefined;
  declare private nextNumber: number;
  declare private nextType: string;
  declare private further: Sent[] | undefined;

  constructor(ref: AnyActorRef, machine: InspectedMachine | undefined) {
    this.ref = ref;
    this.owner = new RecordOwner(ref.sessionId);
    this.machine = machine;
    this.context = undefined;
    this.hasStood = true;
    this.status = 'active';
    this.timers = undefined;
    this.event = undefined;
    this.number = 0;
    this.type = '';
    this.nextEvent = undefined;
    this.nextNumber = 0;
    this.nextType = '';
    this.further = undefined;
  }

  get isWaiting(): boolean {
    return this.nextEvent !== undefined;
  }

  sent(event: object, number: number, type: string): void {
    if (this.nextEvent !== undefined) {
      (this.further ??= []).push({ event, number, type });
      return;
    }
    this.nextEvent = event;
    this.nextNumber = number;
    this.nextType = type;
  }

  /**
   * The event is being processed, which `event`, `number` and `type` tell from now on. @returns false: the actor has
   * raised it itself
   */
  process(event: object): boolean {
    if (this.event === event) return true;
    if (this.nextEvent !== event && this.further?.some((each) => each.event === event) !== true) return false;
    // What stood before it was never processed: the mailbox was emptied.
    while (this.nextEvent !== undefined && this.nextEvent !== event) this.#shift();
    this.event = event;
    this.number = this.nextNumber;
    this.type = this.nextType;
    this.#shift();
    return true;
  }

  /** Whether a microstep has told already that this event is being processed. */
  isProcessing(event: object): boolean {
    return this.event === event;
  }

  processed(): void {
    this.event = undefined;
  }

  #shift(): void {
    const next = this.further?.shift();
    this.nextEvent = next?.event;
    if (next === undefined) return;
    this.nextNumber = next.number;
    this.nextType = next.type;
  }
}
