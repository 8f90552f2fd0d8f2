/** The sign of a record. It stands beside words that say the same, so it is not read out. */
import type { JSX } from 'preact';
import type { RecordSign } from './record-words.ts';

const PATHS: Readonly<Record<RecordSign, string>> = {
  event: 'M1.5 6h9M7 2.5 10.5 6 7 9.5',
  step: 'M6 3a3 3 0 1 0 .01 0z',
  ignored: 'M6 2a4 4 0 1 0 .01 0zM3.2 8.8l5.6-5.6',
  ended: 'M3 3h6v6H3z',
  actor: 'M6 1.5v9M1.5 6h9',
  action: 'M7 1.5 3 6.8h3L5 10.5l4-5.3H6z',
  emit: 'M3 9l6-6M4.5 3H9v4.5',
  timer: 'M6 1.5a4.5 4.5 0 1 0 .01 0zM6 3.5V6l2 1.2',
  cancel: 'M6 1.5a4.5 4.5 0 1 0 .01 0zM4.2 4.2l3.6 3.6M7.8 4.2 4.2 7.8',
  snap: 'M2 4h8v5H2zM4.5 4l1-1.5h1.2L7.5 4',
  error: 'M2.5 2.5l7 7M9.5 2.5l-7 7',
  machine: 'M1.5 2h4v3h-4zM6.5 7h4v3h-4zM3.5 5v3.5h3',
};
const FILLED: ReadonlySet<RecordSign> = new Set(['step', 'ended']);

export function RecordIcon({ sign }: { readonly sign: RecordSign }): JSX.Element {
  return (
    <svg class={`record-icon is-${sign}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" fill={FILLED.has(sign) ? 'currentColor' : 'none'} stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[sign]} />
    </svg>
  );
}
