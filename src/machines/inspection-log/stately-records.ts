/**
 * The frames of one program as records of an inspection log. The program itself is an actor, under which its own hang;
 * when its connection ends, it and what was active of it have ended for the viewer, with the reason.
 *
 * What frames do not tell: actions, emitted events, timers and microsteps. One step is everything that one event led
 * to. The snapshot in the frame of a new actor is taken a moment after the actor was made, so that it counts only where
 * it agrees with how the chart starts.
 */
import type { InspectedStatus, InspectedValue, InspectionRecord } from './inspection-record.ts';
import type { KnownChart, StatelyCharts } from './stately-charts.ts';
import type {
  StatelyActorFrame,
  StatelyEvent,
  StatelyEventFrame,
  StatelyFrame,
  StatelySnapshot,
  StatelySnapshotFrame,
} from './stately-frames.ts';
import { LIFE_EVENTS } from './stately-taken.ts';
import { UNKNOWN_TRANSITION } from './taken-words.ts';
import type { StatelyText } from './stately-text.ts';

/** A record before it has its number and its time. */
export type UnnumberedRecord = {
  readonly [Record in InspectionRecord as Record['k']]: Omit<Record, 's' | 't'>;
}[InspectionRecord['k']];

export interface StatelyRecordsOptions {
  /** Tells the actors of this connection from those of all others. */
  readonly boot: string;
  /** What the program is shown as. */
  readonly title: string;
  readonly charts: StatelyCharts;
  readonly text: StatelyText;
  /** Actors of which something is remembered. */
  readonly maxActors: number;
  /** Numbers the events of the recording. */
  readonly nextEvent: () => number;
  /** Whether the chart is told already. @returns true the first time for each */
  readonly isNewChart: (id: string) => boolean;
}

/** Events of an actor that wait for its next snapshot: of those that are never processed the oldest are given up. */
const MAX_WAITING = 256;

interface Known {
  readonly key: string;
  chart: KnownChart | undefined;
  value: InspectedValue | undefined;
  status: InspectedStatus;
  readonly waiting: { readonly e: number; readonly type: string }[];
}

export class StatelyRecords {
  readonly #options: StatelyRecordsOptions;
  readonly #root: string;
  readonly #known = new Map<string, Known>();
  /** Those that are over, the oldest first: they are forgotten when there are too many. */
  readonly #over = new Set<string>();
  #records: UnnumberedRecord[] = [];
  /** Frames about actors beyond the limit. */
  lostFrames = 0;

  constructor(options: StatelyRecordsOptions) {
    this.#options = options;
    this.#root = options.boot;
  }

  begin(): readonly UnnumberedRecord[] {
    this.#write({ k: 'actor', a: this.#root, id: this.#options.title, kind: 'program', status: 'active' });
    return this.#take();
  }

  see(frame: StatelyFrame): readonly UnnumberedRecord[] {
    if (frame.type === '@xstate.actor') this.#tell(frame);
    else if (frame.type === '@xstate.event') this.#sent(frame);
    else this.#stood(frame);
    return this.#take();
  }

