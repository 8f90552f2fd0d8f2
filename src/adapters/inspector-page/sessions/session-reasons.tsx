/** Why a session does what it does, since when and until when, and who can move it on, with the commands. */
import type { JSX } from 'preact';
import type { InspectedSession } from '../../../actors/inspection/inspection-source.ts';
import type { Reason } from '../../../machines/session/why.ts';
import type { Mover } from '../../../machines/session/why-movers.ts';
import { visibleText } from '../model/visible-text.ts';
import { now, openSession } from '../model/view.ts';
import { duration, instant, wholeTime } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { commandLine } from './command-line.ts';

const MAX_CHARACTERS = 1_200;
/** Larger letters would take half of the pane. */
const LONG_CHARACTERS = 140;

export interface ReasonsProps {
  readonly session: InspectedSession;
  /** The request itself is shown below, with buttons: commands step back. */
  readonly isBesideRequest: boolean;
  readonly aheadMs: number;
}

export function Reasons({ session, isBesideRequest, aheadMs }: ReasonsProps): JSX.Element {
  const [first, ...others] = session.why.reasons;
  return (
    <section class="reasons" aria-label="Why">
      {first === undefined ? undefined : <Why reason={first} isFirst isBesideRequest={isBesideRequest} aheadMs={aheadMs} />}
      {others.length === 0 ? undefined : <ul>{others.map((reason, index) => <li key={`${reason.kind} ${reason.requestId ?? index}`}><Why reason={reason} isFirst={false} isBesideRequest aheadMs={aheadMs} /></li>)}</ul>}
    </section>
  );
}

interface WhyProps {
  readonly reason: Reason;
  readonly isFirst: boolean;
  readonly isBesideRequest: boolean;
  readonly aheadMs: number;
}

function Why({ reason, isFirst, isBesideRequest, aheadMs }: WhyProps): JSX.Element {
  const { text, childSessionId, movers } = reason;
  // The request says itself why it asks.
  const told = visibleText(isBesideRequest ? text.replace(/^(It waits for permission to run [^(]+?) \(.*\)\.$/s, '$1.') : text, MAX_CHARACTERS);
  return (
    <div class="why">
      <p class={isFirst ? (told.length > LONG_CHARACTERS ? 'why-first is-long' : 'why-first') : ''}>{told}</p>
      <Times reason={reason} aheadMs={aheadMs} />
      {childSessionId === undefined ? undefined : <button type="button" onClick={() => openSession(childSessionId)}>Open the session that it waits for</button>}
      {movers.length === 0 ? undefined : (
        <details class="movers" open={isFirst && !isBesideRequest}>
          <summary>{isBesideRequest ? 'Who else can move it on, and by which command' : 'Who can move it on'}</summary>
          <ul>{movers.map((mover) => <MoverLine key={mover.does} mover={mover} />)}</ul>
        </details>
      )}
    </div>
  );
}

function Times({ reason: { since, until }, aheadMs }: { readonly reason: Reason; readonly aheadMs: number }): JSX.Element | undefined {
  const from = instant(since);
  const to = instant(until);
  if (from === undefined && to === undefined) return undefined;
  const time = now.value + aheadMs;
  return (
    <p class="why-times">
      {from === undefined ? undefined : <span>since <time dateTime={since} title={wholeTime(from)}>{duration(time - from)}</time></span>}
      {to === undefined ? undefined : <span><time dateTime={until} title={wholeTime(to)}>{to > time ? `${duration(to - time)} left, until ${wholeTime(to)}` : `was due ${duration(time - to)} ago`}</time></span>}
    </p>
  );
}

const WHO = { person: 'Somebody', worker: 'A worker', child: 'The other agent', time: 'Time', runtime: 'The process that runs it' } as const satisfies Record<Mover['who'], string>;

function MoverLine({ mover: { who, does, command } }: { readonly mover: Mover }): JSX.Element {
  const line = command === undefined ? undefined : commandLine(command);
  return (
    <li>
      <span>{WHO[who]} {visibleText(does)}</span>
      {line === undefined ? undefined : <span class="command"><code>{visibleText(line, 2_000)}</code><CopyButton text={line} what={`the command that ${does}`} /></span>}
    </li>
  );
}
