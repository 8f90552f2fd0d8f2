/**
 * Does something again and again while the tab is looked at: at once, whenever it is looked at again, and every so
 * often.
 */

/** @param look is not begun again before it has ended; it never rejects @returns leaves */
export function whileSeen(look: () => unknown, everyMs: number): () => void {
  const left = new AbortController();
  let isLooking = false;
  const lookIfSeen = (): void => {
    if (isLooking || document.visibilityState !== 'visible') return;
    isLooking = true;
    void Promise.resolve(look()).finally(() => {
      isLooking = false;
    });
  };
  const timer = setInterval(lookIfSeen, everyMs);
  document.addEventListener('visibilitychange', lookIfSeen, { signal: left.signal });
  addEventListener('pageshow', lookIfSeen, { signal: left.signal });
  lookIfSeen();
  return () => {
    clearInterval(timer);
    left.abort();
  };
}
