/** A time in a few words, with the whole of it for a reader who asks. */
import type { JSX } from 'preact';
import { instant, wholeTime } from '../model/words.ts';

export interface WhenProps {
  /** Nothing is shown where it is no time. */
  readonly iso: string | undefined;
  /** @param at in milliseconds since the epoch */
  readonly tell: (at: number) => string;
}

export function When({ iso, tell }: WhenProps): JSX.Element | undefined {
  const at = instant(iso);
  return at === undefined ? undefined : (
    <time dateTime={iso} title={wholeTime(at)}>
      {tell(at)}
    </time>
  );
}
