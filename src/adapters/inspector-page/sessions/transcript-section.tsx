/** What happened in a session, as a conversation: the newest at the end, older ones above when they are asked for. */
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted } from '../model/words.ts';
import { Section } from './section.tsx';
import type { SessionWatch } from './session-watch.ts';
import { transcriptOf } from './transcript.ts';
import type { Entry } from './transcript.ts';
import { TranscriptEntry } from './transcript-entry.tsx';

const AT_FIRST = 100;
/** More are let go of while nobody looks back. */
const MAX_AT_END = 400;

export function TranscriptSection({ watch }: { readonly watch: SessionWatch }): JSX.Element {
  const events = watch.log.events.value;
  const entries = useMemo(() => transcriptOf(events), [events]);
  const { hasEarlier } = watch.log;
  return (
    <Section title="Transcript" isOpenAtFirst aside={hasEarlier ? undefined : counted(entries.length, 'entry', 'entries')}>
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
  const [from, setFrom] = useState<number>();
  const place = useKeptPlace(entries.at(-1)?.seq, entries.find(({ seq }) => seq >= (from ?? 0))?.seq);
  const first = place.isAtEnd.current && (from === undefined || entries.filter(({ seq }) => seq >= from).length > MAX_AT_END) ? entries.at(-AT_FIRST)?.seq : from;
  const shown = first === undefined ? entries : entries.filter(({ seq }) => seq >= first);
  const hidden = entries.length - shown.length;
  const showEarlier = async (): Promise<void> => {
    place.isAtEnd.current = false;
    const before = hidden >= AT_FIRST ? entries : await earlierOf(watch);
    const index = before.findIndex(({ seq }) => seq === shown[0]?.seq);
    setFrom(before[Math.max(0, index - AT_FIRST)]?.seq ?? first);
  };
  return (
    <div ref={place.box} class="transcript" role="region" aria-label="Transcript" tabIndex={0} onScroll={place.look}>
      {hidden > 0 || hasEarlier ? <button type="button" class="earlier" onClick={() => void showEarlier()}>Earlier</button> : undefined}
      {entries.length === 0 ? <p class="empty">Nothing has happened yet.</p> : undefined}
      <ol>{shown.map((entry) => <TranscriptEntry key={entry.seq} entry={entry} />)}</ol>
    </div>
  );
}

async function earlierOf(watch: SessionWatch): Promise<readonly Entry[]> {
  await watch.log.readEarlier().catch(() => undefined);
  return transcriptOf(watch.log.events.value);
}

/** Whoever is at the end stays there; whoever reads elsewhere is not moved, whatever comes at either end. */
function useKeptPlace(last: number | undefined, first: number | undefined): { readonly box: { current: HTMLDivElement | null }; readonly isAtEnd: { current: boolean }; readonly look: () => void } {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const was = useRef({ top: 0, height: 0, first });
  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    const NEAR_PIXELS = 24;
    isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - NEAR_PIXELS;
    was.current = { top: element.scrollTop, height: element.scrollHeight, first: was.current.first };
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    else if (first !== was.current.first) element.scrollTop = was.current.top + element.scrollHeight - was.current.height;
    was.current = { top: element.scrollTop, height: element.scrollHeight, first };
  }, [last, first]);
  return { box, isAtEnd, look };
}
