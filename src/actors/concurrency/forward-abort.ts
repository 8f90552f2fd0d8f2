/** Passes the end of one piece of work on to a part of it. */

/**
 * Aborts `controller` when one of `sources` does, with the reason of that one, until the answered function is called.
 *
 * `AbortSignal.any` would do the same, but it holds by weak references, which V8 treats as strong in a collection of
 * the young generation: all that its listeners reach, as the actors of a wake, would move to the old generation.
 */
export function forwardAbort(
  controller: AbortController,
  ...sources: readonly (AbortSignal | undefined)[]
): () => void {
  const forwards = sources.flatMap((source) => {
    if (source === undefined) return [];
    const forward = (): void => controller.abort(source.reason);
    source.addEventListener('abort', forward, { once: true });
    if (source.aborted) forward();
    return [{ source, forward }];
  });
  return () => {
    for (const { source, forward } of forwards) source.removeEventListener('abort', forward);
  };
}
