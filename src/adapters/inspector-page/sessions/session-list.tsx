/** The sessions of the home. */
import type { JSX } from 'preact';

export function SessionList(): JSX.Element {
  return <div class="SessionList" />;
}
