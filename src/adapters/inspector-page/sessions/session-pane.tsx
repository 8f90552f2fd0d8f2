/**
 * One session: why it waits and what would move it on, the request itself with its answers, and below what happened.
 */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { InspectionCommand } from '../../../actors/inspection/inspection-source.ts';
import type { ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { failureOf, server } from '../model/transport.ts';
import { about, isInPast, openSession } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { wholeTime } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { When } from '../shared/when.tsx';
import { ChangesSection } from './changes-section.tsx';
import { askForSessions } from './known-sessions.ts';
import { NowStrip, Then } from './past.tsx';
import { ProcessesSection } from './processes-section.tsx';
import { RequestCard } from './request-card.tsx';
import './requests.css';
import './session-pane.css';
import './session-parts.css';
import { Reasons } from './session-reasons.tsx';
import type { SessionWatch } from './session-watch.ts';
import { endOfLimit } from './session-words.ts';
import { takeFocus, watchOf } from './session-watch.ts';
import { TranscriptSection } from './transcript-section.tsx';
import './transcript.css';
import { WakesSection } from './wakes-section.tsx';

export function SessionPane({ sessionId }: { readonly sessionId: string }): JSX.Element {
  const watch = watchOf(sessionId);
  useEffect(() => watch.start(), [watch]);
  const session = watch.session.value;
  const trouble = watch.trouble.value;
  const pane = useRef<HTMLDivElement>(null);
  const isKnown = session !== undefined;
  useEffect(() => {
    if (isKnown && takeFocus(sessionId))
      (pane.current?.querySelector<HTMLElement>('.request') ?? pane.current)?.focus();
  }, [isKnown]);
  return (
    <div ref={pane} class="session" tabIndex={-1}>
      {trouble === undefined ? undefined : (
        <div class={session === undefined ? 'session-trouble' : 'session-trouble is-slight'} role="alert">
          <p>
            <strong>
              {session === undefined ? 'This session cannot be shown' : 'This is not up to date'}: {trouble.message}.
            </strong>{' '}
            {trouble.hint}
          </p>
          <button onClick={() => void watch.refresh()}>Try again</button>
        </div>
      )}
      {session === undefined ? (
        trouble === undefined ? (
          <p class="empty">The session is looked up.</p>
        ) : undefined
      ) : (
        <Known watch={watch} session={session} />
      )}
    </div>
  );
}

function Known({ watch, session }: { readonly watch: SessionWatch; readonly session: ShownSession }): JSX.Element {
  const requests = watch.requests.value;
  const isUnreadable = session.state.unreadable !== undefined;
  return (
    <>
      <Head session={session} />
      <Recorded session={session} />
      {isInPast.value ? (
        <Then watch={watch} />
      ) : (
        <Reasons
          session={session}
          aheadMs={watch.aheadMs}
          endsAtMs={endOfLimit(watch.sides.processes.value.value?.processes ?? [])}
        >
          {requests.map((request) => (
            <RequestCard key={request.requestId} watch={watch} session={session} request={request} />
          ))}
          <SessionCommands watch={watch} session={session} />
        </Reasons>
      )}
      {isUnreadable ? undefined : (
        <>
          <NowStrip what="Wakes, changes and processes are shown as they are" />
          <WakesSection session={session} aheadMs={watch.aheadMs} />
          <ChangesSection watch={watch} isOpenAtFirst={session.why.reasons[0]?.kind === 'left'} />
          <ProcessesSection
            watch={watch}
            session={session}
            isOpenAtFirst={session.state.status === 'running' || session.formerWorkers !== undefined}
          />
          <TranscriptSection watch={watch} />
        </>
      )}
    </>
  );
}

/** What is told is not how it stands now. */
function Recorded({ session }: { readonly session: ShownSession }): JSX.Element | undefined {
  if (about.value?.kind !== 'log' || isInPast.value) return undefined;
  return (
    <p class="session-recorded" role="note">
      This is a recording: so it stood at <When iso={new Date(session.at).toISOString()} tell={wholeTime} />. See how it
      stands now with <code>wakechart inspect --session {session.state.sessionId}</code>
    </p>
  );
}

function Head({
  session: {
    state,
    words: { text, status },
    verdict,
  },
}: {
  readonly session: ShownSession;
}): JSX.Element {
  const { sessionId, agentId, title, outcome, parent, children } = state;
  return (
    <header class="session-head">
      <h2>{visibleText(title ?? agentId, 200)}</h2>
      {isInPast.value ? undefined : <span class={`badge is-${status}`}>{text}</span>}
      <p class="session-facts">
        <span>agent {visibleText(agentId, 80)}</span>
        <span>
          <code>{sessionId}</code>
          <CopyButton text={sessionId} what="the id of the session" />
        </span>
        {parent === undefined ? undefined : (
          <button class="link" onClick={() => openSession(parent.sessionId)}>
            the session that it works for
          </button>
        )}
        {children.map(({ sessionId: child, agentId: by, label }) => (
          <button key={child} class="link" title={child} onClick={() => openSession(child)}>
            {visibleText(label ?? by, 40)}, who works for it
          </button>
        ))}
      </p>
      {outcome === undefined ? undefined : (
        <p class="session-aim">
          Goal: {visibleText(outcome.title)}
          {verdict === undefined || isInPast.value ? '' : ` It is ${verdict}.`}
        </p>
      )}
    </header>
  );
}

interface SessionCommandsProps {
  readonly watch: SessionWatch;
  readonly session: ShownSession;
}

interface Told {
  readonly status: 'done' | 'error';
  readonly text: string;
}

/** What can be done with the session that is shown, beside answers: wake it, cut it short, end it. */
function SessionCommands({ watch, session: { state } }: SessionCommandsProps): JSX.Element | undefined {
  const [asked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [told, setTold] = useState<Told>();
  if (about.value?.canAnswer !== true || state.unreadable !== undefined) return undefined;
  const isOver = state.status === 'terminated';
  const can = {
    wake: about.value.canWake === true && state.openWake === undefined && !isOver,
    interrupt: !isOver && (state.openWake !== undefined || state.stopReason === 'requires_action'),
    terminate: !isOver,
  };
  const send = async (command: InspectionCommand): Promise<void> => {
    setAsked(false);
    setBusy(true);
    try {
      setTold({ status: 'done', text: `${(await server.command(watch.id, command)).text}.` });
      await Promise.all([watch.refresh(), askForSessions()]);
    } catch (error) {
      const { message, hint } = failureOf(error);
      setTold({ status: 'error', text: `${message}. ${hint}` });
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="session-commands">
      <div class="answer-buttons" role="group" aria-label="What to do with this session">
        {can.wake ? (
          <button disabled={isBusy} onClick={() => void send({ type: 'wake' })}>
            Wake
          </button>
        ) : undefined}
        {can.interrupt ? (
          <button
            disabled={isBusy}
            title="Cuts its turn short and ends what runs for it; it goes on with the next message"
            onClick={() => void send({ type: 'interrupt' })}
          >
            Interrupt
          </button>
        ) : undefined}
        {can.terminate && !asked ? (
          <button class="link" disabled={isBusy} onClick={() => setAsked(true)}>
            Terminate …
          </button>
        ) : undefined}
      </div>
      {asked ? <Asked onSend={() => void send({ type: 'terminate' })} onLeave={() => setAsked(false)} /> : undefined}
      {told === undefined ? undefined : (
        <p role="status">
          <span class={`badge is-${told.status}`}>{told.status === 'done' ? 'done' : 'refused'}</span>{' '}
          {visibleText(told.text, 500)}
        </p>
      )}
    </div>
  );
}

/** What is ended so is ended for ever. */
function Asked({ onSend, onLeave }: { readonly onSend: () => void; readonly onLeave: () => void }): JSX.Element {
  return (
    <div class="answer-buttons" role="group" aria-label="Whether to terminate it">
      <span>It ends for ever; its log stays.</span>
      <button class="primary" onClick={onSend}>
        Terminate this session
      </button>
      <button class="link" onClick={onLeave}>
        Leave it
      </button>
    </div>
  );
}
