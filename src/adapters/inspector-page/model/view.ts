/**
 * What the page shows, as signals: which recording, which moment of it, which actor, which record. Every pane reads and
 * sets these, and nothing else of another pane.
 */
import { batch, computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { InspectedActorState, InspectionWorld } from '../../../machines/inspection-log/inspection-world.ts';
import { Recording } from './recording.ts';
import type { About } from './transport.ts';

/** A moment: the number of a record, or whatever is the newest. */
export type Cursor = number | 'live';

/** What the middle shows of what is chosen. */
export type MiddleTab = 'chart' | 'session' | 'timeline' | 'fleet' | 'schedules' | 'many';
export type RightTab = 'events' | 'sequence';
/** On screens that hold one pane only. */
export type NarrowPane = 'left' | 'middle' | 'right';

/** Absent until the server was heard. */
export const about = signal<About | undefined>(undefined);
/** Why nothing can be shown, where that is so. */
export const refusal = signal<{ readonly message: string; readonly hint: string } | undefined>(undefined);

const opened = new Map<string, Recording>();
const openedId = signal('');
/** Recordings of sessions that are kept beside the one that is shown. */
const MAX_OPENED = 6;

export const cursor = signal<Cursor>('live');
/** Key of the actor. */
export const chosenActor = signal<string | undefined>(undefined);
/** Number of the record. */
export const chosenRecord = signal<number | undefined>(undefined);
/** The session whose transcript, requests and changes are shown. */
export const chosenSession = signal<string | undefined>(undefined);
export const middleTab = signal<MiddleTab>('chart');
export const rightTab = signal<RightTab>('events');
export const narrowPane = signal<NarrowPane>('left');
/** Whether events of the chosen actor alone are listed. */
export const isActorOnly = signal(false);
export const isHelpShown = signal(false);

/** Empty: the main recording. Else the id of the session whose log is read as a recording. */
export const recordingId: ReadonlySignal<string> = openedId;

export const recording: ReadonlySignal<Recording> = computed(() => recordingOf(openedId.value));

function recordingOf(id: string): Recording {
  const known = opened.get(id);
  const found = known ?? new Recording(id);
  opened.delete(id);
  opened.set(id, found);
  // The main one is never left: it is what everything else is seen against.
  const oldest = [...opened.keys()].find((each) => each !== '' && each !== id);
  if (known === undefined && opened.size > MAX_OPENED + 1 && oldest !== undefined) {
    opened.get(oldest)?.leave();
    opened.delete(oldest);
  }
  return found;
}

/** All actors at the moment that is shown. */
export const world: ReadonlySignal<InspectionWorld> = computed(() => {
  const { timeline } = recording.value.watched;
  return timeline.at(cursor.value === 'live' ? Number.MAX_SAFE_INTEGER : cursor.value);
});

/**
 * At that moment; undefined where it was not there. While none is chosen it is the first that has a chart, else the first
 * that there is.
 */
export const actor: ReadonlySignal<InspectedActorState | undefined> = computed(() =>
  chosenActor.value === undefined ? firstActor(world.value) : world.value.actor(chosenActor.value),
);

/** Of so many the first with a chart is searched for: those that matter stand near the top. */
const MOST_SEARCHED = 200;

function firstActor(from: InspectionWorld): InspectedActorState | undefined {
  const found = [...from.roots({ limit: MOST_SEARCHED })];
  // It grows while it is walked.
  for (const each of found) {
    if (each.chart !== undefined) return each;
    if (found.length < MOST_SEARCHED) found.push(...from.children(each.key, { limit: MOST_SEARCHED }));
  }
  return found[0];
}

export const isInPast: ReadonlySignal<boolean> = computed(() => cursor.value !== 'live');

/** Milliseconds since the epoch: of the moment that is shown, or now. Read it where something is told as an age. */
export const shownTime: ReadonlySignal<number> = computed(() =>
  cursor.value === 'live' ? now.value : (world.value.moment?.t ?? now.value),
);

/** Milliseconds since the epoch, moving on once a second. */
export const now = signal(Date.now());

export interface Place {
  readonly recording?: string | undefined;
  readonly at?: Cursor | undefined;
  readonly actor?: string | undefined;
  readonly record?: number | undefined;
}

/** Shows another recording. What was chosen in the one before stays there. */
export function openRecording(id: string, place: Place = {}): void {
  batch(() => {
    openedId.value = id;
    cursor.value = place.at ?? 'live';
    chosenActor.value = place.actor;
    chosenRecord.value = place.record;
  });
}

/** Shows a session: its log as a recording, and what waits in it. */
export function openSession(sessionId: string, place: Place = {}): void {
  batch(() => {
    openRecording(sessionId, place);
    chosenSession.value = sessionId;
    middleTab.value = 'session';
    narrowPane.value = 'middle';
  });
}

/** Shows what can be done with the sessions that are ticked. */
export function openMany(): void {
  middleTab.value = 'many';
  narrowPane.value = 'middle';
}

/** Shows what the workers do, or the schedules. */
export function openTables(tab: 'fleet' | 'schedules'): void {
  middleTab.value = tab;
  narrowPane.value = 'middle';
}

export function openMain(place: Place = {}): void {
  batch(() => {
    openRecording('', place);
    chosenSession.value = undefined;
    middleTab.value = 'chart';
  });
}

/** Shows the chart of an actor, wherever it was chosen. */
export function chooseActor(key: string): void {
  batch(() => {
    chosenActor.value = key;
    chosenRecord.value = undefined;
    middleTab.value = 'chart';
    narrowPane.value = 'middle';
  });
}

/** Shows a record with its actor, at its moment. */
export function chooseRecord(seq: number): void {
  const found = recording.value.timeline.record(seq);
  batch(() => {
    chosenRecord.value = seq;
    cursor.value = seq;
    if (found !== undefined) chosenActor.value = found.a;
  });
}

/** How often the user wanted to see what happens now: lists go to their end then. */
export const liveCalls = signal(1);

export function goLive(): void {
  batch(() => {
    liveCalls.value += 1;
    cursor.value = 'live';
    chosenRecord.value = undefined;
  });
}

export function goTo(seq: number): void {
  cursor.value = seq;
}

/** The moment `by` records from the one that is shown; of the chosen actor's where its events alone are listed. */
export function step(by: number): void {
  const { timeline } = recording.value;
  const from = cursor.value === 'live' ? timeline.last?.s : cursor.value;
  if (from === undefined) return;
  const to =
    isActorOnly.value && chosenActor.value !== undefined
      ? neighborOf(chosenActor.value, from, by)
      : timeline.move(from, by)?.s;
  if (to !== undefined) chooseMoment(to);
}

function chooseMoment(seq: number): void {
  batch(() => {
    cursor.value = seq;
    chosenRecord.value = seq;
  });
}

function neighborOf(key: string, seq: number, by: number): number | undefined {
  const { timeline } = recording.value;
  return by < 0
    ? timeline.records({ actor: key, to: seq - 1, limit: -by, take: 'last' })[0]?.s
    : timeline.records({ actor: key, from: seq + 1, limit: by }).at(-1)?.s;
}
