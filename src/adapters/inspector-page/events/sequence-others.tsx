/** The actors that take part in what a sequence diagram shows and have no line of their own in it, to be brought in. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { wholeName } from '../model/actor-names.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, counted } from '../model/words.ts';
import { latestNames } from './latest-names.ts';
import type { OtherActor } from './sequence.ts';

const OTHERS_ID = 'sequence-others';
/** A list that is longer is no help: who searches for one of them finds it among the actors. */
const MOST = 200;

/** The actors that the user has brought in, the latest last. */
export interface SequenceSelection {
  readonly keys: readonly string[];
  readonly bringIn: (key: string) => void;
  readonly leaveOut: (key: string) => void;
}

export function useSequenceSelection(): SequenceSelection {
  const [keys, setKeys] = useState<readonly string[]>([]);
  return {
    keys,
    bringIn: (key) => setKeys([...keys, key]),
    leaveOut: (key) => setKeys(keys.filter((each) => each !== key)),
  };
}

/** Whether the list of the others is shown. */
export interface Listing {
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

export function useListing(): Listing {
  const [isOpen, setOpen] = useState(false);
  return { isOpen, toggle: () => setOpen(!isOpen) };
}

interface ListButtonProps {
  readonly listing: Listing;
  readonly class?: string;
  readonly style?: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
}

export function ListButton({ listing, class: name = 'link', style = {}, children }: ListButtonProps): JSX.Element {
  return (
    <button
      class={name}
      style={style}
      title="The actors that take part and have no line"
      aria-expanded={listing.isOpen}
      aria-controls={OTHERS_ID}
      onClick={listing.toggle}
    >
      {children}
    </button>
  );
}

interface OthersListProps {
  readonly others: readonly OtherActor[];
  readonly selection: SequenceSelection;
}

export function OthersList({ others, selection: { keys, bringIn, leaveOut } }: OthersListProps): JSX.Element {
  return (
    <div id={OTHERS_ID} class="sequence-others" role="region" aria-label="Actors without a line" tabIndex={0}>
      <p class="quiet">
        They take part, and there is no space for their lines. One that you bring in takes the place of another.
      </p>
      <ul>
        {keys.map((key) => (
          <li key={key}>
            <Name of={key} />
            <button onClick={() => leaveOut(key)}>Leave out</button>
          </li>
        ))}
        {others
          .filter(({ key }) => !keys.includes(key))
          .slice(0, MOST)
          .map(({ key, rows }) => (
            <li key={key}>
              <Name of={key} />
              <span class="quiet">{counted(rows, 'line')}</span>
              <button onClick={() => bringIn(key)}>Bring in</button>
            </li>
          ))}
      </ul>
      {others.length > MOST ? <p class="quiet">And {amount(others.length - MOST)} more.</p> : undefined}
    </div>
  );
}

function Name({ of: key }: { readonly of: string }): JSX.Element {
  const names = latestNames.value;
  const state = names.state(key);
  const name = names.of(key);
  const kind = state?.kind === undefined || name.startsWith(state.kind) ? undefined : state.kind;
  return (
    <span class="sequence-other" title={state === undefined ? visibleText(key, 600) : wholeName(state)}>
      <b>{name}</b> {kind === undefined ? undefined : <span class="quiet">{visibleText(kind)}</span>}
    </span>
  );
}
