/** What is looked at, whether it is heard of, and what is missing. */
import type { JSX } from 'preact';
import type { RecordingPhase } from '../model/recording.ts';
import { about, isHelpShown, isInPast, now, openMain, recording, recordingId } from '../model/view.ts';
import { duration } from '../model/words.ts';

export function Header(): JSX.Element {
  const told = about.value;
  const phase = recording.value.phase.value;
  const notes = [...(told?.notes ?? []), ...recording.value.notes.value];
  return (
    <header class="header">
      <h1>Wakechart</h1>
      <span class="subject">{told?.title ?? ''}</span>
      {recordingId.value === '' || told?.kind === 'store' ? undefined : <button type="button" onClick={() => openMain()}>All actors</button>}
      <Standing phase={phase} />
      {notes.length === 0 ? undefined : (
        <details class="notes">
          <summary>{notes.length === 1 ? '1 note' : `${notes.length} notes`}</summary>
          <ul>{notes.map((note) => <li key={note}>{note}</li>)}</ul>
        </details>
      )}
      <button type="button" class="quiet" aria-label="Keys" title="Keys (?)" onClick={() => { isHelpShown.value = true; }}>?</button>
    </header>
  );
}

function Standing({ phase }: { readonly phase: RecordingPhase }): JSX.Element {
  const { name, text } = standingOf(phase);
  return <span class={`standing is-${name}`} role="status">{text}</span>;
}

function standingOf(phase: RecordingPhase): { readonly name: string; readonly text: string } {
  switch (phase.name) {
    case 'loading':
      return { name: 'loading', text: `reading ${recording.value.timeline.length.toLocaleString('en')} records` };
    case 'lost':
      return { name: 'lost', text: `no answer for ${duration(now.value - phase.since)}; what is shown is what was known then` };
    case 'ended':
      return { name: 'ended', text: `${phase.because}. ${phase.hint}` };
    case 'following':
      if (isInPast.value) return { name: 'past', text: 'the past is shown' };
      return about.value?.hasEnded === true ? { name: 'over', text: 'recorded' } : { name: 'live', text: 'live' };
  }
}
