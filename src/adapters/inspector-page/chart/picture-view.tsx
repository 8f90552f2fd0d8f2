/** The picture of a chart with what is active lit, to be moved about and made larger and smaller. */
import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isPlainKey } from '../shared/list-keys.ts';
import { useSize } from '../shared/use-size.ts';
import { sizeOf } from './pictures.ts';
import { clamped, closer, fitted, scrollAround, wholeZoom } from './zoom.ts';
import type { Size } from './zoom.ts';

const MARGIN = 24;
const WHEEL_STEP = 240;

export interface PictureViewProps {
  readonly picture: SVGSVGElement;
  readonly name: string;
  readonly states: ReadonlySet<string>;
  readonly transitions: readonly string[];
  /** Whose it is: what is active is brought into view once for each. */
  readonly actor: string;
}

export function PictureView({ picture, name, states, transitions, actor }: PictureViewProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const own = useMemo(() => picture.cloneNode(true) as SVGSVGElement, [picture]);
  const size = useMemo(() => sizeOf(picture), [picture]);
  const space = useSpace(box);
  const [chosen, setChosen] = useState<number | 'whole'>();
  const fit = wholeZoom(size, space);
  const zoom = chosen === 'whole' ? fit : (chosen ?? fitted(size, space));
  const place = usePlace(own, box);
  const zoomTo = (next: number, x = space.width / 2, y = space.height / 2): void => {
    const element = box.current;
    const to = clamped(next);
    if (element === null) return;
    const [left, top] = [
      scrollAround(element.scrollLeft, x, { from: zoom, to }),
      scrollAround(element.scrollTop, y, { from: zoom, to }),
    ];
    setChosen(to);
    requestAnimationFrame(() => element.scrollTo(left, top));
  };
  useWatched(own, { size, zoom, states, transitions });
  const hold = useActiveShown(own, box, { actor, states, space });
  useWheel(box, (event) => {
    const edge = (event.currentTarget as Element).getBoundingClientRect();
    zoomTo(closer(zoom, -event.deltaY / WHEEL_STEP), event.clientX - edge.left, event.clientY - edge.top);
  });
  const zooming: Zooming = {
    zoom,
    isFitted: zoom === fit,
    closer: (steps) => zoomTo(closer(zoom, steps)),
    whole: () => zoomTo(1),
    fit: () => setChosen('whole'),
  };
  return (
    <div class="picture" onKeyDown={(event) => press(event, zooming)}>
      <div
        ref={box}
        class="picture-view"
        role="region"
        aria-label={`Chart of ${name}`}
        tabIndex={0}
        onWheel={hold}
        onPointerDown={(event) => {
          hold();
          drag(event, box.current);
        }}
      >
        <div ref={place} class="picture-place" />
      </div>
      <ZoomButtons {...zooming} />
    </div>
  );
}

interface Zooming {
  readonly zoom: number;
  readonly isFitted: boolean;
  readonly closer: (steps: number) => void;
  readonly whole: () => void;
  readonly fit: () => void;
}

function ZoomButtons({ zoom, isFitted, closer: zoomBy, whole, fit }: Zooming): JSX.Element {
  const percent = `${Math.round(zoom * 100)} %`;
  return (
    <div class="picture-zoom" role="group" aria-label="Size of the chart">
      <button aria-label="Smaller" title="Smaller (-)" onClick={() => zoomBy(-1)}>
        −
      </button>
      <button aria-label={`${percent}: back to its own size`} title="Its own size (1)" onClick={whole}>
        {percent}
      </button>
      <button aria-label="Larger" title="Larger (+)" onClick={() => zoomBy(1)}>
        +
      </button>
      <button aria-pressed={isFitted} title="Fit into the pane (0)" onClick={fit}>
        Fit
      </button>
    </div>
  );
}

