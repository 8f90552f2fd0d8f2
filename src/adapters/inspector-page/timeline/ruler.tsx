/** The times above the bars, and behind them the pauses. Dragging over times enlarges them. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { selectWithPointer } from './pointer.ts';
import type { TimelineView } from './timeline-view.ts';

interface PartProps {
  readonly view: TimelineView;
  /** Of the bars, in pixels. */
  readonly width: number;
}

const LEAST_PAUSE = 8;
const percent = (place: number): string => `${place * 100}%`;

export function Ruler({ view, width }: PartProps): JSX.Element {
  const [part, setPart] = useState<readonly [number, number] | undefined>();
  const { from, to } = view.shown.value;
  return (
    <div class="ruler-row" aria-hidden="true">
      <div
        class="ruler"
        title="Drag over a part of the time to enlarge it"
        onPointerDown={(event) => selectWithPointer(event, view, setPart)}
      >
        {view.scale.value.marksIn(from, to, width).map(({ at, text, isPause }) => (
          <span key={`${at} ${text}`} class={isPause ? 'is-pause' : ''} style={{ left: percent(at) }}>
            {text}
          </span>
        ))}
        {part === undefined ? undefined : (
          <i class="ruler-part" style={{ left: percent(part[0]), width: percent(part[1] - part[0]) }} />
        )}
      </div>
    </div>
  );
}

export function TimelineGrid({ view, width }: PartProps): JSX.Element {
  const scale = view.scale.value;
  const { from, to } = view.shown.value;
  const placeOf = (place: number): number => (place - from) / (to - from);
  return (
    <div class="timeline-grid" aria-hidden="true">
      {scale
        .marksIn(from, to, width)
        .map((mark) =>
          mark.isPause ? undefined : <i key={mark.at} class="grid-line" style={{ left: percent(mark.at) }} />,
        )}
      {scale.pausesIn(from, to).map((pause) => {
        const [begin, end] = [Math.max(0, placeOf(pause.at)), Math.min(1, placeOf(pause.end))];
        // Of hundreds of them no one is of interest.
        if ((end - begin) * width < LEAST_PAUSE) return undefined;
        return <i key={pause.at} class="grid-pause" style={{ left: percent(begin), width: percent(end - begin) }} />;
      })}
    </div>
  );
}
