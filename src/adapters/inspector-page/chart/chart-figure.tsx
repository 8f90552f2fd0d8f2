/** The chart of an actor: its picture, or a list of its states with the reason why there is no picture. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { leavesOfValue } from '../../../machines/inspection-log/actor-outcome.ts';
import type { InspectedValue } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectedActorState } from '../../../machines/inspection-log/inspection-world.ts';
import type { ChartDescription } from '../../../machines/inspection/chart-description.ts';
import { childrenOf, ROOT } from '../../../machines/inspection/chart-states.ts';
import { reasonOf } from '../model/transport.ts';
import { recording } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { stateText } from '../model/words.ts';
import { PictureView } from './picture-view.tsx';
import { pictureOf } from './pictures.ts';

// The states of a chart as a nested list, with those marked that it is in.

const MAX_DEPTH = 32;

interface StateListProps {
  readonly chart: ChartDescription;
  readonly states: ReadonlySet<string>;
}

function StateList({ chart, states }: StateListProps): JSX.Element {
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

// Which parts of a chart are lit.

/** Every state of the value and those around it, the outermost first. */
export function litStates(value: InspectedValue | undefined): ReadonlySet<string> {
  const lit = new Set<string>();
  for (const leaf of leavesOfValue(value)) {
    const keys = leaf.split('.');
    for (let length = 1; length <= keys.length; length += 1) lit.add(keys.slice(0, length).join('.'));
  }
  return lit;
}

const NOTHING: readonly string[] = [];

export interface ChartFigureProps {
  readonly state: InspectedActorState;
  /** Of the chart, where it was recorded. */
  readonly chart: ChartDescription | undefined;
}

export function ChartFigure({ state, chart }: ChartFigureProps): JSX.Element {
  const { id: recordingId, header } = recording.value;
  const [attempt, setAttempt] = useState(0);
  const { picture, because } = usePicture(chart?.id, recordingId, header?.boot ?? '', attempt);
  // Compared as text: a new object with the same states must not light them anew.
  const states = useMemo(() => litStates(state.value), [stateText(state.value)]);
  const taken = state.lastTransition?.taken ?? NOTHING;
  if (chart === undefined) return <NoChart state={state} />;
  if (picture !== undefined)
    return (
      <PictureView
        picture={picture}
        name={visibleText(chart.id)}
        states={states}
        transitions={taken}
        actor={state.key}
      />
    );
  if (because === undefined)
    return (
      <p class="empty figure" role="status">
        The server draws the chart…
      </p>
    );
  return (
    <div class="figure">
      <p class="empty">
        There is no picture: {because} <button onClick={() => setAttempt(attempt + 1)}>Try again</button>
      </p>
      <StateList chart={chart} states={states} />
    </div>
  );
}

function NoChart({ state: { chart, kind, value } }: { readonly state: InspectedActorState }): JSX.Element {
  if (chart !== undefined) {
    const told = stateText(value);
    return (
      <p class="empty figure">
        Its chart ({visibleText(chart)}) was not recorded
        {told === '' ? ', and neither was its state' : `; it is in ${visibleText(told)}`}. The recording program left it
        out, or it is forgotten.
      </p>
    );
  }
  return (
    <p class="empty figure">
      {kind === undefined ? 'This actor' : visibleText(kind)} has no chart: it is a function or another piece of work,
      which runs and ends. What it said is among the events.
    </p>
  );
}

interface Checked {
  readonly key: string;
  readonly picture?: SVGSVGElement | undefined;
  readonly because?: string | undefined;
}

function usePicture(
  chart: string | undefined,
  recordingId: string,
  boot: string,
  attempt: number,
): Omit<Checked, 'key'> {
  const key = JSON.stringify([chart, recordingId, boot, attempt]);
  const [checked, setChecked] = useState<Checked>({ key: '' });
  useEffect(() => {
    if (chart === undefined) return undefined;
    let isLeft = false;
    const tell = (found: Omit<Checked, 'key'>): void => {
      if (!isLeft) setChecked({ key, ...found });
    };
    pictureOf({ chart, recording: recordingId, boot }).then(
      (picture) => tell({ picture }),
      (error: unknown) => tell({ because: visibleText(reasonOf(error), 600) }),
    );
    return () => {
      isLeft = true;
    };
  }, [key]);
  return checked.key === key ? checked : {};
}
