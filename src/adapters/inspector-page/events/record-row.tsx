/** One record in one line. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { chooseRecord } from '../model/view.ts';
import { clockTime, wholeTime } from '../model/words.ts';
import { RecordIcon } from './record-icon.tsx';
import { recordWords } from './record-words.ts';
import type { ActorNames } from './record-words.ts';

export const ROW_HEIGHT = 26;

export interface RecordRowProps {
  readonly record: InspectionRecord;
  readonly names: ActorNames;
  readonly isChosen: boolean;
  /** It happened after the moment that is shown. */
  readonly isAhead: boolean;
  /** The moment that is shown. */
  readonly isMoment: boolean;
  readonly place: number;
  readonly of: number;
}

export function RecordRow({ record, names, isChosen, isAhead, isMoment, place, of }: RecordRowProps): JSX.Element {
  const { sign, kind, tone, name, rest } = recordWords(record, names);
  // Only the chosen one is read out, and only rows that changed are drawn anew: the list grows many times a second.
  const [setSize, position] = isChosen ? [of, place] : [undefined, undefined];
  return useMemo(() => (
    <div id={rowId(record.s)} role="option" aria-selected={isChosen} aria-setsize={setSize} aria-posinset={position} class={`record is-${tone}${isAhead ? ' is-ahead' : ''}${isMoment ? ' is-moment' : ''}`} title={`${kind}: ${name} ${rest}\nrecord ${record.s}`} onClick={() => chooseRecord(record.s)}>
      <time class="record-time mono">{clockTime(record.t)}</time>
      <RecordIcon sign={sign} />
      <span class="record-text"><span class="sr-only">{kind}: </span><b>{name}</b> <span class="record-rest">{rest}</span></span>
    </div>
  ), [record, name, rest, isChosen, isAhead, isMoment, setSize, position]);
}

export function rowId(seq: number): string {
  return `record-${seq}`;
}

/** A record to jump to. */
export function RecordLink({ record, names }: { readonly record: InspectionRecord; readonly names: ActorNames }): JSX.Element {
  const { sign, kind, name, rest } = recordWords(record, names);
  return (
    <button type="button" class="record-link" title={`${kind}, ${wholeTime(record.t)}, record ${record.s}`} onClick={() => chooseRecord(record.s)}>
      <RecordIcon sign={sign} />
      <span class="record-text"><span class="sr-only">{kind}: </span><b>{name}</b> <span class="record-rest">{rest}</span></span>
    </button>
  );
}
