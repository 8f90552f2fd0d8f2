/** What a session did, as bars over time. */
import type { JSX, RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { effect } from '@preact/signals';
import type { SessionBar } from '../../../machines/inspection-log/session-bar.ts';
import { recording } from '../model/view.ts';
import { amount } from '../model/words.ts';
import { watchOf } from '../sessions/session-watch.ts';
import { isPlainKey } from '../shared/list-keys.ts';
import { useSize } from '../shared/use-size.ts';
import { VirtualList } from '../shared/virtual-list.tsx';
import { moveOf } from '../tree/tree-pane.tsx';
import { BarFacts, openChild } from './bar-facts.tsx';
import type { Shown } from './bar-figure.tsx';
import { panWithPointer, usePanAndZoom } from './pointer.ts';
import { Ruler, TimelineGrid } from './ruler.tsx';
import type { TimelineRow } from './timeline-rows.ts';
import { BarRow } from './timeline-row.tsx';
import { TimelineView } from './timeline-view.ts';
import './timeline.css';

/** Narrower, and names stand above their bars. */
const NARROW = 560;
const rowId = (bar: SessionBar): string => `bar-row-${bar.id}`;

export function TimelinePane({ sessionId }: { readonly sessionId: string }): JSX.Element {
  const watch = watchOf(sessionId);
  useEffect(() => watch.start(), [watch]);
  const view = useMemo(() => new TimelineView(watch), [watch]);
  useEffect(() => () => view.leave(), [view]);
  useEffect(() => effect(() => view.follow()), [view]);
  const { timeline, bar } = view;
  if (timeline === undefined || timeline.count === 0)
    return (
      <p class="empty">
        {recording.value.phase.value.name === 'loading' ? 'Its log is being read.' : 'It has not been awake yet.'}
      </p>
    );
  return (
    <div class="timeline-pane">
      <TimelineTools view={view} />
      {timeline.forgotten === 0 ? undefined : (
        <p class="left-out">{amount(timeline.forgotten)} older bars are not kept.</p>
      )}
      <Bars view={view} />
      {bar === undefined ? undefined : <BarFacts view={view} bar={bar} />}
    </div>
  );
}

function Bars({ view }: { readonly view: TimelineView }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const { whole, names, width } = useWidths(box, view.rows.length);
  usePanAndZoom(box, view, names);
  const { rows } = view;
  const current = view.current.value;
  const index = rows.findIndex(({ bar }) => bar.id === current);
  const shown: Shown = { scale: view.scale.value, part: view.shown.value, width, now: view.moment.value };
  const isNarrow = whole < NARROW;
  return (
    <div
      ref={box}
      class={`timeline-box${isNarrow ? ' is-narrow' : ''}${view.past === undefined ? '' : ' is-past'}`}
      style={{ '--names': `${names}px`, '--bars': `${width}px`, '--moment': `${view.pastPlace * 100}%` }}
    >
      <Ruler view={view} width={width} />
      <TimelineGrid view={view} width={width} />
      <VirtualList
        // Rows of another height are another list.
        key={isNarrow ? 'narrow' : 'wide'}
        label="Timeline"
        role="tree"
        class="timeline"
        count={rows.length}
        rowHeight={isNarrow ? 42 : 26}
        shown={index < 0 ? undefined : index}
        shownAs={current === undefined ? undefined : String(current)}
        attributes={{
          'aria-activedescendant': index < 0 ? undefined : rowId((rows[index] as TimelineRow).bar),
          onKeyDown: (event) => press(event, view, index),
          onPointerDown: (event) => panWithPointer(event, view, width),
        }}
        row={(at) => barRow(view, rows[at], shown)}
      />
    </div>
  );
}

function barRow(view: TimelineView, row: TimelineRow | undefined, shown: Shown): JSX.Element | undefined {
  if (row === undefined) return undefined;
  const { bar } = row;
  return (
    <BarRow
      key={bar.id}
      row={row}
      elementId={rowId(bar)}
      isChosen={bar.id === view.current.value}
      shown={shown}
      onChoose={() => view.choose(bar)}
      onToggle={() => view.setOpen(bar, row.isOpen !== true)}
      onZoom={() => view.zoomToBar(bar)}
    />
  );
}

/** In pixels: all of it, names, bars. What a scroll bar takes is not the bars'. */
function useWidths(
  box: RefObject<HTMLDivElement | null>,
  count: number,
): { readonly whole: number; readonly names: number; readonly width: number } {
  const [size, setSize] = useState({ whole: 700, inner: 700 });
  const check = (element: HTMLElement | null): void => {
    const whole = element?.clientWidth ?? 0;
    const inner = element?.querySelector('.rows')?.clientWidth ?? whole;
    if (whole > 0) setSize((before) => (before.whole === whole && before.inner === inner ? before : { whole, inner }));
  };
  useSize(box, check);
  useEffect(() => check(box.current), [count]);
  const names = size.whole < NARROW ? 0 : Math.min(300, Math.round(size.whole * 0.34));
  return { whole: size.whole, names, width: Math.max(40, size.inner - names - MARGIN) };
}

/** At the end of the bars. */
const MARGIN = 10;

function press(event: KeyboardEvent, view: TimelineView, index: number): void {
  const act = isPlainKey(event) ? actionOf(event, view, index) : undefined;
  if (act === undefined) return;
  event.preventDefault();
  // The page has keys of the same names.
  event.stopPropagation();
  act();
}

function actionOf({ key, shiftKey }: KeyboardEvent, view: TimelineView, index: number): (() => void) | undefined {
  const { rows } = view;
  const row = rows[index];
  switch (key) {
    case '+':
    case '=':
      return () => view.closer(1);
    case '-':
      return () => view.closer(-1);
    case '0':
      return () => view.fit();
    case 'z':
    case 'Z':
      return row === undefined ? undefined : () => view.zoomToBar(row.bar);
    case 'o':
    case 'O':
      return row?.bar.sessionId === undefined ? undefined : () => openChild(row.bar.sessionId ?? '');
    case 'Enter':
    case ' ':
      return row === undefined ? undefined : () => view.choose(row.bar);
    default:
      if (shiftKey)
        return key === 'ArrowLeft' || key === 'ArrowRight' ? () => view.panBy(key === 'ArrowLeft' ? -1 : 1) : undefined;
      return moving(key, view, index);
  }
}

function moving(key: string, view: TimelineView, index: number): (() => void) | undefined {
  const { rows } = view;
  const row = rows[index];
  const parent = rows.findIndex(({ bar }) => bar === row?.bar.parent);
  const move = moveOf(key, { index, count: rows.length, isOpen: row?.isOpen, parent });
  if (move === undefined) return undefined;
  return () => {
    if ('to' in move) view.current.value = rows[move.to]?.bar.id;
    else if (row !== undefined) view.setOpen(row.bar, move.open);
  };
}

/** Above the bars: how much of the time is shown, what the fills mean, and which rows are open. */
function TimelineTools({ view }: { readonly view: TimelineView }): JSX.Element {
  const { zoom, isWhole } = view;
  const hasOpen = view.rows.some(({ bar, isOpen }) => bar.kind === 'wake' && isOpen === true);
  return (
    <div class="timeline-tools">
      <div class="timeline-zoom" role="group" aria-label="Size of the timeline">
        <button aria-label="Smaller" title="Smaller (-)" disabled={isWhole} onClick={() => view.closer(-1)}>
          −
        </button>
        <output aria-label="Enlarged">{zoom < 10 ? zoom.toFixed(1) : amount(Math.round(zoom))}×</output>
        <button aria-label="Larger" title="Larger (+)" onClick={() => view.closer(1)}>
          +
        </button>
        <button aria-pressed={isWhole} title="All of it (0)" onClick={() => view.fit()}>
          Fit
        </button>
        <button aria-label="Earlier" title="Earlier (Shift ←)" disabled={isWhole} onClick={() => view.panBy(-1)}>
          ←
        </button>
        <button aria-label="Later" title="Later (Shift →)" disabled={isWhole} onClick={() => view.panBy(1)}>
          →
        </button>
      </div>
      <button
        aria-pressed={view.isShort.value}
        title="Long pauses take less space than they lasted"
        onClick={() => {
          view.isShort.value = !view.isShort.value;
        }}
      >
        Short pauses
      </button>
      <button onClick={() => view.openAll(!hasOpen)}>{hasOpen ? 'Close all' : 'Open all'}</button>
      <span class="timeline-legend">
        <i class="bar-part is-working" /> works
        <i class="bar-part is-waiting" /> waits
        <i class="bar-part is-resting" /> rests
      </span>
    </div>
  );
}
