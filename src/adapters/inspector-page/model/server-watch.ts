/** What the server says of itself, asked again every few seconds while somebody looks; and the clock of the page. */
import { about, now, refusal } from './view.ts';
import { RequestFailure, server } from './transport.ts';

const EVERY_MS = 5_000;
const SECOND_MS = 1_000;

/** @returns leaves */
export function keepLookingAtServer(): () => void {
  const look = async (): Promise<void> => {
    if (document.visibilityState !== 'visible') return;
    try {
      about.value = await server.about();
      refusal.value = undefined;
    } catch (error) {
      if (error instanceof RequestFailure && error.status !== 0 && error.status < 500) refusal.value = { message: error.message, hint: error.hint };
    }
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
  void look();
  return () => {
    clearInterval(looking);
    clearInterval(ticking);
    document.removeEventListener('visibilitychange', wake);
  };
}
