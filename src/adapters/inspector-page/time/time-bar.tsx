/** Time. */
import type { JSX } from 'preact';

export function TimeBar(): JSX.Element {
  return <div class="TimeBar" />;
}
