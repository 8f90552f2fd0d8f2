/** The entries of a transcript up to the moment that is shown. */
import { computed } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { isInPast, recording, world } from '../model/view.ts';
import { eventsUntil } from './event-records.ts';
import type { SessionWatch } from './session-watch.ts';
import { transcriptOf } from './transcript.ts';
import type { Entry } from './transcript.ts';

/** While records come, the moment stays the same: nothing has to be told anew. */
const moment = computed(() => (isInPast.value ? `${world.value.moment?.s} ${world.value.moment?.t}` : ''));
const shown = new WeakMap<SessionWatch, ReadonlySignal<readonly Entry[]>>();

/** All of them, where that moment is now. */
export function pastEntries(watch: SessionWatch): readonly Entry[] {
  const found =
    shown.get(watch) ??
    computed(() =>
      transcriptOf(
        moment.value === ''
          ? watch.log.steps.value
          : eventsUntil(recording.value.timeline, watch.log.steps.value, world.peek().moment),
      ),
    );
  shown.set(watch, found);
  return found.value;
}
