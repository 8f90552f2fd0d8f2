/** Something that is code, or to be read like it, in a box of its own that is scrolled where it is long. */
import type { JSX } from 'preact';
import { BoundedText } from '../shared/bounded-text.tsx';

export interface CodeBoxProps {
  readonly label: string;
  readonly text: string;
  readonly shownAs?: (text: string) => string;
  readonly most?: number;
}

/** What is to be judged has to be there to its end. */
const AT_FIRST = 40_000;

export function CodeBox({ label, text, shownAs, most = AT_FIRST }: CodeBoxProps): JSX.Element {
  const lines = text.split('\n').length;
  return (
    <div class="code-box">
      <small class="code-label">
        {label}
        {lines > 12 ? `, ${lines} lines` : ''}
      </small>
      <div class="code-scroll" role="group" tabIndex={0} aria-label={label}>
        <BoundedText isCode text={text} most={most} {...(shownAs === undefined ? {} : { shownAs })} />
      </div>
    </div>
  );
}
