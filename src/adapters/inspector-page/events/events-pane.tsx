/** What has happened. */
import type { JSX } from 'preact';

export function EventsPane(): JSX.Element {
  return <div class="EventsPane" />;
}
