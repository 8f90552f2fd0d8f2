/** The sessions of the home, asked for again every few seconds while a person watches. */
import { computed, effect, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ShownSessions } from '../../../actors/inspection/shown-answers.ts';
import { reasonOf, server } from '../model/transport.ts';
import { about, chosenActor, chosenSession, cursor, openSession, recordingId } from '../model/view.ts';
import { whileSeen } from '../model/while-seen.ts';
import { firstToOpen } from './session-words.ts';

const EVERY_MS = 4_000;
/** More are told as a number. */
const MAX_SESSIONS = 200;

export interface KnownSessions extends ShownSessions {
  /** Why it is not up to date, where that is so. */
  readonly because?: string | undefined;
}

const known = signal<KnownSessions | undefined>(undefined);
let isAsking = false;

/** Those that wait first. Undefined before the server has told. */
export const knownSessions: ReadonlySignal<KnownSessions | undefined> = known;

/**
 * When the process died that did what the shown log has under way, in milliseconds since the epoch, as far as it was
 * heard of: the log itself does not say so before another wake has. Undefined where none has died.
 */
export const diedAt: ReadonlySignal<number | undefined> = computed(() => {
  if (cursor.value !== 'live' || recordingId.value === '') return undefined;
  const shown = known.value?.sessions.find(({ sessionId }) => sessionId === recordingId.value);
  const since = shown?.why?.kind === 'dead' ? Date.parse(shown.why.since ?? '') : NaN;
  return Number.isNaN(since) ? undefined : since;
});

export async function askForSessions(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  try {
    const { sessions, total } = await server.sessions(MAX_SESSIONS);
    const told = { sessions, total };
    // The same again is no reason to draw it again.
    if (JSON.stringify(told) !== JSON.stringify(known.value)) known.value = told;
  } catch (error) {
    known.value = { ...(known.value ?? { sessions: [], total: 0 }), because: reasonOf(error) };
  } finally {
    isAsking = false;
  }
}

/** @returns leaves */
export function keepSessions(): () => void {
  const leave = whileSeen(askForSessions, EVERY_MS);
  const stop = openTheFirst();
  return () => {
    leave();
    stop();
  };
}

let isFirst = true;

/**
 * What people come for: the first that needs a person is opened, and in a home or a recording another one, unless the
 * address or the user asks for something.
 */
function openTheFirst(): () => void {
  return effect(() => {
    if (!isFirst || about.value === undefined || known.value === undefined) return;
    isFirst = false;
    const isAskedFor =
      chosenSession.peek() !== undefined || chosenActor.peek() !== undefined || cursor.peek() !== 'live';
    const first = firstToOpen(known.value.sessions);
    const isAboutSessions = about.value.kind === 'store' || about.value.kind === 'log';
    if (!isAskedFor && first !== undefined && (first.need !== undefined || isAboutSessions))
      openSession(first.sessionId);
  });
}
