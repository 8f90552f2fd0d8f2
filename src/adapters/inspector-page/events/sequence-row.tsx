/** One line of a sequence diagram: cells for screen readers, a picture for the eye. */
import type { JSX } from 'preact';
import { chooseRecord, recording } from '../model/view.ts';
import { clockTime } from '../model/words.ts';
import { exactText } from './record-words.ts';
import type { Sequence, SequenceRow } from './sequence.ts';
import { SEQUENCE_ROW, columnMiddle, labelBeside, labelBetween, linesIn } from './sequence-places.ts';

const MIDDLE = SEQUENCE_ROW / 2;
const ARROW = 22;
const LABEL = 13;
const HEAD = 5;

export interface SequenceLineProps {
  readonly row: SequenceRow;
  readonly sequence: Sequence;
  readonly width: number;
  readonly nameOf: (key: string) => string;
  readonly isChosen: boolean;
  readonly isAhead: boolean;
  readonly place: number;
}

export function SequenceLine({
  row,
  sequence,
  width,
  nameOf,
  isChosen,
  isAhead,
  place,
}: SequenceLineProps): JSX.Element {
  const { from, to, label, isIgnored, kind, seq, t } = row;
  const record = recording.value.timeline.record(seq);
  const what = `${label}${isIgnored && kind === 'message' ? ', ignored' : ''}`;
  return (
    <div
      id={lineId(seq)}
      role="row"
      aria-selected={isChosen}
      aria-rowindex={place}
      class={`sequence-line is-${kind}${isIgnored ? ' is-ignored' : ''}${isAhead ? ' is-ahead' : ''}`}
      style={{ height: `${SEQUENCE_ROW}px` }}
      title={`${from === to ? nameOf(to) : `${nameOf(from)} → ${nameOf(to)}`}: ${what}${record === undefined ? '' : `\n${exactText(record)}`}`}
      onClick={() => chooseRecord(seq)}
    >
      <span role="gridcell" class="sequence-time mono">
        {clockTime(t).slice(3)}
      </span>
      <span role="gridcell" class="unseen">
        from {nameOf(from)}
      </span>
      <span role="gridcell" class="unseen">
        {from === to ? 'to itself' : `to ${nameOf(to)}`}
      </span>
      <span role="gridcell" class="unseen">
        {what}
      </span>
      <svg aria-hidden="true" width={width} height={SEQUENCE_ROW}>
        <Lines row={row} sequence={sequence} width={width} />
        <Mark row={row} sequence={sequence} width={width} />
      </svg>
    </div>
  );
}

export function lineId(seq: number): string {
  return `line-${seq}`;
}

type Drawn = Pick<SequenceLineProps, 'row' | 'sequence' | 'width'>;

function Lines({ row, sequence: { lifelines }, width }: Drawn): JSX.Element {
  const middle = row.kind === 'message' || row.kind === 'made' ? ARROW : MIDDLE;
  return (
    <g class="lifelines">
      {lifelines.map((lifeline, index) => {
        const { above, below } = linesIn(lifeline, row);
        if (!above && !below) return undefined;
        const x = columnMiddle(width, lifelines.length, index);
        return <line key={lifeline.key} x1={x} x2={x} y1={above ? 0 : middle} y2={below ? SEQUENCE_ROW : middle} />;
      })}
    </g>
  );
}

function Mark({ row, sequence: { lifelines }, width }: Drawn): JSX.Element {
  const place = (key: string): number =>
    columnMiddle(
      width,
      lifelines.length,
      lifelines.findIndex((each) => each.key === key),
    );
  const from = place(row.from);
  const to = place(row.to);
  return row.from === row.to ? (
    <Within row={row} x={to} width={width} />
  ) : (
    <Between row={row} from={from} to={to} width={width} />
  );
}

function Within({
  row: { kind, label, isIgnored },
  x,
  width,
}: {
  readonly row: SequenceRow;
  readonly x: number;
  readonly width: number;
}): JSX.Element {
  const text = labelBeside(label, x, width);
  return (
    <>
      {kind === 'ended' ? <rect class="mark" x={x - 4.5} y={MIDDLE - 4.5} width="9" height="9" rx="1.5" /> : undefined}
      {kind === 'error' ? <path class="mark-stroke" d={`M${x - 4} ${MIDDLE - 4}l8 8m0 -8l-8 8`} /> : undefined}
      {kind === 'step' || kind === 'message' || kind === 'made' ? (
        <circle class={isIgnored ? 'mark-hollow' : 'mark'} cx={x} cy={MIDDLE} r="4" />
      ) : undefined}
      <text x={text.x} y={MIDDLE + 4} text-anchor={text.anchor}>
        {text.text}
      </text>
    </>
  );
}

function Between({
  row: { kind, label },
  from,
  to,
  width,
}: {
  readonly row: SequenceRow;
  readonly from: number;
  readonly to: number;
  readonly width: number;
}): JSX.Element {
  const text = labelBetween(label, from, to, width);
  const back = to > from ? -HEAD : HEAD;
  return (
    <>
      <line class="arrow" x1={from} x2={to + back / 2} y1={ARROW} y2={ARROW} />
      {kind === 'made' ? (
        <circle class="mark-hollow" cx={to} cy={ARROW} r="4.5" />
      ) : (
        <path class="arrow-head" d={`M${to} ${ARROW}l${back * 1.4} ${-HEAD * 0.8}v${HEAD * 1.6}z`} />
      )}
      <text x={text.x} y={LABEL} text-anchor="middle">
        {text.text}
      </text>
    </>
  );
}
