/** Records as text, in portions that leave the event loop to others. */
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';

/** A portion ends when it has so many characters; one record may be longer. */
const PORTION_CHARACTERS = 64 * 1024;

export interface Portion {
  /** One JSON text for each record. */
  readonly texts: readonly string[];
  /** The number of the last one. */
  readonly last: number;
}

/** The records from number `from` to `to`, in portions. Nothing for what the page has beside them. */
export function* portionsOf(
  page: readonly InspectionRecord[],
  { from, to }: { readonly from: number; readonly to: number },
): Generator<Portion> {
  let texts: string[] = [];
  let characters = 0;
  let last = from - 1;
  for (const record of page) {
    if (record.s <= last || record.s > to) continue;
    const text = textOf(record);
    texts.push(text);
    characters += text.length;
    last = record.s;
    if (characters < PORTION_CHARACTERS) continue;
    yield { texts, last };
    texts = [];
    characters = 0;
  }
  if (texts.length > 0) yield { texts, last };
}

/**
 * Of one that cannot be written its number and time stay, under a kind that readers do not know, so that they count it
 * and miss nothing else.
 */
function textOf(record: InspectionRecord): string {
  try {
    return JSON.stringify(record);
  } catch {
    return JSON.stringify({ k: 'unwritable', s: record.s, t: record.t, a: record.a });
  }
}