  /** @param because why the connection ended, where that was not as it should be */
  end(because: string | undefined): readonly UnnumberedRecord[] {
    const error = {
      message: 'The connection of its program ended while it was active. What became of it is not known.',
    };
    for (const { key, status } of this.#known.values())
      if (status === 'active') this.#write({ k: 'snap', a: key, status: 'stopped', error });
    this.#write({
      k: 'snap',
      a: this.#root,
      status: 'stopped',
      ...(because === undefined ? {} : { error: { message: this.#options.text.message(because) } }),
    });
    this.#known.clear();
    this.#over.clear();
    return this.#take();
  }

  #tell({ sessionId, name, parentId, rootId, definition, snapshot }: StatelyActorFrame): void {
    const known = this.#of(sessionId, { isTold: true });
    if (known === undefined) return;
    const { text, charts } = this.#options;
    const shown = text.name(name ?? sessionId);
    known.chart = typeof definition === 'string' ? charts.of(definition, shown) : undefined;
    this.#tellChart(known);
    // Without a root it was told by hand, and nothing follows that would put it right.
    const isFirm = typeof rootId !== 'string';
    const value = this.#value(snapshot?.value);
    if (value !== undefined && (isFirm || known.chart === undefined || known.chart.taken.isInitial(value)))
      known.value = value;
    known.status = isFirm ? (snapshot?.status ?? 'active') : 'active';
    this.#settle(sessionId, known);
    const kind = known.chart?.chart.id;
    this.#write({
      k: 'actor',
      a: known.key,
      parent: this.#keyOf(parentId) ?? this.#root,
      id: shown,
      ...(kind === undefined ? {} : { kind: text.name(kind) }),
      ...(known.chart === undefined ? {} : { chart: known.chart.id }),
      ...(known.value === undefined ? {} : { value: known.value }),
      status: known.status,
    });
  }

  #tellChart({ key, chart }: Known): void {
    if (chart !== undefined && this.#options.isNewChart(chart.id))
      this.#write({ k: 'machine', a: key, id: chart.id, chart: chart.chart });
  }

  #sent({ sessionId, sourceId, event }: StatelyEventFrame): void {
    const known = this.#of(sessionId);
    if (known === undefined || LIFE_EVENTS.has(event.type)) return;
    const e = this.#options.nextEvent();
    const type = this.#options.text.name(event.type);
    if (known.chart !== undefined) {
      known.waiting.push({ e, type: event.type });
      if (known.waiting.length > MAX_WAITING) known.waiting.shift();
    }
    const from = this.#keyOf(sourceId);
    this.#write({ k: 'event', a: known.key, e, ...(from === undefined ? {} : { from }), type, ...this.#beside(event) });
  }

  #stood({ sessionId, event, snapshot }: StatelySnapshotFrame): void {
    if (snapshot === null) return;
    const known = this.#of(sessionId);
    if (known === undefined) return;
    const { status } = snapshot;
    const value = this.#value(snapshot.value);
    const isStep = value !== undefined && !LIFE_EVENTS.has(event.type) && event.type !== '';
    if (isStep) this.#stepped(known, event, { value, snapshot });
    const hasEnded = status !== 'active';
    if (!isStep || hasEnded)
      this.#write({
        k: 'snap',
        a: known.key,
        ...(value === undefined ? {} : { value }),
        status,
        ...this.#outcome(snapshot),
      });
    known.value = value ?? known.value;
    known.status = status;
    this.#settle(sessionId, known);
  }

  #stepped(
    known: Known,
    { type }: StatelyEvent,
    { value, snapshot }: { readonly value: InspectedValue; readonly snapshot: StatelySnapshot },
  ): void {
    const index = known.waiting.findIndex((each) => each.type === type);
    // Events are processed in the order in which they were sent: those before it never will be.
    const e = index === -1 ? undefined : known.waiting.splice(0, index + 1).at(-1)?.e;
    const taken = known.chart?.taken.of({ type, before: known.value, after: value }) ?? [UNKNOWN_TRANSITION];
    const { data, cut } = this.#options.text.payload(snapshot.context);
    this.#write({
      k: 'step',
      a: known.key,
      ...(e === undefined ? {} : { e }),
      type: this.#options.text.name(type),
      taken: taken.map((id) => this.#options.text.name(id)),
      value,
      status: snapshot.status,
      ...(data === undefined ? {} : { context: data }),
      ...(cut === undefined ? {} : { cut }),
    });
  }

  #outcome({
    output,
    error,
    status,
  }: StatelySnapshot): Partial<Pick<Extract<InspectionRecord, { k: 'snap' }>, 'output' | 'error' | 'cut'>> {
    const { data, cut } = this.#options.text.payload(output);
    const failure = status === 'error' ? { error: { message: this.#options.text.message(failureText(error)) } } : {};
    return { ...(data === undefined ? {} : { output: data }), ...(cut === undefined ? {} : { cut }), ...failure };
  }

  /** What an event says beside its type. */
  #beside({ type: _type, ...rest }: StatelyEvent): { readonly data?: unknown; readonly cut?: true } {
    return Object.keys(rest).length === 0 ? {} : this.#options.text.payload(rest);
  }

  #value(value: InspectedValue | undefined): InspectedValue | undefined {
    if (value === undefined || typeof value === 'string')
      return value === undefined ? undefined : this.#options.text.name(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [this.#options.text.name(key), this.#value(inner) ?? '']),
    );
  }

  #keyOf(sessionId: string | null | undefined): string | undefined {
    return typeof sessionId === 'string' ? (this.#known.get(sessionId)?.key ?? this.#keyFor(sessionId)) : undefined;
  }

  #keyFor(sessionId: string): string {
    return `${this.#options.boot}:${this.#options.text.name(sessionId)}`;
  }

  /**
   * What is remembered of an actor. One that no frame told of is told, since its frame came too late, or was lost.
   * Undefined: there are too many.
   */
  #of(sessionId: string, { isTold = false }: { readonly isTold?: boolean } = {}): Known | undefined {
    const known = this.#known.get(sessionId);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#options.maxActors && !this.#forgetOne()) {
      this.lostFrames += 1;
      return undefined;
    }
    const made: Known = {
      key: this.#keyFor(sessionId),
      chart: undefined,
      value: undefined,
      status: 'active',
      waiting: [],
    };
    this.#known.set(sessionId, made);
    if (!isTold)
      this.#write({
        k: 'actor',
        a: made.key,
        parent: this.#root,
        id: this.#options.text.name(sessionId),
        status: 'active',
      });
    return made;
  }

  #forgetOne(): boolean {
    const [oldest] = this.#over;
    if (oldest === undefined) return false;
    this.#over.delete(oldest);
    return this.#known.delete(oldest);
  }

  #settle(sessionId: string, { status }: Known): void {
    if (status === 'active') this.#over.delete(sessionId);
    else this.#over.add(sessionId);
  }

  #write(record: UnnumberedRecord): void {
    this.#records.push(record);
  }

  #take(): readonly UnnumberedRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}

/** JSON takes from an error of the language everything it says. */
function failureText(error: unknown): string {
  if (typeof error === 'string') return error;
  const message =
    typeof error === 'object' && error !== null ? (error as { readonly message?: unknown }).message : undefined;
  return typeof message === 'string' ? message : 'It broke. Its program does not say why.';
}
