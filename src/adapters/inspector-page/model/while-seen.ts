/**
 * Does something again and again while the tab is watched: at once, whenever it is watched again, and every so
 * often.
 */

/** @param check is not begun again before it has ended; it never rejects @returns leaves */
export function whileSeen(check: () => unknown, everyMs: number): () => void {
  const left = new AbortController();
  let isChecking = false;
  const checkIfSeen = (): void => {
    if (isChecking || document.visibilityState !== 'visible') return;
    isChecking = true;
    void Promise.resolve(check()).finally(() => {
      isChecking = false;
    });
  };
  const timer = setInterval(checkIfSeen, everyMs);
  document.addEventListener('visibilitychange', checkIfSeen, { signal: left.signal });
  addEventListener('pageshow', checkIfSeen, { signal: left.signal });
  checkIfSeen();
  return () => {
    clearInterval(timer);
    left.abort();
  };
}
