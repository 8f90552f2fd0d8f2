/** What the server says of itself, asked again every few seconds while somebody looks; and the clock of the page. */
import { signal } from '@preact/signals';
import { about, now, recording, recordingId, refusal } from './view.ts';
import { RequestFailure, request } from './transport.ts';
import type { About } from './transport.ts';

const EVERY_MS = 5_000;
const SECOND_MS = 1_000;
/** A server of this machine answers in a few milliseconds. */
const SLOW_MS = 3_000;
const GIVE_UP_MS = 30_000;

/** Since when a question to the server has been waiting for its answer, while that takes unusually long. Milliseconds since the epoch. */
export const slowSince = signal<number | undefined>(undefined);

/** @returns leaves */
export function keepLookingAtServer(): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking || document.visibilityState !== 'visible') return;
    isLooking = true;
    await askServer();
    isLooking = false;
  };
  const tick = (): void => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  };
  const looking = setInterval(() => void look(), EVERY_MS);
  const ticking = setInterval(tick, SECOND_MS);
  const wake = (): void => {
    tick();
    void look();
  };
  document.addEventListener('visibilitychange', wake);
  addEventListener('pageshow', wake);
  void look();
  return () => {
    clearInterval(looking);
    clearInterval(ticking);
    document.removeEventListener('visibilitychange', wake);
    removeEventListener('pageshow', wake);
  };
}

/** Never rejects. */
async function askServer(): Promise<void> {
  const askedAt = Date.now();
  const slow = setTimeout(() => { slowSince.value = askedAt; }, SLOW_MS);
  try {
    const told = (await (await request('/api/about', { signal: AbortSignal.timeout(GIVE_UP_MS) })).json()) as About;
    about.value = told;
    refusal.value = undefined;
    if (recordingId.value === '') recording.value.hear(told.range.last);
  } catch (error) {
    if (error instanceof RequestFailure && error.status !== 0 && error.status < 500) refusal.value = { message: error.message, hint: error.hint };
  } finally {
    clearTimeout(slow);
    slowSince.value = undefined;
  }
}
