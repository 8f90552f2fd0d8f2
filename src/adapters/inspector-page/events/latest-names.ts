/** What actors are called now, whatever moment is shown. */
import { computed } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { recording } from '../model/view.ts';
import { ActorNames } from './record-words.ts';

export const latestNames: ReadonlySignal<ActorNames> = computed(
  () => new ActorNames(recording.value.watched.timeline.at(Number.MAX_SAFE_INTEGER)),
);
