/** Which records are listed. */
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { says } from '../../../machines/inspection-log/inspection-timeline.ts';
import { HANDLED_BY_LOGIC } from '../../../machines/inspection-log/taken-words.ts';
import { isFailure } from '../model/outcomes.ts';
import { isIgnoring } from './record-words.ts';

/**
 * What a reader wants to know of what happened: neither what stands behind it (charts, actors within a step, steps beside
 * the chart), nor what changed nothing.
 */
function isOfStory(record: InspectionRecord): boolean {
  if (isFailure(record)) return true;
  switch (record.k) {
    case 'machine':
      return false;
    case 'actor':
      return record.chart !== undefined;
    case 'step':
      return record.taken.length > 0 && record.taken[0] !== HANDLED_BY_LOGIC;
    case 'event':
      return !record.type.startsWith('xstate.');
    case 'snap':
      // The step into its last state has told that it is done.
      return record.value !== undefined && record.status !== 'done';
    case 'action':
    case 'cancel':
    case 'emit':
    case 'error':
    case 'timer':
      return true;
  }
}

export const KIND_FILTERS = [
  { id: 'story', text: 'The story', fits: isOfStory },
  { id: 'all', text: 'All records', fits: () => true },
  { id: 'talk', text: 'Events and steps', fits: ({ k }) => k === 'event' || k === 'step' || k === 'error' },
  { id: 'event', text: 'Events sent', fits: ({ k }) => k === 'event' },
  { id: 'step', text: 'Steps', fits: (record) => record.k === 'step' && !isIgnoring(record) },
  { id: 'ignored', text: 'Ignored events', fits: (record) => record.k === 'step' && isIgnoring(record) },
  {
    id: 'life',
    text: 'Actors made and ended',
    fits: (record) => record.k === 'actor' || ('status' in record && record.status !== 'active'),
  },
  { id: 'deed', text: 'Actions and messages', fits: ({ k }) => k === 'action' || k === 'emit' },
  { id: 'timer', text: 'Timers', fits: ({ k }) => k === 'timer' || k === 'cancel' },
  {
    id: 'error',
    text: 'Errors',
    fits: isFailure,
  },
] as const satisfies readonly {
  readonly id: string;
  readonly text: string;
  readonly fits: (record: InspectionRecord) => boolean;
}[];

export type KindFilter = (typeof KIND_FILTERS)[number]['id'];

export interface EventFilter {
  readonly kind: KindFilter;
  readonly text: string;
}

export function isKindFilter(id: string): id is KindFilter {
  return KIND_FILTERS.some((each) => each.id === id);
}

/**
 * Undefined: everything fits, so that nothing has to be scanned.
 *
 * @param isMissed whether a record tells of an event that was ignored and should not have been: the story tells it
 */
export function testOf(
  { kind, text }: EventFilter,
  isMissed: (record: InspectionRecord) => boolean = () => false,
): ((record: InspectionRecord) => boolean) | undefined {
  const wanted = text.trim().toLowerCase();
  if (kind === 'all' && wanted === '') return undefined;
  const { fits } = KIND_FILTERS.find(({ id }) => id === kind) ?? KIND_FILTERS[1];
  // A user who searches for a word wants to find it wherever it is.
  if (kind === 'story' && wanted !== '') return (record) => says(record, wanted);
  if (kind === 'story') return (record) => fits(record) || isMissed(record);
  return (record) => fits(record) && (wanted === '' || says(record, wanted));
}
