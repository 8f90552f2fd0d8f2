/** Follows how large an element is. */
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** @param check is told at once, and whenever its size changes. The first one stays */
export function useSize<Each extends Element>(box: RefObject<Each | null>, check: (element: Each) => void): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const sizes = new ResizeObserver(() => check(element));
    sizes.observe(element);
    check(element);
    return () => sizes.disconnect();
  }, []);
}
