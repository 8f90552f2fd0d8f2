/**
 * Events as people call them: XState names what it sends by itself after its own parts. Charts write the same events
 * the same way.
 */
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { visibleText } from './visible-text.ts';

const MOST = 80;

export interface EventSender {
  readonly id: string;
  readonly kind?: string | undefined;
}

/** `START`, `claim is done`, `after(soon)`. The type itself belongs into a `title`. */
export function eventName(type: string, sender?: EventSender): string {
  return type.startsWith('xstate.')
    ? writtenName(ownName(type.slice('xstate.'.length), sender))
    : visibleText(type, MOST);
}

/** Of a step: as its chart calls the event that led to it. */
export function stepName(
  { type, taken }: Extract<InspectionRecord, { readonly k: 'step' }>,
  sender?: EventSender,
): string {
  const written = type.startsWith('xstate.') ? /\|(.*)\|/s.exec(taken[0] ?? '')?.[1] : undefined;
  return written === undefined || written === '' ? eventName(type, sender) : writtenName(written);
}

/** What charts write as `done(claim)` and `error(claim)`. */
export function writtenName(event: string): string {
  return visibleText(
    event.replace(/^(done|error)\((.+)\)$/s, (_, what, who) => `${who} ${what === 'done' ? 'is done' : 'failed'}`),
    MOST,
  );
}

function ownName(type: string, sender: EventSender | undefined): string {
  const [, what = '', how = '', of = ''] = /^(done|error)\.(actor|state)\.(.*)$/s.exec(type) ?? [];
  if (how === 'state') return 'done';
  if (what !== '') return `${what}(${invokedName(of, sender)})`;
  const delay = /^after\.([^.]+)/.exec(type)?.[1];
  if (delay !== undefined) return `after(${delay})`;
  return OWN_NAMES.get(type) ?? type;
}

const OWN_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    init: 'started',
    stop: 'stopped',
    'promise.resolve': 'resolved',
    'promise.reject': 'rejected',
    'observable.next': 'next',
    'observable.complete': 'completed',
    'observable.error': 'failed',
  }),
);

/** XState numbers what a state invokes without an id; its kind says more. */
function invokedName(id: string, sender: EventSender | undefined): string {
  if (sender?.id !== id || sender.kind === undefined) return id;
  return /^\d+\./.test(id) || id.length > 24 ? sender.kind : id;
}
