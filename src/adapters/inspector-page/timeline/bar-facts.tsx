/** What is known of the chosen bar, with the ways from it: to its events, to a session, to a closer view. */
import type { JSX } from 'preact';
import type { SessionBar } from '../../../machines/inspection-log/session-bar.ts';
import { chooseRecord, middleTab, narrowPane, openSession } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { clockTime, duration } from '../model/words.ts';
import { endOf, KINDS, toneOf, toneWord, usedBy, waitedIn, wholeNameOf } from './bar-words.ts';
import type { TimelineView } from './timeline-view.ts';

/** The bars of that session, as they are of this one. */
export function openChild(sessionId: string): void {
  openSession(sessionId);
  middleTab.value = 'timeline';
}

export function BarFacts({ view, bar }: { readonly view: TimelineView; readonly bar: SessionBar }): JSX.Element {
  const moment = view.moment.value;
  const end = endOf(bar, moment);
  const waited = waitedIn(bar, end);
  const tone = toneOf(bar, moment);
  const isOver = bar.to !== undefined || (moment.deadSince !== undefined && end < moment.now);
  const told = [
    `${clockTime(bar.from).slice(0, 12)} – ${isOver ? clockTime(end).slice(0, 12) : 'now'}`,
    duration(end - bar.from),
    ...(waited > 0 ? [`waited ${duration(waited)}`] : []),
    ...(usedBy(bar) === undefined ? [] : [usedBy(bar)]),
  ];
  const { lastEvent, sessionId } = bar;
  return (
    <section class="bar-facts" aria-label="The chosen bar">
      <p>
        <strong>{wholeNameOf(bar)}</strong> <span class={`badge is-${tone}`}>{toneWord(tone)}</span>
      </p>
      <p class="quiet">
        {KINDS[bar.kind].word} · {told.join(' · ')}
      </p>
      {bar.told === undefined ? undefined : <p class="bar-told">{visibleText(bar.told, 400)}</p>}
      <p class="bar-ways">
        <button onClick={() => showRecord(bar.event)}>Its event</button>
        {lastEvent === undefined ? undefined : <button onClick={() => showRecord(lastEvent)}>Its end</button>}
        <button title="Z" onClick={() => view.zoomToBar(bar)}>
          Zoom to it
        </button>
        {sessionId === undefined || sessionId === '' ? undefined : (
          <button title={sessionId} onClick={() => openChild(sessionId)}>
            Open that session
          </button>
        )}
      </p>
    </section>
  );
}

function showRecord(seq: number): void {
  chooseRecord(seq);
  if (narrowPane.value === 'middle') narrowPane.value = 'right';
}
