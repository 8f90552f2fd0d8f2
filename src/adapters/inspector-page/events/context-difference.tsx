/** What a step changed in the context. */
import type { JSX } from 'preact';
import { visibleText } from '../model/visible-text.ts';
import type { ContextChange } from './context-change.ts';

const MOST = 160;

/** @param changes undefined: the context before it is not known */
export function ContextDifference({
  changes,
}: {
  readonly changes: readonly ContextChange[] | undefined;
}): JSX.Element {
  return (
    <section class="context-change" aria-label="Context change">
      <h3>Context change</h3>
      {changes === undefined ? (
        <p class="quiet">No context was recorded before this one, so there is nothing to compare it with.</p>
      ) : undefined}
      {changes?.length === 0 ? <p class="quiet">Nothing that was recorded is different.</p> : undefined}
      {changes === undefined || changes.length === 0 ? undefined : (
        <ul class="mono">
          {changes.map(({ path, kind, before, after }) => (
            <li key={path} class={`is-${kind}`}>
              <span class="context-path">{path === '' ? 'context' : visibleText(path)}</span>
              <span class="unseen"> {kind}: </span>
              {kind === 'added' ? undefined : <del>{short(before)}</del>}
              {kind === 'changed' ? ' → ' : ' '}
              {kind === 'removed' ? undefined : <ins>{short(after)}</ins>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function short(value: unknown): string {
  return visibleText(typeof value === 'string' ? `“${value}”` : (JSON.stringify(value) ?? 'undefined'), MOST);
}
