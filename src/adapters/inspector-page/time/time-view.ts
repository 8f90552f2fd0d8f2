/** What the time bar shows, as signals of its own. */
import { computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { throttled } from '../model/throttled.ts';
import type { Throttled } from '../model/throttled.ts';
import { chosenActor, goLive, goTo, recording, recordingId, world } from '../model/view.ts';
import { Axis, fittingKind } from './axis.ts';
import type { AxisKind } from './axis.ts';

/** In pixels. */
export const width = signal(600);
/** While the user drags, the axis stays as it is: what moves under the pointer cannot be aimed at. */
export const isDragging = signal(false);
const wantedKind = signal<AxisKind | undefined>(undefined);

const SLICE_PIXELS = 4;
const MARK_PIXELS = 96;
const AGAIN_MS = 500;

export function turnAxis(kind: AxisKind): void {
  wantedKind.value = kind;
}

function draw(): Axis | undefined {
  const { timeline } = recording.value;
  const kind = wantedKind.value ?? fittingKind(timeline, recordingId.value !== '');
  return Axis.of({
    timeline,
    kind,
    slices: Math.floor(width.value / SLICE_PIXELS),
    marks: Math.floor(width.value / MARK_PIXELS),
    actor: chosenActor.value,
  });
}

/** For as long as it is shown. */
export function watchAxis(): Throttled<Axis | undefined> {
  let before: Axis | undefined;
  return throttled({
    urgent: () =>
      JSON.stringify([
        recordingId.value,
        width.value,
        wantedKind.value ?? '',
        chosenActor.value ?? '',
        isDragging.value,
      ]),
    restless: () => recording.value.watched,
    everyMs: AGAIN_MS,
    compute: () => (before = isDragging.value && before !== undefined ? before : draw()),
  });
}

/** Number of the record that is shown as the newest. */
export const shownRecord: ReadonlySignal<number> = computed(() => world.value.moment?.s ?? 0);

/** The end of the line is what happens now. */
export function seek(axis: Axis, place: number): void {
  if (place >= 1) goLive();
  else goTo(axis.recordAt(place));
}

export function goFirst(): void {
  const first = recording.value.timeline.first?.s;
  if (first !== undefined) goTo(first);
}
