/** Which records are listed. */
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { says } from '../../../machines/inspection-log/inspection-timeline.ts';
import { isFailure } from '../model/outcomes.ts';
import { isIgnoring } from './record-words.ts';

export const KIND_FILTERS = [
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

/** Undefined: everything fits, so that nothing has to be scanned. */
export function testOf({ kind, text }: EventFilter): ((record: InspectionRecord) => boolean) | undefined {
  const wanted = text.trim().toLowerCase();
  if (kind === 'all' && wanted === '') return undefined;
  const { fits } = KIND_FILTERS.find(({ id }) => id === kind) ?? KIND_FILTERS[0];
  return (record) => fits(record) && (wanted === '' || says(record, wanted));
}
