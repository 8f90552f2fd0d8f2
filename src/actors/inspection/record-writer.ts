/** Writes records about actors: numbers them, stamps them, and takes the payloads in. */
import type { InspectedStatus, InspectedValue, InspectionRecord, InspectionRecordOf } from '../../machines/inspection-log/inspection-record.ts';
import type { Clock } from '../clock/clock.ts';
import type { ChartBook, InspectedMachine } from './chart-book.ts';
import type { InspectedText } from './inspected-text.ts';
import type { Payloads } from './payloads.ts';
import type { RecordOwner, RecordRing } from './record-ring.ts';
import { statusOf } from './recorded-values.ts';
import type { Failure, RecordedValues, SnapshotLike } from './recorded-values.ts';

export interface WriterParts {
  readonly clock: Clock;
  readonly ring: RecordRing;
  readonly charts: ChartBook;
  readonly text: InspectedText;
  readonly values: RecordedValues;
  readonly payloads: Payloads;
}

/** Why an actor took a step. */
export interface Cause {
  /** Of the event; undefined for what the actor has raised itself. */
  readonly number: number | undefined;
  readonly type: string;
  readonly taken: readonly string[];
}

interface Step {
  readonly cause: Cause;
  readonly value: InspectedValue;
  readonly status: InspectedStatus;
  /** Undefined where it has not changed. */
  readonly context: unknown;
}

type Rest<Kind extends InspectionRecord['k']> = Omit<InspectionRecordOf<Kind>, 's' | 't' | 'a' | 'k' | 'cut'>;
type Small = { readonly [Kind in 'machine' | 'actor' | 'timer' | 'cancel' | 'error']: Omit<InspectionRecordOf<Kind>, 's' | 't' | 'a'> }['machine' | 'actor' | 'timer' | 'cancel' | 'error'];

export class RecordWriter {
  readonly #parts: WriterParts;
  readonly #toldCharts = new Set<string>();
  /** Of the last payload. */
  #cut: true | undefined = undefined;
  #size = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  small(owner: RecordOwner, record: Small): void {
    const { ring, clock } = this.#parts;
    ring.add({ s: ring.next, t: stampOf(clock), a: owner.key, ...record }, owner, 0);
  }

  /** The chart, unless it was told before. */
  machine(owner: RecordOwner, machine: InspectedMachine | undefined): void {
    if (machine?.id === undefined || machine.description === undefined || this.#toldCharts.has(machine.id)) return;
    this.#toldCharts.add(machine.id);
    this.small(owner, { k: 'machine', id: machine.id, chart: machine.description });
  }

  event(owner: RecordOwner, { e, from, type }: Rest<'event'>, event: object): void {
    const { ring, clock } = this.#parts;
    const data = this.#payloadOfEvent(event);
    ring.add({ s: ring.next, t: stampOf(clock), a: owner.key, k: 'event', e, from, type, data, cut: this.#cut }, owner, this.#size);
  }

  step(owner: RecordOwner, { cause: { number, type, taken }, value, status, context }: Step): void {
    const { ring, clock } = this.#parts;
    const copy = this.#payload(context);
    // The schema gives the list as one that may be edited; nobody does.
    ring.add({ s: ring.next, t: stampOf(clock), a: owner.key, k: 'step', e: number, type, taken: taken as string[], value, status, context: copy, cut: this.#cut }, owner, this.#size);
  }

  action(owner: RecordOwner, name: string, given: unknown): void {
    const { ring, clock } = this.#parts;
    const params = this.#payload(given);
    ring.add({ s: ring.next, t: stampOf(clock), a: owner.key, k: 'action', name, params, cut: this.#cut }, owner, this.#size);
  }

  emit(owner: RecordOwner, event: { readonly type: string }): void {
    const { ring, clock, text } = this.#parts;
    const data = this.#payloadOfEvent(event);
    ring.add({ s: ring.next, t: stampOf(clock), a: owner.key, k: 'emit', type: text.name(event.type), data, cut: this.#cut }, owner, this.#size);
  }

  snap(owner: RecordOwner, snapshot: SnapshotLike, { machine, error }: { readonly machine: InspectedMachine | undefined; readonly error?: Failure | undefined }): void {
    const { ring, clock, values } = this.#parts;
    const output = this.#payload(snapshot.output);
    const value = machine === undefined ? undefined : values.value(snapshot.value, machine.isCompiled);
    ring.add({ s: ring.next, t: stampOf(clock), a: owner.key, k: 'snap', value, status: statusOf(snapshot), output, error, cut: this.#cut }, owner, this.#size);
  }

  /** What an event says beside its type. XState repeats who is done in a field of its own. */
  #payloadOfEvent(event: object): unknown {
    const data = this.#payload(saysMore(event) ? event : undefined, BESIDE);
    if (this.#cut !== undefined || typeof data !== 'object' || data === null || Object.keys(data).length > 0) return data;
    this.#size = 0;
    return undefined;
  }

  /** What it leaves out shows in `cut`, what it takes up in `size`. */
  #payload(value: unknown, without?: ReadonlySet<string>): unknown {
    this.#cut = undefined;
    this.#size = 0;
    if (value === undefined) return undefined;
    const { payloads } = this.#parts;
    const copy = payloads.of(value, without);
    if (payloads.isCut) this.#cut = true;
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

/** A clock of the program's own may answer anything. */
function stampOf(clock: Clock): number {
  const ms = clock.now();
  return ms >= 0 && ms <= 8.64e15 ? ms : 0;
}
