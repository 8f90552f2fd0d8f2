/** What the server says of itself, asked again every few seconds while a person watches; and the clock of the page. */
import { computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { about, now, recording, recordingId, refusal } from './view.ts';
import { isRefusal, request } from './transport.ts';
import { whileSeen } from './while-seen.ts';
import type { About } from './transport.ts';

const EVERY_MS = 5_000;
const SECOND_MS = 1_000;
/** A server of this machine answers in a few milliseconds. */
const SLOW_MS = 3_000;
const GIVE_UP_MS = 30_000;

/**
 * Since when a question to the server has been waiting for its answer, while that takes unusually long. Milliseconds
 * since the epoch.
 */
export const slowSince = signal<number | undefined>(undefined);

/** Whether what is shown as the newest is. */
export const isHeard: ReadonlySignal<boolean> = computed(
  () => slowSince.value === undefined && ['loading', 'following'].includes(recording.value.phase.value.name),
);

/** @returns leaves */
export function keepCheckingServer(): () => void {
  const leave = [
    whileSeen(askServer, EVERY_MS),
    whileSeen(() => {
      now.value = timeNow();
    }, SECOND_MS),
  ];
  return () => {
    for (const each of leave) each();
  };
}

/**
 * In a recording nothing has gone on since its last record: what it tells is as old as it was then. One that still grows
 * brings its time with it, and one whose program was killed cannot be told from it.
 */
export function timeNow(): number {
  return (about.value?.kind === 'log' ? recording.value.timeline.last?.t : undefined) ?? Date.now();
}

/** Never rejects. */
async function askServer(): Promise<void> {
  const askedAt = Date.now();
  const slow = setTimeout(() => {
    slowSince.value = askedAt;
  }, SLOW_MS);
  try {
    const told = (await (await request('./api/about', { signal: AbortSignal.timeout(GIVE_UP_MS) })).json()) as About;
    about.value = told;
    now.value = timeNow();
    refusal.value = undefined;
    if (recordingId.value === '') recording.value.hear(told.range.last);
  } catch (error) {
    if (isRefusal(error)) refusal.value = { message: error.message, hint: error.hint };
  } finally {
    clearTimeout(slow);
    slowSince.value = undefined;
  }
}
