/**
 * The bars of one session, grown event by event: what began, what became of it, and in what it happened. Each event
 * costs as much as it is deep, however many there are. Oldest wakes are forgotten where there are too many.
 */
import type { ActorOutcome } from './actor-outcome.ts';
import type { SessionEventData, SessionEventType } from '../session/session-event.ts';
import { cutParts, stateOfBar } from './session-bar.ts';
import type { BarKind, BarState, GrowingBar, SessionBar } from './session-bar.ts';

const MAX_BARS = 20_000;

/** What events mean for the bars. @returns the bar that the event is about */
export type BarMeanings = {
  readonly [Type in SessionEventType]?: (data: Partial<SessionEventData<Type>>) => GrowingBar | undefined;
};

export interface BegunBar {
  readonly kind: BarKind;
  readonly parent: GrowingBar;
  readonly label: string;
  readonly is: BarState;
  readonly from?: number;
  readonly event?: number;
  /** Nothing waits for it. */
  readonly isBeside?: boolean;
}

export interface EndedBar {
  readonly outcome?: ActorOutcome | undefined;
  readonly told?: string | undefined;
  /** Its process was not heard of any more. */
  readonly at?: number | undefined;
}

interface FirstMoment {
  readonly place: number;
  readonly t: number;
  readonly maxBars?: number | undefined;
}

export class BarTree {
  readonly root: GrowingBar;
  readonly #maxBars: number;
  #limit: number;
  #next = 1;
  #count = 0;
  #forgotten = 0;
  /** Never goes back, though clocks do. */
  #time: number;
  #event: number;

  constructor({ place, t, maxBars = MAX_BARS }: FirstMoment) {
    this.#maxBars = maxBars;
    this.#limit = maxBars;
    this.#time = t;
    this.#event = place;
    const first = { id: 0, kind: 'session', parent: undefined, label: '', event: place, from: t } as const;
    this.root = { ...first, ...newState(undefined, 'resting') };
    this.#refresh(this.root, t);
  }

  get time(): number {
    return this.#time;
  }

  /** Bars besides that of the session, as far as they are kept. */
  get count(): number {
    return this.#count;
  }

  /** Of those that were forgotten. */
  get forgotten(): number {
    return this.#forgotten;
  }

  move(event: number, t: number): void {
    this.#event = event;
    this.#time = Math.max(this.#time, t);
  }

  begin({ kind, parent, label, is, from = this.#time, event = this.#event, isBeside = false }: BegunBar): GrowingBar {
    const bar: GrowingBar = {
      ...{ id: this.#next, kind, parent, label, event, from },
      ...newState(isBeside ? this.root : openAbove(parent), is),
    };
    this.#next += 1;
    this.#count += 1;
    parent.children.push(bar);
    this.#refresh(bar, from);
    if (this.#count > this.#limit) this.#forget();
    return bar;
  }

  set(bar: GrowingBar, is: BarState, at = this.#time): void {
    bar.own = is;
    this.#refresh(bar, at);
  }

  /** What is within and not over has another holder from now on. What is over stays as it is. */
  end(bar: GrowingBar, { outcome, told, at = this.#time }: EndedBar): void {
    if (bar.to !== undefined) return;
    bar.to = Math.max(bar.from, at);
    bar.lastEvent = this.#event;
    bar.outcome = outcome;
    if (told !== undefined && told !== '') bar.told = told;
    cutParts(bar, bar.to);
    this.#refresh(bar, bar.to);
    const next = openAbove(bar.parent);
    for (const child of bar.children) {
      if (child.to !== undefined || child.holder !== bar) continue;
      child.holder = next;
      this.#tell(child, undefined, child.state);
    }
    if (next !== undefined) this.#refresh(next, bar.to);
  }

  /** It ended earlier than was thought. */
  endEarlier(bar: GrowingBar, at: number): void {
    if (bar.to === undefined || bar.to <= at) return;
    bar.to = Math.max(bar.from, at, ...bar.children.map(({ from, to = from }) => to));
    cutParts(bar, bar.to);
  }

  #refresh(bar: GrowingBar, at: number): void {
    const state = stateOfBar(bar);
    const before = bar.state;
    if (state === before) return;
    bar.state = state;
    if (state !== undefined) addPart(bar, state, at);
    this.#tell(bar, before, state);
    if (bar.holder !== undefined) this.#refresh(bar.holder, at);
  }

  #tell(bar: GrowingBar, before: BarState | undefined, state: BarState | undefined): void {
    const { holder } = bar;
    if (holder === undefined) return;
    holder.open += Number(counts(state)) - Number(counts(before));
    holder.working += Number(works(bar, state)) - Number(works(bar, before));
  }

  /** The oldest that are over with all that is in them, until a quarter is free: wakes, or else parts of one that runs. */
  #forget(): void {
    this.#forgetIn(this.root);
    for (const wake of this.root.children) if (wake.to === undefined) this.#forgetIn(wake);
    // Where nothing can be forgotten, it is not tried for each that begins.
    this.#limit = Math.max(this.#maxBars, Math.ceil(this.#count * 1.25));
  }

  #forgetIn(parent: GrowingBar): void {
    parent.children = parent.children.filter((bar) => {
      const size = this.#count > this.#maxBars * 0.75 ? sizeIfOver(bar) : undefined;
      this.#count -= size ?? 0;
      this.#forgotten += size ?? 0;
      return size === undefined;
    });
    const first = parent.children[0]?.from ?? this.#time;
    const from = parent.parts.findLastIndex((part) => part.from <= first);
    if (from > 0) parent.parts = [{ from: parent.from, is: 'resting' }, ...parent.parts.slice(from)];
  }
}

/** Where it is learned late, what was thought of the time since is not true. */
function addPart({ parts, from }: GrowingBar, is: BarState, at: number): void {
  while (parts.length > 1 && (parts.at(-1)?.from ?? 0) > at) parts.pop();
  const begin = Math.max(at, parts.at(-1)?.from ?? from);
  if (parts.at(-1)?.from === begin) parts.pop();
  if (parts.at(-1)?.is !== is) parts.push({ from: parts.length === 0 ? from : begin, is });
}

function newState(
  holder: GrowingBar | undefined,
  own: BarState,
): Pick<
  GrowingBar,
  'children' | 'parts' | 'holder' | 'own' | 'state' | 'open' | 'working' | 'tokens' | 'isCostPartial'
> {
  return {
    children: [],
    parts: [],
    holder,
    own,
    state: undefined,
    open: 0,
    working: 0,
    tokens: 0,
    isCostPartial: false,
  };
}

function openAbove(bar: GrowingBar | undefined): GrowingBar | undefined {
  return bar === undefined || bar.to === undefined ? bar : openAbove(bar.parent);
}

function counts(state: BarState | undefined): boolean {
  return state === 'working' || state === 'waiting';
}

/** A call that was given to another agent waits, though that works. */
function works({ kind, holder }: GrowingBar, state: BarState | undefined): boolean {
  return state === 'working' && !(kind === 'child' && holder?.kind === 'call');
}

/** With all that is in it. Undefined: something of it is not over. */
function sizeIfOver(bar: SessionBar): number | undefined {
  if (bar.to === undefined) return undefined;
  let size = 1;
  for (const child of bar.children) {
    const within = sizeIfOver(child);
    if (within === undefined) return undefined;
    size += within;
  }
  return size;
}
