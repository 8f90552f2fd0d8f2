/**
 * A text from elsewhere, as text: what cannot be seen in it is written out, and of a long one the beginning is shown
 * until more is asked for.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { beginningOf } from '../../../machines/cut-text.ts';
import { visibleLines } from '../model/visible-text.ts';
import { amount } from '../model/words.ts';

const AT_FIRST = 4_000;
/** More in one element makes a browser stumble. */
const AT_MOST = 200_000;

const wholeLines = (text: string): string => visibleLines(text, AT_MOST);

export interface BoundedTextProps {
  readonly text: string;
  readonly class?: string;
  /** In characters, at first. */
  readonly most?: number;
  /** How it is made visible. */
  readonly shownAs?: (text: string) => string;
  readonly isCode?: boolean;
}

export function BoundedText({
  text,
  most = AT_FIRST,
  shownAs = wholeLines,
  isCode = false,
  ...rest
}: BoundedTextProps): JSX.Element {
  const [limit, setLimit] = useState(most);
  const shown = shownAs(text.length <= limit ? text : beginningOf(text, limit));
  const left = text.length - limit;
  return (
    <div class={`text ${rest.class ?? ''}`}>
      {isCode ? (
        <pre>
          <code>{shown}</code>
        </pre>
      ) : (
        <p class="prose">{shown}</p>
      )}
      {left > 0 ? (
        <p class="left-out">
          {amount(left)} more characters{' '}
          {limit < AT_MOST ? (
            <button onClick={() => setLimit(Math.min(AT_MOST, text.length))}>
              Show {text.length > AT_MOST ? `${amount(AT_MOST)} of them` : 'all'}
            </button>
          ) : (
            'are not shown'
          )}
        </p>
      ) : undefined}
    </div>
  );
}
