/** The chart of the chosen actor. */
import type { JSX } from 'preact';

export function ChartPane(): JSX.Element {
  return <div class="ChartPane" />;
}
