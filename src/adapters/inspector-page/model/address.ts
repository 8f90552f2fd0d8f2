/** What is shown, as the part of the address after `#`: it can be kept, sent and opened again. */
import { effect } from '@preact/signals';
import {
  chosenActor,
  chosenRecord,
  chosenSession,
  cursor,
  middleTab,
  openRecording,
  openSession,
  recordingId,
  rightTab,
} from './view.ts';
import type { Cursor, MiddleTab, RightTab } from './view.ts';

/**
 * `r` session whose log is checked, `s` moment, `a` actor, `e` record, `m` and `v` what the middle and the right
 * show.
 */
export function readAddress(hash: string): void {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const place = { at: momentOf(given.get('s')), actor: given.get('a') ?? undefined, record: numberOf(given.get('e')) };
  const session = given.get('r') ?? '';
  if (session === '') openRecording('', place);
  else openSession(session, place);
  const middle = given.get('m');
  if (isMiddleTab(middle)) middleTab.value = middle;
  const right = given.get('v');
  if (isRightTab(right)) rightTab.value = right;
}

function writtenAddress(): string {
  const parts = new URLSearchParams();
  if (recordingId.value !== '') parts.set('r', recordingId.value);
  if (cursor.value !== 'live') parts.set('s', String(cursor.value));
  if (chosenActor.value !== undefined) parts.set('a', chosenActor.value);
  if (chosenRecord.value !== undefined) parts.set('e', String(chosenRecord.value));
  // What is ticked is of this tab alone.
  const middle = middleTab.value === 'many' ? undefined : middleTab.value;
  if (middle !== undefined && middle !== (chosenSession.value === undefined ? 'chart' : 'session'))
    parts.set('m', middle);
  if (rightTab.value !== 'events') parts.set('v', rightTab.value);
  return parts.size === 0 ? '' : `#${parts.toString()}`;
}

/** Browsers refuse to be told of every step of a drag. */
const WRITE_MS = 300;

/** Follows what is shown, and what the user writes into the address. @returns leaves */
export function keepAddress(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (): void => {
    timer = undefined;
    const written = writtenAddress();
    if (location.hash !== written) history.replaceState(undefined, '', written === '' ? location.pathname : written);
  };
  const read = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (location.hash !== writtenAddress()) readAddress(location.hash);
  };
  const stop = effect(() => {
    writtenAddress();
    timer ??= setTimeout(write, WRITE_MS);
  });
  addEventListener('hashchange', read);
  return () => {
    clearTimeout(timer);
    stop();
    removeEventListener('hashchange', read);
  };
}

function momentOf(text: string | null): Cursor | undefined {
  return numberOf(text) ?? undefined;
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function isMiddleTab(text: string | null): text is MiddleTab {
  return ['chart', 'session', 'timeline', 'fleet', 'schedules'].includes(text ?? '');
}

function isRightTab(text: string | null): text is RightTab {
  return text === 'events' || text === 'sequence';
}
