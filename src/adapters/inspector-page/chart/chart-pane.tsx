/** The chosen actor: its chart with what is active, what it is, and what can happen to it. */
import { leavesOfValue } from '../../../machines/inspection-log/actor-outcome.ts';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { InspectedActorState } from '../../../machines/inspection-log/inspection-world.ts';
import { chartOutlook } from '../../../machines/inspection/chart-outlook.ts';
import { keyName } from '../model/actor-names.ts';
import { actor, chooseRecord, chosenActor, recording, world } from '../model/view.ts';
import { stateText } from '../model/words.ts';
import { ActorFacts, ActorHead } from './actor-head.tsx';
import { ChartFigure } from './chart-figure.tsx';
import { Outlook } from './outlook.tsx';
import { runningTimers } from './timers.ts';
import './chart.css';

const MOST_IN_FLIGHT = 1_000;

export function ChartPane(): JSX.Element {
  const key = chosenActor.value;
  const state = actor.value;
  if (state !== undefined) return <Shown state={state} />;
  return key === undefined ? (
    <p class="empty">Choose an actor to see its chart, where it is in it, and what can happen next.</p>
  ) : (
    <Absent actor={key} />
  );
}

/** It is not there at this moment, or not any more, or not yet. */
function Absent({ actor: key }: { readonly actor: string }): JSX.Element {
  const { timeline } = recording.value.watched;
  const first = timeline.sequence(key).at(0);
  return (
    <div class="empty">
      <p>
        {first === undefined
          ? `Nothing is known of ${keyName(key)}: it is of another recording, or it was forgotten.`
          : `${keyName(key)} was not there yet at this moment.`}
      </p>
      {first === undefined ? undefined : (
        <button onClick={() => chooseRecord(first.s)}>Go to where it is first heard of</button>
      )}
    </div>
  );
}

function Shown({ state }: { readonly state: InspectedActorState }): JSX.Element {
  const { timeline } = recording.value.watched;
  const { key, value, status } = state;
  const chart = state.chart === undefined ? undefined : timeline.chart(state.chart);
  const outlook = useMemo(
    () => (chart === undefined ? undefined : chartOutlook(chart, leavesOfValue(value))),
    [chart, stateText(value)],
  );
  const isOver = status !== 'active';
  const timers = isOver ? [] : runningTimers(timeline.sequence(key), world.value.moment?.s ?? 0);
  const waiting = isOver
    ? []
    : world.value
        .inFlight(MOST_IN_FLIGHT)
        .filter((record) => record.k === 'event')
        .filter(({ a }) => a === key);
  return (
    <div class="chart-pane">
      <ActorHead state={state} states={outlook?.states ?? []} />
      <ChartFigure state={state} chart={chart} />
      <div class="outlook" role="region" aria-label="What can happen" tabIndex={0}>
        {outlook === undefined ? undefined : (
          <Outlook outlook={outlook} timers={timers} waiting={waiting} isOver={isOver} />
        )}
        <ActorFacts state={state} />
      </div>
    </div>
  );
}
