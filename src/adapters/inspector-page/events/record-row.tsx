/** One record in one line. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import { chooseRecord } from '../model/view.ts';
import { clockTime, wholeTime } from '../model/words.ts';
import { Sign } from '../shared/sign.tsx';
import { latestNames } from './latest-names.ts';
import { exactText, recordWords } from './record-words.ts';
import type { RecordWords } from './record-words.ts';

export const ROW_HEIGHT = 26;

export interface RecordRowProps {
  readonly record: InspectionRecord;
  readonly isChosen: boolean;
  /** It happened after the moment that is shown. */
  readonly isAhead: boolean;
  /** The moment that is shown. */
  readonly isMoment: boolean;
  readonly place: number;
  readonly of: number;
}

export function RecordRow({ record, isChosen, isAhead, isMoment, place, of }: RecordRowProps): JSX.Element {
  const words = recordWords(record, latestNames.value);
  const { kind, tone, name, rest } = words;
  // Only the chosen one is read out, and only rows that changed are drawn anew: the list grows many times a second.
  const [setSize, position] = isChosen ? [of, place] : [undefined, undefined];
  return useMemo(
    () => (
      <div
        id={rowId(record.s)}
        role="option"
        aria-selected={isChosen}
        aria-setsize={setSize}
        aria-posinset={position}
        class={`record is-${tone}${isAhead ? ' is-ahead' : ''}${isMoment ? ' is-moment' : ''}`}
        title={`${kind}: ${name} ${rest}\n${exactText(record)}`}
        onClick={() => chooseRecord(record.s)}
      >
        <time class="record-time mono">{clockTime(record.t)}</time>
        <Said words={words} />
      </div>
    ),
    [record, name, rest, isChosen, isAhead, isMoment, setSize, position],
  );
}

export function rowId(seq: number): string {
  return `record-${seq}`;
}

function Said({ words: { sign, kind, name, rest } }: { readonly words: RecordWords }): JSX.Element {
  return (
    <>
      <Sign of={sign} size={12} />
      <span class="record-text">
        <span class="unseen">{kind}: </span>
        <b>{name}</b> <span class="quiet">{rest}</span>
      </span>
    </>
  );
}

/** A record to jump to. */
export function RecordLink({ record }: { readonly record: InspectionRecord }): JSX.Element {
  const words = recordWords(record, latestNames.value);
  return (
    <button
      class="record-link"
      title={`${words.kind}, ${wholeTime(record.t)}, ${exactText(record)}`}
      onClick={() => chooseRecord(record.s)}
    >
      <Said words={words} />
    </button>
  );
}
