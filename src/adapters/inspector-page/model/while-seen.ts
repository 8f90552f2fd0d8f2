/** Does something again and again while the tab is looked at: at once, whenever it is looked at again, and every so often. */

/** @returns leaves */
export function whileSeen(look: () => void, everyMs: number): () => void {
  const left = new AbortController();
  const lookIfSeen = (): void => {
    if (document.visibilityState === 'visible') look();
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
