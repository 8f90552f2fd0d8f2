/** What actors are called now, whatever moment is shown. */
import { computed } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { missedIn } from '../model/missed-events.ts';
import { recording } from '../model/view.ts';
import { ActorNames } from './record-words.ts';

export const latestNames: ReadonlySignal<ActorNames> = computed(() => {
  const { timeline } = recording.value.watched;
  return new ActorNames(timeline.at(Number.MAX_SAFE_INTEGER), (record) => missedIn(record, timeline));
});
