/** Writes records about actors: stamps them, and takes the payloads in. */
import type { InspectedStatus, InspectedValue } from '../../machines/inspection-log/inspection-record.ts';
import type { Clock } from '../clock/clock.ts';
import type { ChartRegistry, InspectedMachine } from './chart-registry.ts';
import type { InspectedText } from './inspected-text.ts';
import type { Payloads } from './payloads.ts';
import type { RecordOwner } from './record-owner.ts';
import type { RecordRing } from './record-ring.ts';
import { KIND, RecordRow, marksOf } from './record-row.ts';
import type { RowDetails } from './record-row.ts';
import { statusOf } from './recorded-values.ts';
import type { Failure, RecordedValues, SnapshotLike } from './recorded-values.ts';

export interface WriterParts {
  readonly clock: Clock;
  readonly ring: RecordRing;
  readonly charts: ChartRegistry;
  readonly text: InspectedText;
  readonly values: RecordedValues;
  readonly payloads: Payloads;
}

/** Why an actor took a step. */
export interface Cause {
  /** Of the event; 0 for what the actor has raised itself. */
  readonly number: number;
  readonly type: string;
}

/** How it stands after that. */
interface Stand {
  readonly value: InspectedValue;
  readonly status: InspectedStatus;
  /** Undefined where it has not changed. */
  readonly context: unknown;
}

interface SentEvent {
  readonly event: object;
  readonly number: number;
  /** Session id of the sender. */
  readonly from: string | undefined;
  readonly type: string;
}

export class RecordWriter {
  readonly #parts: WriterParts;
  readonly #row = new RecordRow();
  readonly #toldCharts = new Set<string>();
  /** Of the last payload. */
  #isCut = false;
  #size = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** The chart, unless it was told before. */
  machine(owner: RecordOwner, machine: InspectedMachine | undefined): void {
    if (machine?.id === undefined || machine.description === undefined || this.#toldCharts.has(machine.id)) return;
    this.#toldCharts.add(machine.id);
    this.#small(owner, KIND.machine, { id: machine.id, chart: machine.description });
  }

  /** As the owner has it. */
  actor(owner: RecordOwner, status: InspectedStatus): void {
    const t = this.#stamp();
    this.#payload(undefined);
    this.#fill(owner, t, undefined);
    this.#row.marks = marksOf(KIND.actor, status, false);
    this.#parts.ring.add(this.#row);
  }

  timer(owner: RecordOwner, details: RowDetails['timer']): void {
    this.#small(owner, KIND.timer, details);
  }

  cancel(owner: RecordOwner, id: string): void {
    this.#small(owner, KIND.cancel, { id });
  }

  error(owner: RecordOwner, details: Failure): void {
    this.#small(owner, KIND.error, details);
  }

  event(owner: RecordOwner, { event, number, from, type }: SentEvent): void {
    const t = this.#stamp();
    const data = this.#payloadOfEvent(event);
    this.#fill(owner, t, data);
    const row = this.#row;
    row.marks = marksOf(KIND.event, 'active', this.#isCut);
    row.e = number;
    row.name = type;
    row.details = from;
    this.#parts.ring.add(row);
  }

  step(owner: RecordOwner, cause: Cause, taken: readonly string[], { value, status, context }: Stand): void {
    const t = this.#stamp();
    const data = this.#payload(context);
    this.#fill(owner, t, data);
    const row = this.#row;
    row.marks = marksOf(KIND.step, status, this.#isCut);
    row.e = cause.number;
    row.name = cause.type;
    row.details = taken;
    row.value = value;
    this.#parts.ring.add(row);
  }

  action(owner: RecordOwner, name: string, given: unknown): void {
    const t = this.#stamp();
    this.#named(owner, { t, kind: KIND.action, name, data: this.#payload(given) });
  }

  emit(owner: RecordOwner, event: { readonly type: string }): void {
    const t = this.#stamp();
    const name = this.#parts.text.name(event.type);
    this.#named(owner, { t, kind: KIND.emit, name, data: this.#payloadOfEvent(event) });
  }

  snap(
    owner: RecordOwner,
    snapshot: SnapshotLike,
    { machine, error }: { readonly machine: InspectedMachine | undefined; readonly error?: Failure | undefined },
  ): void {
    const t = this.#stamp();
    const value = machine === undefined ? undefined : this.#parts.values.value(snapshot.value, machine.isCompiled);
    const status = statusOf(snapshot);
    this.#fill(owner, t, this.#payload(snapshot.output));
    const row = this.#row;
    row.marks = marksOf(KIND.snap, status, this.#isCut);
    row.details = error;
    row.value = value;
    this.#parts.ring.add(row);
  }

  #named(
    owner: RecordOwner,
    {
      t,
      kind,
      name,
      data,
    }: { readonly t: number; readonly kind: number; readonly name: string; readonly data: unknown },
  ): void {
    this.#fill(owner, t, data);
    this.#row.marks = marksOf(kind, 'active', this.#isCut);
    this.#row.name = name;
    this.#parts.ring.add(this.#row);
  }

  #small(owner: RecordOwner, kind: number, details: RecordRow['details']): void {
    const t = this.#stamp();
    this.#payload(undefined);
    this.#fill(owner, t, undefined);
    this.#row.marks = marksOf(kind, 'active', false);
    this.#row.details = details;
    this.#parts.ring.add(this.#row);
  }

  /**
   * From here on nothing of the program runs until the row is in the ring: it may send events from its clock or a
   * proxy, which are rows as well.
   */
  #fill(owner: RecordOwner, t: number, data: unknown): void {
    const row = this.#row;
    row.t = t;
    row.owner = owner;
    row.e = 0;
    row.name = undefined;
    row.details = undefined;
    row.value = undefined;
    row.data = data;
    row.size = this.#size;
  }

  /** Milliseconds since the epoch. A clock of the program's own may answer anything. */
  #stamp(): number {
    const ms = this.#parts.clock.now();
    return ms >= 0 && ms <= 8.64e15 ? ms : 0;
  }

  /** What an event says beside its type. XState repeats who is done in a field of its own. */
  #payloadOfEvent(event: object): unknown {
    const data = this.#payload(saysMore(event) ? event : undefined, BESIDE);
    if (this.#isCut || typeof data !== 'object' || data === null || hasKeys(data)) return data;
    this.#size = 0;
    return undefined;
  }

  /** What it leaves out shows in `isCut`, what it takes up in `size`. */
  #payload(value: unknown, without?: ReadonlySet<string>): unknown {
    this.#isCut = false;
    this.#size = 0;
    if (value === undefined) return undefined;
    const { payloads } = this.#parts;
    const copy = payloads.of(value, without);
    this.#isCut = payloads.isCut;
    this.#size = payloads.size;
    return copy;
  }
}

const BESIDE: ReadonlySet<string> = new Set(['type', 'actorId']);

function saysMore(event: object): boolean {
  const { output } = event as { readonly output?: unknown };
  if ('actorId' in event && output === undefined && !('error' in event)) return false;
  for (const key in event) if (key !== 'type') return true;
  return false;
}

function hasKeys(data: object): boolean {
  for (const _key in data) return true;
  return false;
}
