/** Which process wakes a session, where, and how it is ended where that is not here. */
import type { JSX } from 'preact';
import type { ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { visibleText } from '../model/visible-text.ts';
import { now } from '../model/view.ts';
import { bytes, clockTime, duration, instant } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { When } from '../shared/when.tsx';
import { commandLine } from './command-line.ts';

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
  const { worker, formerWorkers = [] } = session;
  if (worker === undefined && formerWorkers.length === 0) return undefined;
  return (
    <div class="worker-line">
      {worker === undefined ? undefined : <Waker worker={worker} session={session} aheadMs={aheadMs} isTold={isTold} />}
      {formerWorkers.map((each) => (
        <Former key={each.pid} former={each} why={session.why} />
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
  const [isLost, isDead] = fateOf(why);
  const told = [
    PLACES[place],
    ...(ago(since) === undefined ? [] : [`${isDead ? 'began' : 'for'} ${ago(since)}${isDead ? ' ago' : ''}`]),
    ...(ago(heardAt) === undefined ? [] : [`last heard of ${ago(heardAt)} ago`]),
    ...(until === undefined || until > time ? [] : [`silent to the store for ${duration(time - until)}`]),
    ...(processorMs === undefined ? [] : [`${duration(processorMs)} of processor`]),
    ...(residentBytes === undefined ? [] : [`${bytes(residentBytes)} of memory`]),
  ];
  return (
    <>
      <p class="process">
        <code class="process-title">{visibleText(owner, 200)}</code>
        <span class={`badge is-${isDead || isSuspended === true ? 'error' : 'running'}`}>
          {isLost
            ? 'lives, and its wake was lost'
            : isDead
              ? 'died'
              : isSuspended === true
                ? 'wakes it, and is suspended'
                : 'wakes it'}
        </span>
      </p>
      <p class="process-uses quiet">{told.join(' · ')}</p>
      {worker.commandLine === undefined ? undefined : <OwnCommand line={worker.commandLine} />}
      {isSuspended === true && pid !== undefined ? <Resumption pid={pid} why={why} /> : undefined}
      {place !== 'elsewhere' || isDead || isTold ? undefined : (
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

/** Whether its wake was lost, and whether it wakes the session no more, for that or since it died. */
function fateOf({ reasons }: ShownSession['why']): readonly [boolean, boolean] {
  const isLost = reasons.some(({ kind }) => kind === 'lost');
  return [isLost, isLost || reasons.some(({ kind }) => kind === 'dead')];
}

function OwnCommand({ line }: { readonly line: string }): JSX.Element {
  return (
    <p class="process-uses quiet">
      <code>{visibleText(line, 300)}</code>
    </p>
  );
}

const FORMER = {
  running: { text: 'woke it before, and lives', status: 'quiet' },
  suspended: { text: 'woke it before, and is suspended', status: 'error' },
  gone: { text: 'woke it before, and is gone', status: 'quiet' },
} as const satisfies Record<FormerWorker['state'], unknown>;

type FormerWorker = NonNullable<ShownSession['formerWorkers']>[number];

interface FormerProps {
  readonly former: FormerWorker;
  readonly why: ShownSession['why'];
}

function Former({ former: { host, pid, state, since }, why }: FormerProps): JSX.Element {
  return (
    <>
      <p class="process">
        <code class="process-title">{visibleText(`${host}:${pid}`, 200)}</code>
        <span class={`badge is-${FORMER[state].status}`}>{FORMER[state].text}</span>
        <When iso={since} tell={(began) => `its last wake began at ${clockTime(began).slice(0, 8)}`} />
      </p>
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
