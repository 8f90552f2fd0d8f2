/** What passed between actors around the moment that is shown. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import {
  chooseActor,
  chooseRecord,
  chosenActor,
  chosenRecord,
  cursor,
  isInPast,
  liveCalls,
  recording,
  recordingId,
} from '../model/view.ts';
import { wholeName } from '../model/actor-names.ts';
import { visibleText } from '../model/visible-text.ts';
import { counted } from '../model/words.ts';
import { isPlainKey, rowAfter } from '../shared/list-keys.ts';
import { useSize } from '../shared/use-size.ts';
import { VirtualList } from '../shared/virtual-list.tsx';
import { RecordDetail } from './record-detail.tsx';
import { latestNames } from './latest-names.ts';
import { ListButton, OthersList, useListing, useSequenceSelection } from './sequence-others.tsx';
import type { Listing } from './sequence-others.tsx';
import { OTHERS, OUTSIDE, sequenceOf } from './sequence.ts';
import type { Sequence, SequenceRow } from './sequence.ts';
import { SEQUENCE_ROW, columnMiddle, columnWidth, lifelinesFor } from './sequence-places.ts';
import { SequenceLine, lineId } from './sequence-row.tsx';
import { sequenceWindow } from './sequence-window.ts';
import type { SequenceWindow } from './sequence-window.ts';

const SCROLLBAR = 12;

export function SequencePane(): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(380);
  useSize(place, ({ clientWidth }) => setWidth(Math.max(240, clientWidth - SCROLLBAR)));
  const chosen = chosenRecord.value;
  return (
    <div class="sequence" ref={place}>
      <Diagram key={recordingId.value} width={width} />
      {chosen === undefined ? undefined : <RecordDetail key={chosen} seq={chosen} />}
    </div>
  );
}

/** What was drawn before, so that rows which vanish at the front move nothing. */
interface Drawn {
  readonly window: SequenceWindow;
  readonly rows: readonly SequenceRow[];
  readonly vanished: number;
}

/** What is drawn around the moment that is shown. */
interface Drawing {
  readonly sequence: Sequence;
  readonly vanished: number;
  /** The number of the record at which the diagram stands. */
  readonly moment: number | undefined;
  readonly scope: string;
}

function useDrawing(width: number, broughtIn: readonly string[]): Drawing {
  const { timeline } = recording.value.watched;
  const before = useRef<Drawn | undefined>(undefined);
  const all = timeline.sequence();
  const lastOfChosen = lastOf(timeline, chosenActor.value);
  const shownWindow = sequenceWindow(all, { cursor: cursor.value, lastOfChosen, before: before.current?.window });
  const end = all.at(shownWindow.end - all.vanished - 1)?.s ?? 0;
  const isEarlier =
    lastOfChosen !== undefined && cursor.value === 'live' && shownWindow.end < all.vanished + all.length;
  const moment =
    chosenRecord.value ?? (cursor.value === 'live' ? (isEarlier ? lastOfChosen : undefined) : cursor.value);
  const sequence = sequenceOf({
    records: recordsOf(timeline, shownWindow),
    names: latestNames.value,
    chosen: chosenActor.value,
    broughtIn,
    most: lifelinesFor(width),
    moment: moment ?? end,
    bornAt: (key) => timeline.sequence(key).at(0)?.s ?? 0,
  });
  const { rows } = sequence;
  const vanished =
    (before.current?.vanished ?? 0) + (before.current?.rows.filter(({ seq }) => seq < (rows[0]?.seq ?? 0)).length ?? 0);
  before.current = { window: shownWindow, rows, vanished };
  return { sequence, vanished, moment, scope: scopeText(all.length, { window: shownWindow, sequence, isEarlier }) };
}

