/** The states of a chart as a nested list, with those marked that it is in. */
import type { JSX } from 'preact';
import type { ChartDescription } from '../../../machines/inspection/chart-description.ts';
import { ROOT, childrenOf } from '../../../machines/inspection/chart-states.ts';
import { visibleText } from '../model/visible-text.ts';

const MAX_DEPTH = 32;

export interface StateListProps {
  readonly chart: ChartDescription;
  readonly states: ReadonlySet<string>;
}

export function StateList({ chart, states }: StateListProps): JSX.Element {
  return (
    <div class="state-list" role="region" aria-label={`States of ${visibleText(chart.id)}`} tabIndex={0}>
      <Level chart={chart} states={states} of={ROOT} depth={0} />
    </div>
  );
}

function Level({
  chart,
  states,
  of,
  depth,
}: StateListProps & { readonly of: string; readonly depth: number }): JSX.Element | undefined {
  const children = childrenOf(chart, of);
  if (children.length === 0 || depth >= MAX_DEPTH) return undefined;
  return (
    <ul>
      {children.map(({ id, key, description }) => (
        <li key={id}>
          {states.has(id) ? <b class="is-in">{visibleText(key)}</b> : <span>{visibleText(key)}</span>}
          {states.has(id) ? <span class="badge is-running">active</span> : undefined}
          {description === undefined ? undefined : <span class="quiet"> {visibleText(description)}</span>}
          <Level chart={chart} states={states} of={id} depth={depth + 1} />
        </li>
      ))}
    </ul>
  );
}
