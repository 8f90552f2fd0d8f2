/** All that was recorded as a line of small bars: press or drag to check that moment. */
import type { HTMLAttributes, JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { goLive, isInPast, recording, step, world } from '../model/view.ts';
import { amount, clockTime } from '../model/words.ts';
import { useSize } from '../shared/use-size.ts';
import type { Axis } from './axis.ts';
import { goFirst, isDragging, seek, shownRecord, turnAxis, watchAxis, width } from './time-view.ts';

const HEIGHT = 30;
/** Of the track beneath, with what the chosen actor did. */
const TRACK = 4;
const A_LOT = 100;
/** In pixels: what would stand beneath the switch is left out. */
const SWITCH = 100;

export function Scrubber(): JSX.Element {
  const watch = useMemo(watchAxis, []);
  const track = useRef<HTMLDivElement>(null);
  useEffect(() => watch.leave, []);
  useSize(track, ({ clientWidth }) => {
    width.value = Math.max(80, clientWidth);
  });
  const axis = watch.value.value;
  return (
    <div class="scrubber">
      <div
        ref={track}
        class="track"
        role="slider"
        tabIndex={0}
        aria-label="Moment that is shown"
        {...sliderValues()}
        onKeyDown={press}
        {...dragging(axis)}
      >
        {axis === undefined ? undefined : <Bars axis={axis} />}
        {axis === undefined ? undefined : (
          <span
            class={`cursor${isInPast.value ? ' is-past' : ''}`}
            style={{ left: `${(isInPast.value ? axis.placeOf(shownRecord.value) : 1) * 100}%` }}
          />
        )}
      </div>
      <div class="marks">
        {axis?.marks
          .filter(({ at }) => at < 1 - SWITCH / width.value)
          .map(({ at, text }) => (
            <span key={at} style={{ left: `${at * 100}%` }}>
              {text}
            </span>
          ))}
      </div>
      {axis === undefined ? undefined : <AxisSwitch axis={axis} />}
    </div>
  );
}

function sliderValues(): HTMLAttributes<HTMLDivElement> {
  const { timeline } = recording.value.watched;
  const { moment } = world.value;
  const last = timeline.last?.s ?? 0;
  const text =
    moment === undefined
      ? 'nothing recorded'
      : `${isInPast.value ? '' : 'now, '}${clockTime(moment.t)}, record ${amount(moment.s)} of ${amount(last)}`;
  return {
    'aria-valuemin': timeline.first?.s ?? 0,
    'aria-valuemax': last,
    'aria-valuenow': Math.max(timeline.first?.s ?? 0, shownRecord.value),
    'aria-valuetext': text,
  };
}

/** Left and right work everywhere on the page. */
function press(event: KeyboardEvent): void {
  const act = { Home: goFirst, End: goLive, PageUp: () => step(-A_LOT), PageDown: () => step(A_LOT) }[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function dragging(axis: Axis | undefined): HTMLAttributes<HTMLDivElement> {
  if (axis === undefined) return {};
  const move = (event: PointerEvent): void => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    seek(axis, (event.clientX - box.left) / Math.max(1, box.width - 1));
  };
  return {
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      isDragging.value = true;
      move(event);
    },
    onPointerMove: (event) => {
      if (isDragging.value) move(event);
    },
    onPointerUp: () => {
      isDragging.value = false;
    },
    onLostPointerCapture: () => {
      isDragging.value = false;
    },
  };
}

/** Drawn again only with the axis: the cursor moves above it. */
function Bars({ axis }: { readonly axis: Axis }): JSX.Element {
  return useMemo(() => {
    const count = axis.slices.length;
    const whole = HEIGHT + TRACK + 2;
    const bar = (slice: number, height: number): string => `M${slice} ${HEIGHT}v${-height}h.72v${height}Z`;
    const tall = (height: number): number => (height === 0 ? 0 : Math.max(1.5, height * (HEIGHT - 5)));
    const path = (wanted: (slice: Axis['slices'][number]) => boolean): string =>
      axis.slices
        .map((slice, place) => (wanted(slice) && slice.height > 0 ? bar(place, tall(slice.height)) : ''))
        .join('');
    return (
      <>
        <svg class="bars" viewBox={`0 0 ${count} ${whole}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="quiet-bars" d={path(({ hasFailure }) => !hasFailure)} />
          <path class="failure-bars" d={path(({ hasFailure }) => hasFailure)} />
          <path
            class="failure-marks"
            d={axis.slices.map(({ hasFailure }, place) => (hasFailure ? `M${place} 0h.9v3h-.9Z` : '')).join('')}
          />
          <path
            class="actor-marks"
            d={axis.slices
              .map(({ isOfActor }, place) => (isOfActor ? `M${place} ${HEIGHT + 2}h1v${TRACK}h-1Z` : ''))
              .join('')}
          />
        </svg>
        {axis.pauses.map(({ at, text }) => (
          <span key={at} class="pause" style={{ left: `${at * 100}%` }}>
            {text === '' ? undefined : <small>{text}</small>}
          </span>
        ))}
      </>
    );
  }, [axis]);
}

function AxisSwitch({ axis }: { readonly axis: Axis }): JSX.Element {
  const other = axis.kind === 'time' ? 'records' : 'time';
  return (
    <button
      class="axis-switch"
      title={
        axis.kind === 'time'
          ? 'The line stands for time. Press to give every record the same width.'
          : 'Every record has the same width. Press for a line of time.'
      }
      onClick={() => turnAxis(other)}
    >
      {axis.kind === 'time' ? 'by time' : 'by record'}
    </button>
  );
}
