/** What one timeline shows, as signals: which part of the time, which rows are open, which bar is chosen. */
import { computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { SessionBar } from '../../../machines/inspection-log/session-bar.ts';
import type { SessionTimeline } from '../../../machines/inspection-log/session-timeline.ts';
import { throttled } from '../model/throttled.ts';
import { chooseRecord, chosenRecord, cursor, now, recording, world } from '../model/view.ts';
import type { SessionWatch } from '../sessions/session-watch.ts';
import { endOf } from './bar-words.ts';
import type { BarsNow } from './bar-words.ts';
import { timelineOf } from './known-timelines.ts';
import { barIn, isOpenAtFirst, rowsOf } from './timeline-rows.ts';
import type { TimelineRow } from './timeline-rows.ts';
import { busyIn, TimeScale } from './time-scale.ts';
import type { Stretch } from './time-scale.ts';

const AGAIN_MS = 250;
const STEP = 1.5;
/** Nothing shorter fills the whole width. */
const SHORTEST_MS = 5;
const PAN = 0.2;

interface Folded {
  readonly timeline: SessionTimeline;
  readonly bars: readonly TimelineRow[];
}

export class TimelineView {
  readonly #watch: SessionWatch;
  /** What the reader opened or closed, by number of the bar. */
  readonly #opened = signal<ReadonlyMap<number, boolean>>(new Map());
  readonly #window = signal<Stretch | undefined>(undefined);
  readonly isShort = signal(true);
  /** The one that the keys move from. */
  readonly current = signal<number | undefined>(undefined);
  readonly #folded;
  #followed: number | undefined;

  constructor(watch: SessionWatch) {
    this.#watch = watch;
    const fold = (): Folded | undefined => this.#fold();
    this.#folded = throttled({
      urgent: () => JSON.stringify([watch.session.value?.usage.prices, [...this.#opened.value]]),
      restless: () => recording.value.watched,
      everyMs: AGAIN_MS,
      compute: fold,
    });
  }

  leave(): void {
    this.#folded.leave();
  }

  get timeline(): SessionTimeline | undefined {
    return this.#folded.value.value?.timeline;
  }

  get rows(): readonly TimelineRow[] {
    return this.#folded.value.value?.bars ?? [];
  }

  /** What is not over grows while the session is watched; of one that does nothing time does not go on. */
  readonly moment: ReadonlySignal<BarsNow> = computed(() => {
    const timeline = this.timeline;
    if (timeline === undefined) return { now: 0 };
    const kind = this.#watch.session.value?.why.reasons[0]?.kind;
    const isDead = kind === 'dead' || kind === 'lost';
    const lives = timeline.root.parts.at(-1)?.is !== 'resting';
    return {
      now: lives ? Math.max(timeline.last, now.value + this.#watch.aheadMs) : timeline.last,
      ...(isDead ? { deadSince: timeline.heard } : {}),
    };
  });

  readonly scale: ReadonlySignal<TimeScale> = computed(() => {
    const timeline = this.timeline;
    if (timeline === undefined) return new TimeScale({ from: 0, to: 1 }, [], false);
    const { root } = timeline;
    const { now: time, deadSince } = this.moment.value;
    const busy = busyIn(root, timeline.children, deadSince ?? time);
    return new TimeScale({ from: root.from, to: Math.max(root.from + 1, time) }, busy, this.isShort.value);
  });

  /** Places on the scale. */
  readonly shown: ReadonlySignal<Stretch> = computed(() => {
    const scale = this.scale.value;
    const part = this.#window.value;
    if (part === undefined) return { from: 0, to: scale.length };
    const [from, to] = [scale.placeOf(part.from), scale.placeOf(part.to)];
    return to - from < SHORTEST_MS ? { from, to: from + SHORTEST_MS } : { from, to };
  });

  get isWhole(): boolean {
    return this.#window.value === undefined;
  }

  /** How many times larger than the whole. */
  get zoom(): number {
    const { from, to } = this.shown.value;
    return this.scale.value.length / (to - from);
  }

  fit(): void {
    this.#window.value = undefined;
  }

  /** @param around from 0 to 1: this place stays where it is */
  closer(steps: number, around = 0.5): void {
    const { from, to } = this.shown.value;
    const length = Math.max(SHORTEST_MS, (to - from) / STEP ** steps);
    const begin = from + (to - from - length) * around;
    this.#show(begin, begin + length);
  }

  /** @param by of what is shown: 1 is all of it */
  move(by: number): void {
    const { from, to } = this.shown.value;
    const most = this.scale.value.length - (to - from);
    const begin = Math.max(0, Math.min(most, from + by * (to - from)));
    this.#show(begin, begin + to - from);
  }

  panBy(direction: -1 | 1): void {
    this.move(direction * PAN);
  }

  /** @param first from 0 to 1, of what is shown */
  zoomTo(first: number, last: number): void {
    const { from, to } = this.shown.value;
    const [begin, end] = [from + first * (to - from), from + last * (to - from)];
    this.#show(begin, Math.max(end, begin + SHORTEST_MS));
  }

  zoomToBar(bar: SessionBar): void {
    const scale = this.scale.value;
    const [from, to] = [scale.placeOf(bar.from), scale.placeOf(endOf(bar, this.moment.value))];
    const margin = Math.max(SHORTEST_MS, to - from) * 0.15;
    this.#show(from - margin, to + margin);
  }

  #show(from: number, to: number): void {
    const scale = this.scale.value;
    const [first, last] = [Math.max(0, from), Math.min(scale.length, to)];
    this.#window.value =
      last - first >= scale.length * 0.999 ? undefined : { from: scale.timeAt(first), to: scale.timeAt(last) };
  }

  setOpen(bar: SessionBar, isOpen: boolean): void {
    this.#opened.value = new Map(this.#opened.value).set(bar.id, isOpen);
  }

  /** All wakes with what is in them, or none. */
  openAll(isOpen: boolean): void {
    const wakes = this.timeline?.root.children ?? [];
    this.#opened.value = new Map([...this.#opened.value, ...wakes.map(({ id }) => [id, isOpen] as const)]);
  }

  get bar(): SessionBar | undefined {
    const root = this.timeline?.root;
    const id = this.current.value;
    return root === undefined || id === undefined ? undefined : barIn(root, id);
  }

  /** With its event, at its moment. */
  choose(bar: SessionBar): void {
    this.current.value = bar.id;
    // Other bars may begin with the same event.
    this.#followed = bar.event;
    chooseRecord(bar.event);
  }

  /** Once for each record that is chosen, here or elsewhere: the bar that it is about is the current one, and seen. */
  follow(): void {
    const seq = chosenRecord.value ?? (cursor.value === 'live' ? undefined : cursor.value);
    const timeline = this.timeline;
    if (seq === undefined) this.#followed = undefined;
    const isThere = (recording.peek().timeline.last?.s ?? 0) >= (seq ?? 0);
    if (seq === undefined || seq === this.#followed || timeline === undefined || !isThere) return;
    this.#followed = seq;
    // What came since it was drawn last.
    this.#fold();
    const id = timeline.barAt(seq);
    const bar = id === undefined ? undefined : barIn(timeline.root, id);
    if (bar === undefined) return;
    this.current.value = bar.id;
    const opened = new Map(this.#opened.peek());
    for (let above = bar.parent; above !== undefined; above = above.parent)
      if (!this.#isOpen(above, timeline)) opened.set(above.id, true);
    this.#opened.value = opened;
  }

  /** Of the moment of the past that is shown; undefined: it is now. */
  get past(): number | undefined {
    return cursor.value === 'live' ? undefined : world.value.moment?.t;
  }

  /** Where that is: from 0 to 1, or beyond what is shown. */
  get pastPlace(): number {
    const { from, to } = this.shown.value;
    const place = this.scale.value.placeOf(this.past ?? Infinity);
    return Math.max(-0.01, Math.min(1.01, (place - from) / (to - from)));
  }

  #fold(): Folded | undefined {
    const timeline = timelineOf(recording.value.timeline, this.#watch.session.value?.usage.prices);
    if (timeline === undefined) return undefined;
    return { timeline, bars: rowsOf(timeline.root, (bar) => this.#isOpen(bar, timeline)) };
  }

  #isOpen(bar: SessionBar, { root, count }: SessionTimeline): boolean {
    return this.#opened.peek().get(bar.id) ?? isOpenAtFirst(bar, root.children.at(-1)?.id ?? 0, count);
  }
}
