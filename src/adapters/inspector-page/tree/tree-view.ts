/** What the tree shows, as signals of its own. */
import { computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { InspectedActorState } from '../../../machines/inspection-log/inspection-world.ts';
import { indexOf } from '../model/record-index.ts';
import { chosenActor, cursor, isInPast, recording, recordingId, shownTime, world } from '../model/view.ts';
import { diedAt } from '../sessions/known-sessions.ts';
import { throttled } from '../model/throttled.ts';
import type { Throttled } from '../model/throttled.ts';
import { TreeModel, lineOf } from './tree-model.ts';
import type { TreeRows } from './tree-rows.ts';

export type ActorFilter = 'all' | 'active' | 'failed' | 'over';

export const searched = signal('');
export const filter = signal<ActorFilter>('all');
/** Undefined until the user decides. */
const wantsHiding = signal<boolean | undefined>(undefined);
const opened = signal<ReadonlyMap<string, boolean>>(new Map());

/** With more actors than this, those that are over are hidden unless the user wants to see them. */
const MANY_ACTORS = 200;
/** More are not listed. */
export const MOST_FOUND = 1_000;
const SEARCH_AGAIN_MS = 1_000;

export interface ActorCounts {
  readonly all: number;
  readonly active: number;
  readonly failed: number;
  readonly over: number;
}

/** At the moment that is shown. */
export const counts: ReadonlySignal<ActorCounts> = computed(() => {
  const { active, done, error, stopped } = world.value.counts;
  const { timeline } = recording.value.watched;
  const over = done + error + stopped;
  const bad = indexOf(timeline).failedBy(world.value.moment?.s ?? 0);
  const all = active + over;
  // Whatever went on has died with its process, though the log cannot say so.
  return diedAt.value === undefined
    ? { all, active, over, failed: bad }
    : { all, active: 0, over: all, failed: bad + active };
});

/** How many events an actor has ignored by then that another of its states takes. */
export function missedOf(key: string): number {
  return indexOf(recording.value.watched.timeline).missedBy(key, world.value.moment?.s ?? 0);
}

export const isHiding: ReadonlySignal<boolean> = computed(() => wantsHiding.value ?? counts.value.all > MANY_ACTORS);

export function hide(wanted: boolean): void {
  wantsHiding.value = wanted;
}

/** Whether a list of what was found takes the place of the tree. */
export const isListing: ReadonlySignal<boolean> = computed(
  () => searched.value.trim() !== '' || filter.value !== 'all',
);

const model = new TreeModel();

export const rows: ReadonlySignal<TreeRows> = computed(() => {
  const { timeline } = recording.value.watched;
  return model.rows({
    timeline,
    world: world.value,
    isLive: !isInPast.value,
    time: shownTime.value,
    isHiding: isHiding.value,
    opened: opened.value,
    chosen: chosenActor.value,
  });
});

export function setOpen(key: string, isOpen: boolean): void {
  opened.value = new Map(opened.value).set(key, isOpen);
}

/** Opens all above it, so that it has a row. */
export function openAbove(key: string): void {
  const above = lineOf(world.value, key)
    .slice(1)
    .filter((each) => opened.value.get(each) !== true);
  if (above.length > 0) opened.value = new Map([...opened.value, ...above.map((each) => [each, true] as const)]);
}

export interface FoundActors {
  readonly actors: readonly InspectedActorState[];
  readonly isCut: boolean;
}

function find(): FoundActors {
  const [text, what] = [searched.value.trim(), filter.value];
  if (!isListing.value) return { actors: [], isCut: false };
  const hasDied = diedAt.value !== undefined;
  const of = (status: Exclude<ActorFilter, 'all' | 'failed'> | undefined): readonly InspectedActorState[] =>
    world.value.actors({ text, status, limit: MOST_FOUND + 1 });
  const found =
    what === 'failed'
      ? [...(hasDied ? of('active') : []), ...failed(text.toLowerCase())]
      : hasDied && what === 'active'
        ? []
        : of(what === 'all' || hasDied ? undefined : what);
  return { actors: found.slice(0, MOST_FOUND), isCut: found.length > MOST_FOUND };
}

/** The last first: that is what one searches for. */
function failed(text: string): readonly InspectedActorState[] {
  const { failures } = indexOf(recording.value.timeline);
  const found = new Map<string, InspectedActorState>();
  const last = world.value.moment?.s ?? 0;
  for (
    let place = indexOf(recording.value.timeline).failedBy(last) - 1;
    place >= 0 && found.size <= MOST_FOUND;
    place -= 1
  ) {
    const actor = world.value.actor(failures[place]?.actor ?? '');
    if (actor !== undefined && saysText(actor, text)) found.set(actor.key, actor);
  }
  return [...found.values()];
}

function saysText({ key, id, kind, facts, value }: InspectedActorState, text: string): boolean {
  return (
    text === '' ||
    [key, id, kind, ...Object.values(facts ?? {}), JSON.stringify(value ?? '')].some((each) =>
      each?.toLowerCase().includes(text),
    )
  );
}

/** What was found, for as long as it is shown. */
export function watchFound(): Throttled<FoundActors> {
  return throttled({
    urgent: () => JSON.stringify([recordingId.value, cursor.value, searched.value, filter.value, diedAt.value]),
    restless: () => world.value,
    everyMs: SEARCH_AGAIN_MS,
    compute: find,
  });
}