function press(event: KeyboardEvent, { closer: zoomBy, whole, fit }: Zooming): void {
  const keys: Readonly<Record<string, () => void>> = {
    '+': () => zoomBy(1),
    '=': () => zoomBy(1),
    '-': () => zoomBy(-1),
    '0': fit,
    '1': whole,
  };
  const act = isPlainKey(event) && Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function useSpace(box: RefObject<HTMLDivElement | null>): Size {
  const [space, setSpace] = useState<Size>({ width: 0, height: 0 });
  // Of the outer edge: whether there are scroll bars must not change what fits.
  useSize(box, ({ offsetWidth, offsetHeight }) =>
    setSpace({ width: offsetWidth - MARGIN, height: offsetHeight - MARGIN }),
  );
  return space;
}

function usePlace(own: SVGSVGElement, box: RefObject<HTMLDivElement | null>): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place.current?.replaceChildren(own);
    box.current?.scrollTo(0, 0);
  }, [own]);
  return place;
}

interface PictureStyle extends Pick<PictureViewProps, 'states' | 'transitions'> {
  readonly size: Size;
  readonly zoom: number;
}

function useWatched(own: SVGSVGElement, { size, zoom, states, transitions }: PictureStyle): void {
  useLayoutEffect(() => {
    own.setAttribute('width', String(size.width * zoom));
    own.setAttribute('height', String(size.height * zoom));
  }, [own, size, zoom]);
  useLayoutEffect(() => light(own, states, transitions), [own, states, transitions]);
}

interface ActiveShown {
  readonly actor: string;
  readonly states: ReadonlySet<string>;
  readonly space: Size;
}

/** @returns ends it for this actor: a user who has moved the picture does not want it moved */
function useActiveShown(
  own: SVGSVGElement,
  box: RefObject<HTMLDivElement | null>,
  { actor, states, space }: ActiveShown,
): () => void {
  const held = useRef('');
  const met = useRef('');
  useEffect(() => {
    const isMet = met.current === actor;
    if (space.width > 0) met.current = actor;
    if (held.current !== actor) showActive(own, box.current, isMet);
  }, [own, actor, states, space.width, space.height]);
  return () => {
    held.current = actor;
  };
}

function useWheel(box: RefObject<HTMLDivElement | null>, zoom: (event: WheelEvent) => void): void {
  useEffect(() => {
    const element = box.current;
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event);
    };
    // Else the browser would make the whole page larger.
    element?.addEventListener('wheel', turn, { passive: false });
    return () => element?.removeEventListener('wheel', turn);
  });
}

function light(picture: SVGSVGElement, states: ReadonlySet<string>, transitions: readonly string[]): void {
  for (const element of picture.querySelectorAll<SVGElement>('[data-state]'))
    element.classList.toggle('is-active', states.has(element.dataset['state'] ?? ''));
  for (const element of picture.querySelectorAll<SVGElement>('[data-transition]'))
    element.classList.toggle('is-active', transitions.includes(element.dataset['transition'] ?? ''));
}

/** The innermost of what is active: into the middle at first, later only where it is out of view. */
function showActive(picture: SVGSVGElement, box: HTMLElement | null, isMet: boolean): void {
  const active = [...picture.querySelectorAll('[data-state].is-active')].at(-1)?.getBoundingClientRect();
  if (active === undefined || box === null) return;
  const view = box.getBoundingClientRect();
  if (!isMet || active.bottom > view.bottom || active.top < view.top)
    box.scrollTop += active.top + active.height / 2 - (view.top + view.height / 2);
  if (!isMet || active.right > view.right || active.left < view.left)
    box.scrollLeft += active.left + active.width / 2 - (view.left + view.width / 2);
}

function drag(start: PointerEvent, box: HTMLElement | null): void {
  if (box === null || start.button !== 0 || start.pointerType !== 'mouse') return;
  const { scrollLeft, scrollTop } = box;
  const ended = new AbortController();
  const options = { signal: ended.signal };
  addEventListener(
    'pointermove',
    (event) => box.scrollTo(scrollLeft + start.clientX - event.clientX, scrollTop + start.clientY - event.clientY),
    options,
  );
  addEventListener('pointerup', () => ended.abort(), options);
  addEventListener('pointercancel', () => ended.abort(), options);
}
