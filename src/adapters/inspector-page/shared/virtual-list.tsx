/**
 * A list of which only the rows that can be seen exist, however many there are.
 *
 * New rows at the end do not move what is seen, unless the end itself is seen and the list is to stay there. Rows that vanish at the front do not
 * either: the row at the top keeps its place.
 */
import type { ComponentChildren, HTMLAttributes, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Browsers draw nothing beyond some ten million pixels: longer lists scroll faster than they are. */
const MOST_PIXELS = 8_000_000;
const SPARE_ROWS = 8;

export interface VirtualListProps {
  readonly count: number;
  /** In pixels, the same for all. */
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  /** Grows by one for each row that has vanished at the front since the list was first shown. */
  readonly vanished?: number;
  readonly staysAtEnd?: boolean;
  /** This row is brought into view when it changes. */
  readonly shown?: number | undefined;
  readonly label: string;
  readonly role?: 'list' | 'tree' | 'listbox' | 'table' | 'grid';
  readonly class?: string;
  readonly empty?: ComponentChildren;
  readonly attributes?: HTMLAttributes<HTMLDivElement>;
}

export function VirtualList({ count, rowHeight, row, vanished = 0, staysAtEnd = false, shown, label, role = 'list', empty, attributes, ...rest }: VirtualListProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const wasAtEnd = useRef(true);
  const hadVanished = useRef(vanished);
  const [view, setView] = useState({ top: 0, height: 400 });
  const whole = count * rowHeight;
  const pixels = Math.min(whole, MOST_PIXELS);
  const scale = pixels <= view.height || whole === pixels ? 1 : (whole - view.height) / (pixels - view.height);
  const topPixels = view.top * scale;
  const first = Math.max(0, Math.floor(topPixels / rowHeight) - SPARE_ROWS);
  const last = Math.min(count, Math.ceil((topPixels + view.height) / rowHeight) + SPARE_ROWS);

  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    wasAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
    setView((before) => (before.top === element.scrollTop && before.height === element.clientHeight ? before : { top: element.scrollTop, height: element.clientHeight }));
  };

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    look();
    return () => sizes.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const gone = vanished - hadVanished.current;
    hadVanished.current = vanished;
    if (staysAtEnd && wasAtEnd.current) element.scrollTop = element.scrollHeight;
    else if (gone > 0) element.scrollTop = Math.max(0, element.scrollTop - (gone * rowHeight) / scale);
  }, [count, vanished, staysAtEnd]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown === undefined || shown < 0 || shown >= count) return;
    const place = shown * rowHeight;
    if (place < topPixels) element.scrollTop = place / scale;
    else if (place + rowHeight > topPixels + element.clientHeight) element.scrollTop = (place + rowHeight - element.clientHeight) / scale;
  }, [shown]);

  const rows: ComponentChildren[] = [];
  for (let index = first; index < last; index += 1) rows.push(row(index));
  return (
    <div {...attributes} ref={box} class={`rows ${rest.class ?? ''}`} role={role} aria-label={label} onScroll={look} tabIndex={attributes?.tabIndex ?? 0}>
      {count === 0 ? empty : undefined}
      <div class="rows-all" role="presentation" style={{ height: `${pixels}px` }}>
        <div class="rows-seen" role="presentation" style={{ transform: `translateY(${view.top + first * rowHeight - topPixels}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
