/** What happened in a session, as a conversation: the newest at the end, older ones above when they are asked for. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { InspectedSpeech } from '../../../actors/inspection/inspection-source.ts';
import { isInPast, recording } from '../model/view.ts';
import { visibleLines, visibleText } from '../model/visible-text.ts';
import { counted } from '../model/words.ts';
import { pastEntries } from './past-entries.ts';
import { Section } from './section.tsx';
import type { SessionWatch } from './session-watch.ts';
import type { Entry } from './transcript.ts';
import { TranscriptEntry } from './transcript-entry.tsx';

/** About as many as a screen holds. */
const AT_FIRST = 20;
const EARLIER = 100;
/** More are dropped while the reader does not go back. */
const MAX_SHOWN = 400;
const NEAR_PIXELS = 24;

export function TranscriptSection({ watch }: { readonly watch: SessionWatch }): JSX.Element {
  const entries = pastEntries(watch);
  const { hasEarlier } = watch.log;
  return (
    <Section
      title="Transcript"
      isOpenAtFirst
      aside={hasEarlier ? undefined : counted(entries.length, 'entry', 'entries')}
    >
      {() => <Conversation watch={watch} entries={entries} hasEarlier={hasEarlier} />}
    </Section>
  );
}

interface ConversationProps {
  readonly watch: SessionWatch;
  readonly entries: readonly Entry[];
  /** In the log, besides those that were read. */
  readonly hasEarlier: boolean;
}

function Conversation({ watch, entries, hasEarlier }: ConversationProps): JSX.Element {
  const speech = speechOf(watch);
  const box = useKeptEnd(`${entries.at(-1)?.seq} ${speech?.parts.at(-1)?.text.length}`);
  const [, redraw] = useState(0);
  const from = useRef<number | undefined>(undefined);
  const isReadingBack = useRef(false);
  let shown = entries.filter(({ seq }) => seq >= (from.current ?? Infinity));
  if (shown.length === 0 || (shown.length > MAX_SHOWN && !isReadingBack.current)) {
    shown = entries.slice(-AT_FIRST);
    from.current = shown[0]?.seq;
  }
  const showEarlier = async (): Promise<void> => {
    isReadingBack.current = true;
    if (entries.length - shown.length < EARLIER) await watch.log.readEarlier().catch(() => undefined);
    const all = pastEntries(watch);
    const index = all.findIndex(({ seq }) => seq >= (from.current ?? 0));
    from.current = all[Math.max(0, index - EARLIER)]?.seq;
    redraw((times) => times + 1);
  };
  return (
    <div ref={box} role="region" aria-label="Transcript">
      {entries.length > shown.length || hasEarlier ? (
        <button onClick={() => void showEarlier()}>Earlier</button>
      ) : entries.length === 0 ? (
        <p class="empty">Nothing has happened yet.</p>
      ) : undefined}
      <ol>
        {shown.map((entry) => (
          <TranscriptEntry key={entry.seq} entry={entry} />
        ))}
      </ol>
      {speech === undefined ? undefined : <SaidNow speech={speech} />}
    </div>
  );
}

/** A reader at the end of the pane stays there; a reader elsewhere is not moved. */
function useKeptEnd(last: string): { readonly current: HTMLDivElement | null } {
  const box = useRef<HTMLDivElement>(null);
  const pane = box.current?.closest('.session');
  const isAtEnd =
    pane !== null &&
    pane !== undefined &&
    pane.scrollTop > 0 &&
    pane.scrollTop + pane.clientHeight >= pane.scrollHeight - NEAR_PIXELS;
  useLayoutEffect(() => {
    if (isAtEnd) pane.scrollTop = pane.scrollHeight;
  }, [last]);
  return box;
}

// What is being said in a session, below what its log tells, until that tells it too.

const TITLES = { text: 'Agent', reasoning: 'Reasoning' } as const;
const ENTRIES = { text: 'said', reasoning: 'thought' } as const;

/** Undefined: nothing, or the log has it by now. */
function speechOf({ id, log, session }: SessionWatch): InspectedSpeech | undefined {
  const speech = recording.value.id === id && !isInPast.value ? recording.value.speech.value : undefined;
  if (speech === undefined) return undefined;
  const head = log.steps.value.at(-1)?.seq ?? 0;
  const open = session.value?.state.openToolCalls ?? [];
  const isLogged = speech.loggedAfter !== undefined && head > speech.loggedAfter;
  const parts = isLogged ? [] : speech.parts;
  const calls = speech.calls.filter(({ callId }) => open.some((call) => call.callId === callId));
  return parts.length === 0 && calls.length === 0 ? undefined : { ...speech, parts, calls };
}

function SaidNow({ speech }: { readonly speech: InspectedSpeech }): JSX.Element {
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
