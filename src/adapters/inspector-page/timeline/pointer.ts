/** Wheel and pointer on a timeline: closer with Ctrl, along with Shift or sideways, by dragging what is enlarged. */
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TimelineView } from './timeline-view.ts';

const WHEEL_STEP = 200;
const WHEEL_LINE = 16;
/** Less is a click. */
const LEAST = 4;

/** @param names in pixels, before the bars */
export function usePanAndZoom(box: RefObject<HTMLElement | null>, view: TimelineView, names: number): void {
  useEffect(() => {
    const element = box.current;
    const turn = (event: WheelEvent): void => {
      const { ctrlKey, metaKey, shiftKey, deltaX, deltaY, deltaMode, clientX } = event;
      const edge = (event.currentTarget as Element).getBoundingClientRect();
      const width = Math.max(1, edge.width - names);
      const sideways = (shiftKey && deltaX === 0 ? deltaY : deltaX) * (deltaMode === 0 ? 1 : WHEEL_LINE);
      if (ctrlKey || metaKey) view.closer(-deltaY / WHEEL_STEP, within((clientX - edge.left - names) / width));
      else if (sideways !== 0 && Math.abs(sideways) >= Math.abs(shiftKey ? 0 : deltaY)) view.move(sideways / width);
      else return;
      // Else the browser would make the whole page larger, or leave it.
      event.preventDefault();
    };
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  });
}

/** Moves what is shown along. @param width of the bars, in pixels */
export function panWithPointer(start: PointerEvent, view: TimelineView, width: number): void {
  const isOnRow = start.target instanceof Element && start.target.closest('.bar-row') !== null;
  if (view.isWhole || start.button !== 0 || !isOnRow) return;
  let last = start.clientX;
  let isMoving = false;
  const ended = dragged((event) => {
    isMoving ||= Math.abs(event.clientX - start.clientX) >= LEAST;
    if (!isMoving) return;
    view.move((last - event.clientX) / width);
    last = event.clientX;
  });
  // A click that ends a drag chooses nothing.
  addEventListener(
    'click',
    (event) => {
      if (isMoving) event.stopPropagation();
    },
    { capture: true, once: true, signal: ended },
  );
}

/** Shows what is dragged over. @param onPart from 0 to 1 while it is dragged; undefined at the end */
export function selectWithPointer(
  start: PointerEvent,
  view: TimelineView,
  onPart: (part: readonly [number, number] | undefined) => void,
): void {
  if (start.button !== 0) return;
  const edge = (start.currentTarget as Element).getBoundingClientRect();
  const placeOf = ({ clientX }: PointerEvent): number => within((clientX - edge.left) / Math.max(1, edge.width));
  const first = placeOf(start);
  let part: readonly [number, number] | undefined;
  dragged(
    (event) => {
      const last = placeOf(event);
      part =
        Math.abs(event.clientX - start.clientX) < LEAST ? undefined : [Math.min(first, last), Math.max(first, last)];
      onPart(part);
    },
    (isDone) => {
      onPart(undefined);
      if (isDone && part !== undefined) view.zoomTo(...part);
    },
  );
}

/** @returns aborts a moment after the end */
function dragged(
  onMove: (event: PointerEvent) => void,
  onEnd: (isDone: boolean) => void = () => undefined,
): AbortSignal {
  const moving = new AbortController();
  const after = new AbortController();
  const end = (isDone: boolean): void => {
    moving.abort();
    onEnd(isDone);
    setTimeout(() => after.abort(), 0);
  };
  const options = { signal: moving.signal };
  addEventListener('pointermove', onMove, options);
  addEventListener('pointerup', () => end(true), options);
  addEventListener('pointercancel', () => end(false), options);
  return after.signal;
}

function within(place: number): number {
  return Math.max(0, Math.min(1, place));
}
