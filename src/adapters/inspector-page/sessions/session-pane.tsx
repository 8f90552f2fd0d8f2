/** One session. */
import type { JSX } from 'preact';

export function SessionPane({ sessionId }: { readonly sessionId: string }): JSX.Element {
  return <div class="session">{sessionId}</div>;
}
