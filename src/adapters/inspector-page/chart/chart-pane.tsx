/** The chosen actor: its chart with what is active, what it is, and what can happen to it. */
import { leavesOfValue } from '../../../machines/inspection-log/actor-outcome.ts';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { InspectedActorState } from '../../../machines/inspection-log/inspection-world.ts';
import type { OutlookState } from '../../../machines/inspection/chart-outlook.ts';
import { chartOutlook } from '../../../machines/inspection/chart-outlook.ts';
import { actorName, keyName, wholeName } from '../model/actor-names.ts';
import { badExit, TONE_WORDS, toneOf } from '../model/outcomes.ts';
import { spanOf, waitedMs } from '../model/spans.ts';
import {
  about,
  actor,
  chooseActor,
  chooseRecord,
  chosenActor,
  chosenSession,
  middleTab,
  openSession,
  recording,
  recordingId,
  shownTime,
  world,
} from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { duration, stateText, wholeTime } from '../model/words.ts';
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

// What the chosen actor is, and where it is.

const MOST_OF_NAME = 200;

interface ActorHeadProps {
  readonly state: InspectedActorState;
  readonly states: readonly OutlookState[];
}

function ActorHead({ state, states }: ActorHeadProps): JSX.Element {
  const { status, since, value, facts, error } = state;
  const name = actorName(state, MOST_OF_NAME);
  const kind = facts?.['callId'] === undefined ? state.kind : (facts['name'] ?? state.kind);
  const exit = badExit(facts);
  const tone = toneOf(state);
  const says = states.at(-1)?.says;
  return (
    <header class="actor-head">
      <div class="actor-title">
        <h2 title={wholeName(state)}>{name}</h2>
        {kind === undefined || name.startsWith(kind) ? undefined : <span class="quiet">{visibleText(kind)}</span>}
        <span class={`badge is-${tone}`}>{exit ?? (status === 'error' ? 'broken' : TONE_WORDS[tone])}</span>
        <SessionLink state={state} />
      </div>
      <p>
        {value === undefined ? undefined : <b class="mono">{visibleText(stateText(value))}</b>}{' '}
        <button
          class="link quiet"
          title={`${wholeTime(since.t)}: show the record ${since.s} in which it came to this`}
          onClick={() => chooseRecord(since.s)}
        >
          {status === 'active' ? 'for ' : 'took '}
          {spanOf(state, shownTime.value)}
          {status === 'active' ? '' : pastText(state)}
        </button>
        {says === undefined ? undefined : <span class="quiet"> {visibleText(says)}</span>}
      </p>
      {error === undefined ? undefined : (
        <p class="actor-error" role="note">
          {visibleText(error.message, 2_000)}
          {error.code === undefined ? '' : ` [${visibleText(error.code)}]`}
        </p>
      )}
    </header>
  );
}

function pastText({ key, since }: InspectedActorState): string {
  const waited = waitedMs(recording.value.timeline.sequence(key), since);
  return `${waited < 1 ? '' : ` (waited ${duration(waited)})`}, ${duration(shownTime.value - since.t)} ago`;
}

/** More is known of sessions than their records say. */
function SessionLink({ state: { facts } }: { readonly state: InspectedActorState }): JSX.Element | undefined {
  const sessionId = facts?.['sessionId'];
  if (sessionId === undefined || about.value?.hasSessions !== true) return undefined;
  const open = (): void => {
    if (chosenSession.value === sessionId && recordingId.value === sessionId) middleTab.value = 'session';
    else openSession(sessionId);
  };
  return (
    <button class="link" title={visibleText(sessionId)} onClick={open}>
      Open the session
    </button>
  );
}

/** All that was told of it. */
function ActorFacts({
  state: { key, id, kind, parent, chart, facts, childCount },
}: {
  readonly state: InspectedActorState;
}): JSX.Element {
  const above = parent === undefined ? undefined : world.value.actor(parent);
  const told: readonly (readonly [string, string])[] = [
    ['id', id],
    ...(kind === undefined ? [] : [['kind', kind] as const]),
    ...(chart === undefined || chart === kind ? [] : [['chart', chart] as const]),
    ...Object.entries(facts ?? {}),
    ['key', key],
  ];
  return (
    <section class="outlook-part" aria-label="What it is">
      <h3>What it is</h3>
      <dl class="facts">
        {parent === undefined ? undefined : (
          <div>
            <dt>part of</dt>
            <dd>
              <button class="link" title={visibleText(parent, 600)} onClick={() => chooseActor(parent)}>
                {above === undefined ? visibleText(parent) : actorName(above)}
              </button>
            </dd>
          </div>
        )}
        {told.map(([name, fact]) => (
          <div key={name}>
            <dt>{visibleText(name)}</dt>
            <dd title={visibleText(fact, 600)}>{visibleText(fact)}</dd>
          </div>
        ))}
        {childCount === 0 ? undefined : (
          <div>
            <dt>children</dt>
            <dd>{childCount}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}
