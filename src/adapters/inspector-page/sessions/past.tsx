/**
 * What the sessions show while a moment of the past is checked: how one stood then, and which parts are about now.
 */
import type { JSX } from 'preact';
import { goLive, isInPast, world } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { clockTime, stateText } from '../model/words.ts';
import { pastEntries } from './past-entries.ts';
import type { SessionWatch } from './session-watch.ts';

/** @param what shows now, as the beginning of a sentence */
export function NowStrip({ what }: { readonly what: string }): JSX.Element | undefined {
  if (!isInPast.value) return undefined;
  const { moment } = world.value;
  return (
    <p class="asked-warning">
      {what} now, not {moment === undefined ? 'then' : clockTime(moment.t).slice(0, 8)}.{' '}
      <button class="link" onClick={goLive}>
        Return to live
      </button>
    </p>
  );
}

const STOOD: Readonly<Record<string, string>> = {
  'idle.resting': 'It rested',
  'idle.requires_action': 'It waited for a person',
  running: 'A wake ran',
  rescheduling: 'It waited to be tried again',
  terminated: 'It was terminated',
};

export function Then({ watch }: { readonly watch: SessionWatch }): JSX.Element {
  const [root] = world.value.roots({ limit: 1 });
  const state = stateText(root?.value);
  const open = pastEntries(watch).flatMap(({ call }) =>
    call?.state === 'waiting' || call?.state === 'running' ? [call.name] : [],
  );
  return (
    <section class="reasons" aria-label="Why">
      <p class="why-first">
        {root === undefined
          ? 'It was not there yet'
          : `${STOOD[state] ?? state}${open.length === 0 ? '' : `: ${visibleText(open.join(', '), 300)}`}`}
        .
      </p>
    </section>
  );
}
