/** What is shown of the actors: search, filters, and whether those that are over are hidden. */
import type { JSX } from 'preact';
import { amount } from '../model/words.ts';
import { counts, filter, hide, isHiding, isListing, searched } from './tree-view.ts';
import type { ActorFilter } from './tree-view.ts';

const FILTERS: readonly { readonly id: ActorFilter; readonly text: string }[] = [
  { id: 'all', text: 'All' },
  { id: 'active', text: 'Active' },
  { id: 'failed', text: 'Failed' },
  { id: 'over', text: 'Over' },
];

function press(event: KeyboardEvent): void {
  if (event.key === 'Escape') {
    searched.value = '';
    event.preventDefault();
  } else if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
  else event.preventDefault();
  (event.currentTarget as HTMLElement).closest('.tree-pane')?.querySelector<HTMLElement>('.tree')?.focus();
}

export function TreeTools(): JSX.Element {
  const { all, over } = counts.value;
  return (
    <div class="tree-tools">
      <h2 class="pane-title">Actors</h2>
      <span
        class="number span-name"
        title="What lives: how long it has been in its state. What is over: how long it took, from first to last."
      >
        in state, or took
      </span>
      <input
        type="search"
        data-search=""
        aria-label="Search the actors"
        placeholder="Search actors   /"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={searched.value}
        onInput={(event) => {
          searched.value = event.currentTarget.value;
        }}
        onKeyDown={press}
      />
      <div class="filters" role="group" aria-label="Which actors are listed">
        {FILTERS.map(({ id, text }) => (
          <button
            key={id}
            aria-pressed={filter.value === id}
            onClick={() => {
              filter.value = id;
            }}
          >
            {text}{' '}
            <span class={id === 'failed' && counts.value.failed > 0 ? 'number is-bad' : 'number'}>
              {shortAmount(counts.value[id])}
            </span>
          </button>
        ))}
      </div>
      <label class="hiding" hidden={isListing.value || all === 0}>
        <input type="checkbox" checked={isHiding.value} onChange={(event) => hide(event.currentTarget.checked)} />
        Hide what is over
        {isHiding.value && over > 0 ? <span class="number">{amount(over)} hidden</span> : undefined}
      </label>
    </div>
  );
}

function shortAmount(count: number): string {
  return count < 10_000
    ? amount(count)
    : count < 1_000_000
      ? `${Math.floor(count / 1_000)}k`
      : `${(count / 1_000_000).toFixed(1)}M`;
}
