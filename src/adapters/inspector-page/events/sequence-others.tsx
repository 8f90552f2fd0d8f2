/** The actors that take part in what a sequence diagram shows and have no line of their own in it, to be brought in. */
import type { JSX } from 'preact';
import { wholeName } from '../model/actor-names.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, counted } from '../model/words.ts';
import { latestNames } from './latest-names.ts';
import type { OtherActor } from './sequence.ts';

export const OTHERS_ID = 'sequence-others';
/** A list that is longer is no help: who searches for one of them finds it among the actors. */
const MOST = 200;

interface OthersListProps {
  readonly others: readonly OtherActor[];
  /** Those that the user has brought in. */
  readonly broughtIn: readonly string[];
  readonly onBringIn: (key: string) => void;
  readonly onLeaveOut: (key: string) => void;
}

export function OthersList({ others, broughtIn, onBringIn, onLeaveOut }: OthersListProps): JSX.Element {
  return (
    <div id={OTHERS_ID} class="sequence-others" role="region" aria-label="Actors without a line" tabIndex={0}>
      <p class="quiet">
        They take part, and there is no room for their lines. One that you bring in takes the place of another.
      </p>
      <ul>
        {broughtIn.map((key) => (
          <li key={key}>
            <Name of={key} />
            <button onClick={() => onLeaveOut(key)}>Leave out</button>
          </li>
        ))}
        {others
          .filter(({ key }) => !broughtIn.includes(key))
          .slice(0, MOST)
          .map(({ key, rows }) => (
            <li key={key}>
              <Name of={key} />
              <span class="quiet">{counted(rows, 'line')}</span>
              <button onClick={() => onBringIn(key)}>Bring in</button>
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
