/** The failures around the moment that is shown, and the way to them. */
import { computed } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { indexOf } from './record-index.ts';
import type { Failure } from './record-index.ts';
import { chooseRecord, isInPast, recording, world } from './view.ts';

export const failures: ReadonlySignal<{ readonly back: Failure | undefined; readonly on: Failure | undefined }> =
  computed(() => {
    const index = indexOf(recording.value.watched.timeline);
    const shown = world.value.moment?.s ?? 0;
    // Live, the newest may be what is shown: it has not been checked.
    return {
      back: index.failureFrom(isInPast.value ? shown : shown + 1, 'back'),
      on: isInPast.value ? index.failureFrom(shown, 'on') : undefined,
    };
  });

/** Shows the nearest one with its actor; after now there is none, so the last one. Nothing, where there is none. */
export function showFailure(direction: 'back' | 'on'): void {
  const found = failures.value[isInPast.value ? direction : 'back'];
  if (found !== undefined) chooseRecord(found.s);
}
