/** The records as a list, the newest at the bottom, with what is to be known of the chosen one beneath. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useReducer } from 'preact/hooks';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import {
  chooseRecord,
  chosenActor,
  chosenRecord,
  cursor,
  isActorOnly,
  isInPast,
  liveCalls,
  recording,
  recordingId,
} from '../model/view.ts';
import { amount, counted } from '../model/words.ts';
import { isPlainKey, rowAfter } from '../shared/list-keys.ts';
import { VirtualList } from '../shared/virtual-list.tsx';
import { missedIn } from '../model/missed-events.ts';
import type { EventFilter } from './event-filter.ts';
import { isKindFilter, KIND_FILTERS, testOf } from './event-filter.ts';
import type { RecordList } from './filtered-records.ts';
import { FilteredRecords } from './filtered-records.ts';
import { RecordDetail } from './record-detail.tsx';
import { RecordRow, ROW_HEIGHT, rowId } from './record-row.tsx';

// The records that fit, searched for in pieces: after each the page may paint and answer keys.

/** In milliseconds: what may be searched for while something is drawn, and between. */
const AT_ONCE_MS = 2;
const BETWEEN_MS = 10;

interface FoundRecords {
  readonly list: RecordList;
  /** Of all that there are. */
  readonly seen: number;
  readonly all: number;
  readonly isComplete: boolean;
}

/** @param actor key of the one whose records are listed; all where there is none */
function useRecordList(timeline: InspectionTimeline, actor: string | undefined, filter: EventFilter): FoundRecords {
  const [, drawAgain] = useReducer((count: number, _: undefined) => count + 1, 0);
  const { all, found } = useMemo(() => {
    const sequence = timeline.sequence(actor);
    const fits = testOf(filter, (record) => missedIn(record, timeline).length > 0);
    return { all: sequence, found: fits === undefined ? undefined : new FilteredRecords(sequence, fits) };
  }, [timeline, actor, filter.kind, filter.text]);
  const isComplete = found === undefined || found.check(deadline(AT_ONCE_MS));
  useEffect(() => {
    if (isComplete) return undefined;
    const timer = setTimeout(() => {
      found?.check(deadline(BETWEEN_MS));
      drawAgain(undefined);
    }, 0);
    return () => clearTimeout(timer);
  });
  return { list: found ?? all, seen: found?.seen ?? all.length, all: all.length, isComplete };
}

function deadline(forMs: number): () => boolean {
  const until = performance.now() + forMs;
  return () => performance.now() >= until;
}

const filter = signal<EventFilter>({ kind: 'story', text: '' });

export function EventList(): JSX.Element {
  const { timeline } = recording.value.watched;
  const actor = isActorOnly.value ? chosenActor.value : undefined;
  const found = useRecordList(timeline, actor, filter.value);
  const { list } = found;
  const chosen = chosenRecord.value;
  const moment = chosen ?? (cursor.value === 'live' ? undefined : cursor.value);
  const shown = moment === undefined ? -1 : list.indexUpTo(moment);
  const isListed = chosen !== undefined && list.at(shown)?.s === chosen;
  const row = (index: number): JSX.Element | undefined => {
    const record = list.at(index);
    if (record === undefined) return undefined;
    return (
      <RecordRow
        key={record.s}
        record={record}
        place={index + 1}
        of={list.length}
        isChosen={record.s === chosen}
        isAhead={isInPast.value && index > shown}
        isMoment={isInPast.value && index === shown}
      />
    );
  };
  return (
    <>
      <Filters />
      <Found found={found} />
      <VirtualList
        key={`${recordingId.value} ${actor ?? ''} ${filter.value.kind} ${filter.value.text}`}
        role="listbox"
        label="Records"
        count={list.length}
        vanished={list.vanished}
        rowHeight={ROW_HEIGHT}
        row={row}
        staysAtEnd={!isInPast.value && liveCalls.value}
        shown={shown === -1 ? undefined : shown}
        empty={<p class="empty">{emptyText(found)}</p>}
        attributes={{
          tabIndex: 0,
          'aria-activedescendant': isListed ? rowId(chosen) : undefined,
          onKeyDown: (event: KeyboardEvent) => moveBy(event, list, shown),
        }}
      />
      {chosen === undefined ? undefined : <RecordDetail key={chosen} seq={chosen} />}
    </>
  );
}

function Filters(): JSX.Element {
  const { kind, text } = filter.value;
  return (
    <div class="events-filters">
      <select
        aria-label="Which records"
        value={kind}
        onChange={({ currentTarget: { value } }) => {
          if (isKindFilter(value)) filter.value = { ...filter.value, kind: value };
        }}
      >
        {KIND_FILTERS.map((each) => (
          <option key={each.id} value={each.id}>
            {each.text}
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label="Search the records"
        placeholder="Search"
        spellcheck={false}
        maxLength={200}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          filter.value = { ...filter.value, text: value };
        }}
      />
      <label
        class={chosenActor.value === undefined ? 'is-off' : ''}
        title={chosenActor.value === undefined ? 'Choose an actor first' : 'Leave out what other actors do'}
      >
        <input
          type="checkbox"
          checked={isActorOnly.value && chosenActor.value !== undefined}
          disabled={chosenActor.value === undefined}
          onChange={({ currentTarget: { checked } }) => {
            isActorOnly.value = checked;
          }}
        />{' '}
        This actor
      </label>
    </div>
  );
}

function Found({ found: { list, seen, all, isComplete } }: { readonly found: FoundRecords }): JSX.Element {
  const isFiltered = filter.value.kind !== 'all' || filter.value.text.trim() !== '';
  return (
    <p class="events-found" role="status">
      {isFiltered ? `${amount(list.length)} of ${counted(all, 'record')}` : counted(all, 'record')}
      {isComplete ? '' : ` · ${amount(seen)} checked so far, the newest first`}
    </p>
  );
}

function emptyText({ all, isComplete }: FoundRecords): string {
  if (all === 0)
    return isActorOnly.value
      ? 'Nothing was said of this actor yet, or it is no longer remembered.'
      : 'Nothing has happened yet. What happens appears here.';
  return isComplete ? 'No record fits. Choose “All records” or empty the search.' : 'Checking…';
}

function moveBy(event: KeyboardEvent, list: RecordList, shown: number): void {
  const from = shown === -1 ? list.length : shown;
  const to = event.key === 'Enter' ? Math.min(list.length - 1, from) : rowAfter(event.key, from, list.length);
  const record = to === undefined ? undefined : list.at(to);
  if (record === undefined || !isPlainKey(event)) return;
  event.preventDefault();
  chooseRecord(record.s);
}
