/** Why a session does what it does, since when and until when, and who can move it on, with the commands. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ShownMover, ShownReason, ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { visibleText } from '../model/visible-text.ts';
import { now, openSession } from '../model/view.ts';
import { duration, left, wholeTime } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { When } from '../shared/when.tsx';
import { commandLine, shellLine } from './command-line.ts';
import { quietText, silentMs, usualText } from './session-words.ts';

const ISO = /\d{4}-\d\d-\d\dT[\d:.]+Z/;
const MAX_CHARACTERS = 1_200;
/** Larger letters would take half of the pane. */
const LONG_CHARACTERS = 140;

export interface ReasonsProps {
  readonly session: ShownSession;
  readonly aheadMs: number;
  /** When the first of its commands reaches its limit, in milliseconds since the epoch. Absent: none has one. */
  readonly endsAtMs: number | undefined;
  /** Requests, and what became of them: beneath the first reason. */
  readonly children: ComponentChildren;
}

export function Reasons({
  session: { why, pendingActions, lastActivityAt, usualMs, isStuck, state },
  aheadMs,
  endsAtMs,
  children,
}: ReasonsProps): JSX.Element {
  const [first, ...others] = why.reasons;
  const hasRequest = pendingActions.length > 0;
  const silent =
    state.openWake === undefined || first?.kind === 'dead'
      ? undefined
      : silentMs({ lastActivityAt, isStuck, updatedAt: state.updatedAt }, now.value + aheadMs);
  return (
    <section class="reasons" aria-label="Why">
      {first === undefined ? undefined : <Why reason={first} isFirst aheadMs={aheadMs} />}
      {silent === undefined &&
      state.openWake !== undefined &&
      first?.kind !== 'dead' &&
      lastActivityAt !== undefined ? (
        <p class="why-quiet quiet">{quietText(now.value + aheadMs, { lastActivityAt, endsAtMs })}</p>
      ) : undefined}
      {silent === undefined ? undefined : (
        <p class="why-silent">
          It has been silent for {duration(silent)}
          {usualText({ usualMs })}: neither its log nor what its command puts out has grown.
          {endsAtMs === undefined
            ? ''
            : ` ${duration(Math.max(0, endsAtMs - now.value - aheadMs))} are left of its limit.`}
        </p>
      )}
      {children}
      {first === undefined ? undefined : <Movers movers={first.movers} isOpenAtFirst={!hasRequest} />}
      {others.length === 0 ? undefined : (
        <ul>
          {others.map((reason, index) => (
            <li key={`${reason.kind} ${reason.requestId ?? index}`}>
              <Why reason={reason} isFirst={false} aheadMs={aheadMs} />
              <Movers movers={reason.movers} isOpenAtFirst={false} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface WhyProps {
  readonly reason: ShownReason;
  readonly isFirst: boolean;
  readonly aheadMs: number;
}

function Why({ reason, isFirst, aheadMs }: WhyProps): JSX.Element {
  const { text, childSessionId } = reason;
  const told = visibleText(text, MAX_CHARACTERS);
  return (
    <div class="why">
      <p class={isFirst ? (told.length > LONG_CHARACTERS ? 'why-first is-long' : 'why-first') : ''}>{told}</p>
      <Times since={reason.since} until={reason.requestId === undefined ? reason.until : undefined} aheadMs={aheadMs} />
      {childSessionId === undefined ? undefined : (
        <button onClick={() => openSession(childSessionId)}>Open the session that it waits for</button>
      )}
    </div>
  );
}

/** It stays as it was left, whatever comes. */
function Movers({
  movers,
  isOpenAtFirst,
}: {
  readonly movers: readonly ShownMover[];
  readonly isOpenAtFirst: boolean;
}): JSX.Element | undefined {
  const [isOpen] = useState(isOpenAtFirst);
  if (movers.length === 0) return undefined;
  return (
    <details class="movers" open={isOpen}>
      <summary class="quiet">Who can move it on, and by which command</summary>
      <ul>
        {movers.map((mover) => (
          <MoverLine key={mover.does} mover={mover} />
        ))}
      </ul>
    </details>
  );
}

function Times({
  since,
  until,
  aheadMs,
}: Pick<ShownReason, 'since' | 'until'> & { readonly aheadMs: number }): JSX.Element | undefined {
  if (since === undefined && until === undefined) return undefined;
  const time = now.value + aheadMs;
  return (
    <p class="why-times">
      <When iso={since} tell={(from) => `since ${duration(time - from)}`} />
      <When
        iso={until}
        tell={(to) =>
          to > time ? `until ${wholeTime(to)}, in ${left(to - time)}` : `was due ${duration(time - to)} ago`
        }
      />
    </p>
  );
}

function MoverLine({ mover: { text, does, command, program } }: { readonly mover: ShownMover }): JSX.Element {
  const line = program !== undefined ? shellLine(program) : command === undefined ? undefined : commandLine(command);
  return (
    <li>
      <span>{visibleText(text.replace(ISO, (iso) => wholeTime(Date.parse(iso))))}</span>
      {line === undefined ? undefined : (
        <span class="command">
          <code>{visibleText(line, 2_000)}</code>
          <CopyButton text={line} what={`the command that ${does}`} />
        </span>
      )}
    </li>
  );
}
