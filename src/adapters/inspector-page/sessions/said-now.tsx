/** What is being said in a session, below what its log tells, until that tells it too. */
import type { JSX } from 'preact';
import type { InspectedSpeech } from '../../../actors/inspection/inspection-source.ts';
import { visibleLines, visibleText } from '../model/visible-text.ts';
import { isInPast, recording } from '../model/view.ts';
import type { SessionWatch } from './session-watch.ts';

const TITLES = { text: 'Agent', reasoning: 'Reasoning' } as const;
const ENTRIES = { text: 'said', reasoning: 'thought' } as const;

/** Undefined: nothing, or the log has it by now. */
export function speechOf({ id, log, session }: SessionWatch): InspectedSpeech | undefined {
  const speech = recording.value.id === id && !isInPast.value ? recording.value.speech.value : undefined;
  if (speech === undefined) return undefined;
  const head = log.steps.value.at(-1)?.seq ?? 0;
  const open = session.value?.state.openToolCalls ?? [];
  const isLogged = speech.loggedAfter !== undefined && head > speech.loggedAfter;
  const parts = isLogged ? [] : speech.parts;
  const calls = speech.calls.filter(({ callId }) => open.some((call) => call.callId === callId));
  return parts.length === 0 && calls.length === 0 ? undefined : { ...speech, parts, calls };
}

export function SaidNow({ speech }: { readonly speech: InspectedSpeech }): JSX.Element {
  const { parts, isCut, calls } = speech;
  return (
    <ol role="group" aria-label="Being said now" class="said-now">
      {parts.map(({ kind, text }, index) => (
        <li key={index} class={`entry is-${ENTRIES[kind]}`}>
          <span class="entry-time">now</span>
          <div class="entry-body">
            <p class="entry-title">
              {TITLES[kind]} <span class="badge is-running">{index === parts.length - 1 ? 'speaks' : 'said'}</span>
            </p>
            {isCut && index === 0 ? <p class="left-out">What came before is told when the step ends.</p> : undefined}
            <div class="text">
              <p class="prose">{visibleLines(text)}</p>
            </div>
          </div>
        </li>
      ))}
      {calls.map(({ callId, text }) => (
        <li key={callId} class="entry is-call">
          <span class="entry-time">now</span>
          <div class="entry-body">
            <p class="entry-title">{visibleText(text, 300)}</p>
          </div>
        </li>
      ))}
    </ol>
  );
}
