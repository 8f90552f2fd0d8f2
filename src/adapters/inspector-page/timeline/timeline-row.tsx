/** One row of a timeline: what it is, how it ended, and its bar. */
import type { JSX } from 'preact';
import { amount, wholeTime } from '../model/words.ts';
import { Sign } from '../shared/sign.tsx';
import { BarFigure } from './bar-figure.tsx';
import type { Shown } from './bar-figure.tsx';
import { KINDS, nameOf, spokenText, toneOf, usedBy } from './bar-words.ts';
import type { TimelineRow } from './timeline-rows.ts';

export interface TimelineRowProps {
  readonly row: TimelineRow;
  readonly elementId: string;
  readonly isChosen: boolean;
  readonly shown: Shown;
  readonly onChoose: () => void;
  readonly onToggle: () => void;
  readonly onZoom: () => void;
}

const INDENT = 12;
/** Deeper ones stand no further in. */
const MOST_INDENTS = 5;

export function BarRow({ row, elementId, isChosen, shown, onChoose, onToggle, onZoom }: TimelineRowProps): JSX.Element {
  const { bar, level, place, siblings, isOpen, failed } = row;
  const tone = toneOf(bar, shown.now);
  const within = failed === 0 ? undefined : `${amount(failed)} failed`;
  const spoken = [spokenText(bar, shown.now), ...(within === undefined ? [] : [`in it ${within}`])].join(', ');
  const toggle = (event: MouseEvent): void => {
    event.stopPropagation();
    onToggle();
  };
  // Wakes stand beneath the session, not within it: there is but one.
  const indent = Math.max(0, Math.min(level - 2, MOST_INDENTS)) * INDENT;
  return (
    <div
      id={elementId}
      class={`bar-row is-${tone} of-${bar.kind}${isChosen ? ' is-chosen' : ''}`}
      role="treeitem"
      aria-level={level}
      aria-expanded={isOpen}
      aria-selected={isChosen}
      aria-setsize={siblings}
      aria-posinset={place + 1}
      title={`${spoken}\nsince ${wholeTime(bar.from)}`}
      onClick={onChoose}
      onDblClick={onZoom}
    >
      <span class="unseen">{spoken}</span>
      <span class="bar-name" aria-hidden="true" style={{ paddingInlineStart: `${indent}px` }}>
        <span class="toggle" onClick={isOpen === undefined ? undefined : toggle}>
          {isOpen === undefined ? undefined : <Sign of={isOpen ? 'open' : 'closed'} />}
        </span>
        <Sign of={KINDS[bar.kind].sign} size={14} />
        <span class="name">{nameOf(bar)}</span>
        {bar.kind === 'session' ? <small class="bar-used">{usedBy(bar)}</small> : undefined}
        {within === undefined ? undefined : <small class="bar-failed">{within}</small>}
        {tone === 'resting' ? undefined : (
          <span class="bar-tone">
            <Sign of={tone} size={14} />
          </span>
        )}
      </span>
      <span class="bar-track" aria-hidden="true">
        <BarFigure bar={bar} shown={shown} />
      </span>
    </div>
  );
}