function Diagram({ width }: { readonly width: number }): JSX.Element {
  const names = latestNames.value;
  const selection = useSequenceSelection();
  const listing = useListing();
  const { sequence, vanished, moment, scope } = useDrawing(width, selection.keys);
  const { rows, others } = sequence;
  const shown = moment === undefined ? -1 : rows.findLastIndex(({ seq }) => seq <= moment);
  const nameOf = (key: string): string =>
    key === OUTSIDE ? 'outside' : key === OTHERS ? counted(others.length, 'other') : names.of(key);
  const chosen = rows[shown]?.seq === chosenRecord.value ? chosenRecord.value : undefined;
  const line = (index: number): JSX.Element | undefined => {
    const row = rows[index];
    return row === undefined ? undefined : (
      <SequenceLine
        key={row.seq}
        row={row}
        sequence={sequence}
        width={width}
        nameOf={nameOf}
        place={index + 1}
        isChosen={row.seq === chosen}
        isAhead={isInPast.value && index > shown}
      />
    );
  };
  return (
    <>
      <Heads sequence={sequence} width={width} nameOf={nameOf} listing={listing} />
      {listing.isOpen ? <OthersList others={others} selection={selection} /> : undefined}
      <VirtualList
        role="grid"
        label="Sequence diagram"
        count={rows.length}
        vanished={vanished}
        rowHeight={SEQUENCE_ROW}
        row={line}
        staysAtEnd={!isInPast.value && liveCalls.value}
        shown={shown === -1 ? undefined : shown}
        empty={<p class="empty">Nothing passed between actors yet.</p>}
        attributes={{
          tabIndex: 0,
          'aria-rowcount': rows.length,
          'aria-activedescendant': chosen === undefined ? undefined : lineId(chosen),
          onKeyDown: (event: KeyboardEvent) => moveBy(event, sequence, shown),
        }}
      />
      <p class="events-found">
        {scope}{' '}
        {others.length === 0 && selection.keys.length === 0 ? undefined : (
          <ListButton listing={listing}>{listing.isOpen ? 'Hide the list' : 'Which actors'}</ListButton>
        )}
      </p>
    </>
  );
}

function recordsOf(timeline: InspectionTimeline, { begin, end }: SequenceWindow): readonly InspectionRecord[] {
  const all = timeline.sequence();
  const records: InspectionRecord[] = [];
  for (let at = begin; at < end; at += 1) {
    const record = all.at(at - all.vanished);
    if (record !== undefined) records.push(record);
  }
  return records;
}

/** The number of the last record about the actor, up to the moment that is shown. */
function lastOf(timeline: InspectionTimeline, key: string | undefined): number | undefined {
  if (key === undefined) return undefined;
  const own = timeline.sequence(key);
  return own.at(own.indexUpTo(cursor.value === 'live' ? Number.MAX_SAFE_INTEGER : cursor.value))?.s;
}

interface Scope {
  readonly window: SequenceWindow;
  readonly sequence: Sequence;
  /** The chosen actor did nothing lately. */
  readonly isEarlier: boolean;
}

function scopeText(all: number, { window: { begin, end }, sequence: { leftOut }, isEarlier }: Scope): string {
  const around = isEarlier ? 'around what this actor did last' : 'around this moment';
  const scope = end - begin >= all ? `All ${counted(all, 'record')}` : `${counted(end - begin, 'record')} ${around}`;
  return leftOut === 0 ? scope : `${scope}; ${counted(leftOut, 'line')} among others left out`;
}

interface HeadsProps {
  readonly sequence: Sequence;
  readonly width: number;
  readonly nameOf: (key: string) => string;
  readonly listing: Listing;
}

function Heads({ sequence: { lifelines }, width, nameOf, listing }: HeadsProps): JSX.Element {
  return (
    <div class="sequence-heads" role="group" aria-label="Actors of the diagram">
      {lifelines.map(({ key }, index) => {
        const state = latestNames.value.state(key);
        const style = {
          left: `${columnMiddle(width, lifelines.length, index)}px`,
          width: `${columnWidth(width, lifelines.length) - 4}px`,
        };
        if (key === OTHERS)
          return (
            <ListButton key={key} listing={listing} class="column-head is-others" style={style}>
              {nameOf(key)} {listing.isOpen ? '▴' : '▾'}
            </ListButton>
          );
        if (key === OUTSIDE)
          return (
            <span key={key} class="column-head" style={style}>
              {nameOf(key)}
            </span>
          );
        const kind = state?.kind === undefined || nameOf(key).startsWith(state.kind) ? undefined : state.kind;
        return (
          <button
            key={key}
            class="column-head"
            aria-pressed={key === chosenActor.value}
            style={style}
            title={state === undefined ? key : wholeName(state)}
            onClick={() => chooseActor(key)}
          >
            <span>{nameOf(key)}</span>
            {kind === undefined ? undefined : <small>{visibleText(kind)}</small>}
          </button>
        );
      })}
    </div>
  );
}

function moveBy(event: KeyboardEvent, { rows }: Sequence, from: number): void {
  const row = rows[rowAfter(event.key, from === -1 ? rows.length : from, rows.length) ?? -1];
  if (row === undefined || !isPlainKey(event)) return;
  event.preventDefault();
  chooseRecord(row.seq);
}
