/** All actors. */
import type { JSX } from 'preact';

export function TreePane(): JSX.Element {
  return <div class="TreePane" />;
}
