/**
 * A list of which only the rows that can be seen exist, however many there are.
 *
 * New rows at the end do not move what is seen, unless the end itself is seen and the list is to stay there. Rows that
 * come or vanish before what is seen do not either, where that is told: the row at the top keeps its place.
 */
import type { ComponentChildren, HTMLAttributes, JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSize } from './use-size.ts';

/** Browsers draw nothing beyond some ten million pixels: longer lists scroll faster than they are. */
const MOST_PIXELS = 8_000_000;
const SPARE_ROWS = 8;
const FAR_ROWS = 3;

export interface VirtualListProps {
  readonly count: number;
  /** In pixels, the same for all. */
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  /**
   * Grows by one for each row that has vanished at the front since the list was first shown, and falls by one for each
   * that was added there.
   */
  readonly vanished?: number;
  /** Falsy: it does not. It goes to the end whenever this is another value. */
  readonly staysAtEnd?: unknown;
  /** This row is brought into view when it changes. */
  readonly shown?: number | undefined;
  /** What that row stands for: another one in the same place is brought into view as well. */
  readonly shownAs?: string | undefined;
  /** Hears which is the first row that is seen, and where the rows that exist end. Called while it renders. */
  readonly onRows?: (first: number, last: number) => void;
  readonly label: string;
  readonly role?: 'list' | 'tree' | 'listbox' | 'table' | 'grid';
  readonly class?: string;
  readonly empty?: ComponentChildren;
  readonly attributes?: HTMLAttributes<HTMLDivElement>;
}

export function VirtualList({
  count,
  rowHeight,
  row,
  vanished = 0,
  staysAtEnd = false,
  shown,
  shownAs,
  onRows,
  label,
  role = 'list',
  empty,
  attributes,
  ...rest
}: VirtualListProps): JSX.Element {
  const { box, view, check, scrolled, wasAtEnd } = useView(rowHeight);
  const whole = count * rowHeight;
  const pixels = Math.min(whole, MOST_PIXELS);
  const scale = pixels <= view.height || whole === pixels ? 1 : (whole - view.height) / (pixels - view.height);
  const topPixels = view.top * scale;
  const first = Math.max(0, Math.floor(topPixels / rowHeight) - SPARE_ROWS);
  const last = Math.min(count, Math.ceil((topPixels + view.height) / rowHeight) + SPARE_ROWS);
  useStillness({
    box,
    count,
    height: view.height,
    vanished,
    staysAtEnd,
    wasAtEnd,
    pixelsPerRow: rowHeight / scale,
    check,
  });
  useShownRow({ box, count, height: view.height, vanished, rowHeight, scale, shown, shownAs, check });

  onRows?.(Math.min(last, Math.max(0, Math.floor(topPixels / rowHeight))), last);
  const rows: ComponentChildren[] = [];
  for (let index = first; index < last; index += 1) rows.push(row(index));
  return (
    <div
      {...attributes}
      ref={box}
      class={`rows ${rest.class ?? ''}`}
      role={role}
      aria-busy={count === 0 ? true : undefined}
      aria-label={label}
      onScroll={scrolled}
      tabIndex={attributes?.tabIndex ?? 0}
    >
      {count === 0 ? empty : undefined}
      <div class="rows-all" role="presentation" style={{ height: `${pixels}px` }}>
        <div
          class="rows-seen"
          role="presentation"
          style={{ transform: `translateY(${view.top + first * rowHeight - topPixels}px)` }}
        >
          {rows}
        </div>
      </div>
    </div>
  );
}

interface View {
  readonly box: RefObject<HTMLDivElement | null>;
  /** In pixels: where it is scrolled to, and how much of it is seen. */
  readonly view: { readonly top: number; readonly height: number };
  readonly check: () => void;
  readonly scrolled: () => void;
  readonly wasAtEnd: { current: boolean };
}

function useView(rowHeight: number): View {
  const box = useRef<HTMLDivElement>(null);
  const wasAtEnd = useRef(true);
  const [view, setView] = useState({ top: 0, height: 400 });
  const check = (): void => {
    const element = box.current;
    if (element === null) return;
    setView((before) =>
      before.top === element.scrollTop && before.height === element.clientHeight
        ? before
        : { top: element.scrollTop, height: element.clientHeight },
    );
  };
  const scrolled = (): void => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {};
    // While it is hidden, or has another size, the reader does not scroll.
    if (clientHeight > 0 && clientHeight === view.height)
      wasAtEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight;
    check();
  };
  useSize(box, check);
  return { box, view, check, scrolled, wasAtEnd };
}

interface Stillness {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly count: number;
  readonly vanished: number;
  readonly height: number;
  readonly staysAtEnd: unknown;
  readonly wasAtEnd: { current: boolean };
  readonly pixelsPerRow: number;
  readonly check: () => void;
}

/** Keeps what is seen in its place. */
function useStillness({ box, count, height, vanished, staysAtEnd, wasAtEnd, pixelsPerRow, check }: Stillness): void {
  const hadVanished = useRef(vanished);
  const stayed = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const gone = vanished - hadVanished.current;
    hadVanished.current = vanished;
    if (stayed.current !== staysAtEnd) wasAtEnd.current = true;
    stayed.current = staysAtEnd;
    if (staysAtEnd && wasAtEnd.current) element.scrollTop = element.scrollHeight;
    else if (gone !== 0) element.scrollTop = Math.max(0, element.scrollTop - gone * pixelsPerRow);
    else return;
    // The browser tells of it a frame later, which would be seen.
    check();
  }, [count, vanished, staysAtEnd, height]);
}

interface ShownRow extends Pick<VirtualListProps, 'count' | 'rowHeight' | 'shown' | 'shownAs'> {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly vanished: number;
  readonly height: number;
  /** Pixels of all rows for each pixel that the list scrolls. */
  readonly scale: number;
  readonly check: () => void;
}

/** Brings the row that is to be shown into view. */
function useShownRow({ box, count, height, vanished, rowHeight, scale, shown, shownAs, check }: ShownRow): void {
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown === undefined || shown < 0 || shown >= count) return;
    const [place, top] = [shown * rowHeight, element.scrollTop * scale];
    const away = Math.max(top - place, place + rowHeight - top - element.clientHeight);
    // What was far away is shown with what stands around it.
    if (away > FAR_ROWS * rowHeight)
      element.scrollTop = Math.max(0, place - (element.clientHeight - rowHeight) / 2) / scale;
    else if (place < top) element.scrollTop = place / scale;
    else if (place + rowHeight > top + element.clientHeight)
      element.scrollTop = (place + rowHeight - element.clientHeight) / scale;
    check();
    // What vanishes at the front gives the same row another number. While the list is hidden it cannot be scrolled.
  }, [shownAs ?? (shown === undefined ? undefined : shown + vanished), height > 0]);
}
