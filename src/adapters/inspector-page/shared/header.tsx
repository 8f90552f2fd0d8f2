/** What is checked, whether it is heard of, which moment of it is shown, and what is missing. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { actorName } from '../model/actor-names.ts';
import type { RecordingPhase } from '../model/recording.ts';
import { slowSince } from '../model/server-watch.ts';
import { about, goLive, isHelpShown, isInPast, now, openMain, recording, recordingId, world } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, clockTime, counted, duration, wholeTime } from '../model/words.ts';
import './header.css';

const MOST_OF_TITLE = 120;

export function Header(): JSX.Element {
  const told = about.value;
  const phase = recording.value.phase.value;
  return (
    <header class={`header${isInPast.value ? ' is-past' : ''}`}>
      <h1>Wakechart</h1>
      <Subject />
      {recordingId.value === '' || told?.kind === 'store' ? undefined : (
        <button onClick={() => openMain()}>All actors</button>
      )}
      <div class="header-end">
        {isInPast.value ? <Past /> : undefined}
        <PhaseBadge phase={phase} />
        <Notes notes={[...(told?.notes ?? []), ...recording.value.notes.value]} />
        <button
          class="quiet"
          aria-label="Keys"
          title="Keys (?)"
          onClick={() => {
            isHelpShown.value = true;
          }}
        >
          ?
        </button>
      </div>
    </header>
  );
}

function Subject(): JSX.Element {
  const title = visibleText(about.value?.title ?? '', MOST_OF_TITLE);
  const [root] = recordingId.value === '' ? [] : world.value.roots({ limit: 1 });
  const session = recordingId.value === '' ? '' : root === undefined ? 'a session' : actorName(root);
  const text = [title, session].filter((part) => part !== '').join(' › ');
  return (
    <span
      class="subject"
      title={recordingId.value === '' ? title : `${title}\nsession ${visibleText(recordingId.value, MOST_OF_TITLE)}`}
    >
      {text}
    </span>
  );
}

function Past(): JSX.Element {
  const { moment } = world.value;
  return (
    <div
      class="past"
      role="status"
      title={moment === undefined ? undefined : `${wholeTime(moment.t)}, record ${amount(moment.s)}`}
    >
      <span>
        {moment === undefined ? (
          'Before the first record'
        ) : (
          <>
            <span class="ago">The past: </span>
            <strong class="mono">{clockTime(moment.t)}</strong>
            <span class="ago">, {duration(now.value - moment.t)} ago</span>
          </>
        )}
      </span>
      <button class="primary" onClick={goLive}>
        {about.value?.hasEnded === true || about.value?.kind === 'log' ? 'To the end' : 'Back to live'}
      </button>
    </div>
  );
}

function Notes({ notes }: { readonly notes: readonly string[] }): JSX.Element | undefined {
  const box = useRef<HTMLDetailsElement>(null);
  // It covers what is beneath it: Escape closes it, and a press anywhere else.
  useEffect(() => {
    const left = new AbortController();
    const close = (event: Event): void => {
      const { current } = box;
      if (current?.open !== true) return;
      if (event instanceof KeyboardEvent ? event.key !== 'Escape' : event.composedPath().includes(current)) return;
      if (event instanceof KeyboardEvent) event.stopPropagation();
      current.open = false;
    };
    for (const type of ['keydown', 'pointerdown'])
      document.addEventListener(type, close, { capture: true, signal: left.signal });
    return () => left.abort();
  }, []);
  if (notes.length === 0) return undefined;
  return (
    <details class="notes" ref={box}>
      <summary>{counted(notes.length, 'note')}</summary>
      <ul>
        {notes.map((note) => (
          <li key={note}>{visibleText(note, 500)}</li>
        ))}
      </ul>
    </details>
  );
}

function PhaseBadge({ phase }: { readonly phase: RecordingPhase }): JSX.Element | undefined {
  const { name, text, hint } = badgeOf(phase);
  if (text === '') return undefined;
  return (
    <span class={`phase-badge is-${name}`} role="status" title={hint ?? text}>
      {text}
    </span>
  );
}

interface BadgeText {
  readonly name: string;
  readonly text: string;
  readonly hint?: string;
}

function badgeOf(phase: RecordingPhase): BadgeText {
  const slow = slowSince.value;
  switch (phase.name) {
    case 'loading':
      // Read with every update, so that it counts.
      return { name: 'loading', text: `reading, ${counted(recording.value.watched.timeline.length, 'record')} so far` };
    case 'lost':
      return {
        name: 'lost',
        text: `no answer for ${duration(now.value - phase.since)}`,
        hint: 'The inspector does not answer. What is shown is what was known then; it is asked again by itself.',
      };
    case 'ended':
      return { name: 'ended', text: phase.because, hint: `${phase.because}. ${phase.hint}` };
    case 'following':
      if (slow !== undefined)
        return {
          name: 'lost',
          text: `slow, no answer for ${duration(now.value - slow)}`,
          hint: 'The inspector was asked and has not answered yet. What is shown may be old.',
        };
      if (about.value?.hasEnded === true) return { name: 'over', text: isInPast.value ? '' : 'ended' };
      if (about.value?.kind === 'log')
        return {
          name: 'over',
          text: isInPast.value ? '' : 'recorded',
          hint: 'What is added to the recording is shown. Times are as of its last record.',
        };
      return { name: 'live', text: isInPast.value ? '' : 'live' };
  }
}
