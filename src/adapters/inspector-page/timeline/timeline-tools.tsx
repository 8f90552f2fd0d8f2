/** Above the bars: how much of the time is shown, what the fills mean, and which rows are open. */
import type { JSX } from 'preact';
import { amount } from '../model/words.ts';
import type { TimelineView } from './timeline-view.ts';

export function TimelineTools({ view }: { readonly view: TimelineView }): JSX.Element {
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
