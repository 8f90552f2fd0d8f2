/**
 * One session: why it waits and what would move it on, the request itself with its answers, and below what happened.
 */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownProcess, ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { failureOf, server } from '../model/transport.ts';
import { about, isInPast, now, openSession } from '../model/view.ts';
import { visibleLines, visibleText } from '../model/visible-text.ts';
import { bytes, counted, duration, wholeTime } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { When } from '../shared/when.tsx';
import { ChangesSection } from './changes-section.tsx';
import { NowStrip, Then } from './past.tsx';
import { RequestCard } from './request-card.tsx';
import './requests.css';
import './session-pane.css';
import './session-parts.css';
import { Reasons } from './session-reasons.tsx';
import type { SessionWatch, Trouble } from './session-watch.ts';
import { takeFocus, watchOf } from './session-watch.ts';
import { SessionCommands } from './session-commands.tsx';
import { SideSection } from './side-section.tsx';
import { TranscriptSection } from './transcript-section.tsx';
import './transcript.css';
import { WakesSection } from './wakes-section.tsx';
import { WorkerLine } from './worker-line.tsx';

// The processes that work for a session, as a tree.

interface ProcessesSectionProps {
  readonly session: ShownSession;
  readonly watch: SessionWatch;
  /** A session at work, or whose process died: what runs is what one wants to see. */
  readonly isOpenAtFirst: boolean;
}

function ProcessesSection({ watch, session, isOpenAtFirst }: ProcessesSectionProps): JSX.Element {
  return (
    <SideSection
      title="Processes"
      watch={watch}
      name="processes"
      isOpenAtFirst={isOpenAtFirst}
      none={
        about.value?.kind === 'log'
          ? 'Processes are not recorded.'
          : session.worker === undefined
            ? 'None is known to work for it.'
            : WORKED_ALONE[session.worker.place]
      }
      above={<WorkerLine session={session} aheadMs={watch.aheadMs} />}
      count={(processes) =>
        counted(countOf(processes) + (session.worker === undefined ? 0 : 1), 'process', 'processes')
      }
    >
      {(processes) => <Branches branches={processes} watch={watch} />}
    </SideSection>
  );
}

const WORKED_ALONE = {
  this: 'It has started no other.',
  here: 'No other is known to work for it.',
  elsewhere: 'Nothing of it runs on this machine.',
} as const;

const STATES = {
  running: { text: 'runs', status: 'running' },
  gone: { text: 'gone', status: 'quiet' },
  unknown: { text: 'not known', status: 'quiet' },
} as const satisfies Record<ShownProcess['state'], unknown>;

function countOf(branches: readonly ShownProcess[]): number {
  return branches.reduce((sum, { children }) => sum + 1 + countOf(children), 0);
}

const HOSTS = {
  this: undefined,
  other: 'started by another process',
  dead: 'left by a process that died',
} as const satisfies Record<ShownProcess['host'], string | undefined>;

/** A command that puts out nothing for as long may hang. */
const SILENT_MS = 10_000;

interface BranchesProps {
  readonly branches: readonly ShownProcess[];
  readonly watch: SessionWatch;
  /** Those below are ended with the one above. */
  readonly isBelow?: boolean;
}

function Branches({ branches, watch, isBelow = false }: BranchesProps): JSX.Element {
  return (
    <ul class="processes">
      {branches.map((process) => {
        const { pid, title, state, host, startedAt, taskId, children } = process;
        return (
          <li key={`${pid} ${taskId ?? ''}`}>
            <p class="process">
              <code class="quiet">{pid}</code>
              <span class={`badge is-${host === 'dead' && state === 'running' ? 'error' : STATES[state].status}`}>
                {STATES[state].text}
              </span>
              <code class="process-title" title={taskId}>
                {visibleText(title, 400)}
              </code>
              <When iso={startedAt} tell={(began) => duration(now.value - began)} />
              {isBelow || state !== 'running' ? undefined : <End watch={watch} process={process} />}
            </p>
            <Uses process={process} />
            {process.output === undefined || process.output.length === 0 ? undefined : (
              <pre class="process-output" aria-label={`What ${pid} put out last`}>
                {visibleLines(process.output.join('\n'), 4_000)}
              </pre>
            )}
            {children.length === 0 ? undefined : <Branches branches={children} watch={watch} isBelow />}
          </li>
        );
      })}
    </ul>
  );
}

/** What it uses, since when it says nothing, and which process started it. */
function Uses({ process }: { readonly process: ShownProcess }): JSX.Element | undefined {
  const { state, host, lastActivityAt, startedAt, limitMs, processorMs, residentBytes, isSuspended } = process;
  const quietMs = now.value - Date.parse(lastActivityAt ?? startedAt ?? '');
  const isTimed = state === 'running' && limitMs !== undefined && startedAt !== undefined;
  const told = [
    ...(isSuspended === true ? ['suspended (stopped)'] : []),
    ...(isTimed ? [`${duration(Date.parse(startedAt) + limitMs - now.value)} left of ${duration(limitMs)}`] : []),
    ...(processorMs === undefined ? [] : [`${duration(processorMs)} of processor`]),
    ...(residentBytes === undefined ? [] : [`${bytes(residentBytes)} of memory`]),
    ...(state === 'running' && quietMs >= SILENT_MS ? [`silent for ${duration(quietMs)}`] : []),
    ...(HOSTS[host] === undefined ? [] : [HOSTS[host]]),
  ];
  return told.length === 0 ? undefined : <p class="process-uses quiet">{told.join(' · ')}</p>;
}

/** Asks once more: what is ended is gone. */
function End({
  watch,
  process,
}: {
  readonly watch: SessionWatch;
  readonly process: ShownProcess;
}): JSX.Element | undefined {
  const [stage, setStage] = useState<'ready' | 'asked' | 'ending' | Trouble>('ready');
  if (about.value?.canAnswer !== true || process.host === 'other') return undefined;
  const end = async (): Promise<void> => {
    setStage('ending');
    try {
      await server.endProcess(watch.id, process.pid);
      await watch.refresh();
      setStage('ready');
    } catch (error) {
      setStage(failureOf(error));
    }
  };
  if (typeof stage === 'object')
    return (
      <span class="process-refused" role="alert">
        {visibleText(`${stage.message}. ${stage.hint}`, 400)}
      </span>
    );
  return stage === 'asked' ? (
    <span>
      <button onClick={() => void end()}>End {process.pid} and all below it</button>{' '}
      <button class="link" onClick={() => setStage('ready')}>
        Leave it
      </button>
    </span>
  ) : (
    <button disabled={stage === 'ending'} onClick={() => setStage('asked')}>
      {stage === 'ending' ? 'Ending …' : 'End …'}
    </button>
  );
}

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
        <Reasons session={session} aheadMs={watch.aheadMs}>
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
