/** One bar on the scale: what of it was work and what was waiting, with its words where there is space for them. */
import type { JSX } from 'preact';
import type { BarState, SessionBar } from '../../../machines/inspection-log/session-bar.ts';
import { barText, endOf } from './bar-words.ts';
import type { BarsNow } from './bar-words.ts';
import type { Stretch, TimeScale } from './time-scale.ts';

export interface Shown {
  readonly scale: TimeScale;
  /** Places on it. */
  readonly part: Stretch;
  /** In pixels. */
  readonly width: number;
  readonly now: BarsNow;
}

interface Piece {
  is: BarState;
  /** In pixels. */
  from: number;
  to: number;
}

/** What is shorter can still be seen. */
const LEAST = 3;
const CHARACTER = 6.2;
const GAP = 5;

/** In pixels, all of which can be seen. Nothing is drawn twice in one pixel: the larger part of it counts. */
export function piecesOf(bar: SessionBar, { scale, part, width, now }: Shown): readonly Piece[] {
  const pixel = (time: number): number => ((scale.placeOf(time) - part.from) / (part.to - part.from)) * width;
  const end = endOf(bar, now);
  const pieces: Piece[] = [];
  // A bar with thousands of parts is checked only where it is seen.
  const first = Math.max(
    0,
    bar.parts.findLastIndex(({ from }) => pixel(from) <= 0),
  );
  for (let index = first; index < bar.parts.length; index += 1) {
    const { from, is } = bar.parts[index] ?? { from: end, is: 'resting' };
    const [begin, stop] = [Math.max(-2, pixel(from)), Math.min(width + 2, pixel(bar.parts[index + 1]?.from ?? end))];
    if (begin > width) break;
    if (from > end || stop < -1) continue;
    const before = pieces.at(-1);
    if (before !== undefined && (stop - begin < 1 || before.is === is)) before.to = Math.max(before.to, stop);
    else pieces.push({ is, from: begin, to: stop });
  }
  const last = pieces.at(-1);
  if (last !== undefined && last.to - (pieces[0]?.from ?? 0) < LEAST) last.to = (pieces[0]?.from ?? 0) + LEAST;
  return pieces;
}

export function BarFigure({ bar, shown }: { readonly bar: SessionBar; readonly shown: Shown }): JSX.Element {
  const pieces = piecesOf(bar, shown);
  const [begin, end] = [pieces[0]?.from, pieces.at(-1)?.to];
  if (begin === undefined || end === undefined || end < 0)
    return <span class={`bar-away ${shown.scale.placeOf(bar.from) < shown.part.from ? 'is-before' : 'is-after'}`} />;
  return (
    <>
      {pieces.map(({ is, from, to }, index) => (
        <i
          key={index}
          class={`bar-part is-${is}`}
          style={{ left: `${from}px`, width: `${Math.max(1, to - from)}px` }}
        />
      ))}
      <BarText text={barText(bar, shown.now)} begin={begin} end={end} width={shown.width} />
    </>
  );
}

interface BarTextProps {
  readonly text: string;
  readonly begin: number;
  readonly end: number;
  readonly width: number;
}

/** After the bar, before it, or on it: where there is space for all of it, else where there is most. */
function BarText({ text, begin, end, width }: BarTextProps): JSX.Element | undefined {
  const [first, last] = [Math.max(0, begin), Math.min(width, end)];
  const places = [
    { is: 'after', left: last + GAP, space: width - last - GAP },
    { is: 'before', left: 0, space: first - GAP },
    { is: 'within', left: first + GAP, space: last - first - 2 * GAP },
  ];
  const needed = text.length * CHARACTER;
  const widest = places.toSorted((one, other) => other.space - one.space)[0];
  const place = places.find(({ space }) => space >= needed) ?? widest;
  return text === '' || place === undefined ? undefined : <BarWords text={text} {...place} />;
}

function BarWords({
  text,
  is,
  left,
  space,
}: {
  readonly text: string;
  readonly is: string;
  readonly left: number;
  readonly space: number;
}): JSX.Element | undefined {
  if (space < CHARACTER * 4) return undefined;
  return (
    <span class={`bar-text is-${is}`} style={{ left: `${left}px`, width: `${space}px` }}>
      <span>{text}</span>
    </span>
  );
}
