/** Which process wakes a session, where, and how it is ended where that is not here. */
import type { JSX } from 'preact';
import type { ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { visibleText } from '../model/visible-text.ts';
import { now } from '../model/view.ts';
import { bytes, clockTime, duration, instant } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { When } from '../shared/when.tsx';
import { commandLine } from './command-line.ts';
import { formerWords, wakerWords } from './worker-words.ts';

const PLACES = {
  this: 'the process that shows this page',
  here: 'another process of this machine',
  elsewhere: 'on another machine',
} as const;

interface WorkerLineProps {
  readonly session: ShownSession;
  readonly aheadMs: number;
  /** The process itself has told what it runs. */
  readonly isTold: boolean;
}

export function WorkerLine({ session, aheadMs, isTold }: WorkerLineProps): JSX.Element | undefined {
  const { worker, formerWorkers = [], usage } = session;
  const lost = new Set(usage.wakes.flatMap(({ outcome, startedAt }) => (outcome === 'lost' ? [startedAt] : [])));
  if (worker === undefined && formerWorkers.length === 0) return undefined;
  return (
    <div class="worker-line">
      {worker === undefined ? undefined : <Waker worker={worker} session={session} aheadMs={aheadMs} isTold={isTold} />}
      {formerWorkers.map((each) => (
        <Former key={each.pid} former={each} isLost={lost.has(each.since)} why={session.why} />
      ))}
    </div>
  );
}

interface WakerProps extends WorkerLineProps {
  readonly worker: NonNullable<ShownSession['worker']>;
}

function Waker({ worker, session: { state, why }, aheadMs, isTold }: WakerProps): JSX.Element {
  const { owner, place, host, pid, since, heardAt, aliveUntil, processorMs, residentBytes, isSuspended } = worker;
  const time = now.value + aheadMs;
  const ago = (iso: string | undefined): string | undefined => {
    const at = instant(iso);
    return at === undefined ? undefined : duration(Math.max(0, time - at));
  };
  const until = instant(aliveUntil);
  const { words, isOver } = wakerWords(worker, why);
  const told = [
    PLACES[place],
    ...(ago(since) === undefined ? [] : [isOver ? `began ${ago(since)} ago` : `for ${ago(since)}`]),
    ...(ago(heardAt) === undefined ? [] : [`last heard of ${ago(heardAt)} ago`]),
    ...(until === undefined || until > time ? [] : [`silent to the store for ${duration(time - until)}`]),
    ...(processorMs === undefined ? [] : [`${duration(processorMs)} of processor`]),
    ...(residentBytes === undefined ? [] : [`${bytes(residentBytes)} of memory`]),
  ];
  return (
    <>
      <p class="process">
        <code class="process-title">{visibleText(owner, 200)}</code>
        <span class={`badge is-${words.status}`}>{visibleText(words.text, 250)}</span>
      </p>
      <p class="process-uses quiet">{told.join(' · ')}</p>
      {worker.commandLine === undefined ? undefined : <OwnCommand line={worker.commandLine} />}
      {isSuspended === true && pid !== undefined ? <Resumption pid={pid} why={why} /> : undefined}
      {place !== 'elsewhere' || isOver || isTold ? undefined : (
        <>
          <p>
            What runs for it is on {host === undefined ? 'that machine' : <strong>{visibleText(host, 120)}</strong>},
            and is seen and ended there only:
          </p>
          <Command
            line={commandLine(['inspect', '--session', state.sessionId], 'elsewhere')}
            what="the command that shows it there"
          />
          {pid === undefined ? undefined : (
            <p class="quiet">
              The process itself: <code>kill {pid}</code>, on that machine. Another worker then goes on with the
              session.
            </p>
          )}
          <p>From here its turn can be cut short:</p>
          <Command
            line={commandLine(['session', 'interrupt', '--session', state.sessionId])}
            what="the command that interrupts it"
          />
        </>
      )}
    </>
  );
}

export function OwnCommand({ line }: { readonly line: string }): JSX.Element {
  return (
    <p class="process-uses quiet">
      <code>{visibleText(line, 300)}</code>
    </p>
  );
}

interface FormerProps {
  readonly former: NonNullable<ShownSession['formerWorkers']>[number];
  /** Its last wake was lost: another took it. */
  readonly isLost: boolean;
  readonly why: ShownSession['why'];
}

function Former({ former: { host, pid, state, since, commandLine: line }, isLost, why }: FormerProps): JSX.Element {
  const words = formerWords(state, isLost);
  return (
    <>
      <p class="process">
        <code class="process-title">{visibleText(`${host}:${pid}`, 200)}</code>
        <span class={`badge is-${words.status}`}>{words.text}</span>
        <When iso={since} tell={(began) => `its last wake began at ${clockTime(began).slice(0, 8)}`} />
      </p>
      {line === undefined ? undefined : <OwnCommand line={line} />}
      {state === 'suspended' ? <Resumption pid={pid} why={why} /> : undefined}
    </>
  );
}

interface ResumptionProps {
  readonly pid: number;
  readonly why: ShownSession['why'];
}

/** It is to be ended only where that is said to move the session on. */
function Resumption({ pid, why: { reasons } }: ResumptionProps): JSX.Element {
  const end = `kill -KILL ${pid}`;
  const isToEnd = reasons.some(({ movers }) => movers.some(({ program }) => program?.join(' ') === end));
  return (
    <>
      <p class="quiet">It was stopped. It goes on{isToEnd ? ', or is ended,' : ''} with:</p>
      <Command line={`kill -CONT ${pid}`} what="the command that lets it go on" />
      {isToEnd ? <Command line={end} what="the command that ends it" /> : undefined}
    </>
  );
}

function Command({ line, what }: { readonly line: string; readonly what: string }): JSX.Element {
  return (
    <p class="command">
      <code>{line}</code>
      <CopyButton text={line} what={what} />
    </p>
  );
}
