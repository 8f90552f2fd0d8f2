/** What the sessions that are ticked ask for, the same together, and what else can be done with all of them. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { InspectionAnswer } from '../../../actors/inspection/inspection-source.ts';
import { exact } from '../../../machines/exact-text.ts';
import { server } from '../model/transport.ts';
import { openSession } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, counted } from '../model/words.ts';
import { Commands } from './many-commands.tsx';
import { askedIn, doWithMany, groupsIn, isManyBusy, manyReceipts, putReceiptsAway } from './many-sessions.ts';
import type { Asked, AskedGroup, ManyReceipt } from './many-sessions.ts';
import './many-pane.css';
import { NowStrip } from './past.tsx';
import { Asked as AskedFor, TITLES } from './request-card.tsx';
import './requests.css';
import './session-pane.css';
import './session-parts.css';
import { shortId } from './session-words.ts';
import './transcript.css';
import { tickedSessions } from './ticked.ts';

const MAX_NOTE = 2_000;
const MAX_ANSWER = 256_000;

export function ManyPane(): JSX.Element {
  const sessions = tickedSessions.value;
  const isBusy = isManyBusy.value;
  const [asked, setAsked] = useState<Asked>();
  // Only then: what a person is about to answer stays in its place.
  const ids = sessions.map(({ sessionId }) => sessionId).join(' ');
  const newest = useRef(0);
  // What was asked before and comes later is dropped.
  const ask = (): void => {
    const number = (newest.current += 1);
    void askedIn(tickedSessions.peek()).then((found) => (number === newest.current ? setAsked(found) : undefined));
  };
  useEffect(() => {
    if (!isBusy) ask();
    return () => {
      newest.current += 1;
    };
  }, [ids, isBusy]);
  const groups = groupsIn(asked?.groups ?? [], sessions);
  const waiting = groups.reduce((sum, { members }) => sum + members.length, 0);
  return (
    <div class="session many" tabIndex={-1}>
      <header class="session-head">
        <h2>{counted(sessions.length, 'ticked session')}</h2>
        <button class="link" disabled={isBusy} onClick={ask}>
          Check again what they ask for
        </button>
      </header>
      <NowStrip what="This is shown" />
      <Receipts receipts={manyReceipts.value} isBusy={isBusy} />
      {sessions.length === 0 ? <p class="empty">Tick sessions in the list: X, or a click on the box.</p> : <Commands />}
      {asked === undefined ? <p class="empty">What they ask for is being read.</p> : undefined}
      {asked?.unread.map(({ sessionId, name, because }) => (
        <p key={sessionId} class="asked-warning">
          What {visibleText(name, 80)} asks for could not be read: {visibleText(because, 400)}
        </p>
      ))}
      {asked !== undefined && sessions.length > 0 ? (
        <p class="quiet">
          {waiting === 0
            ? 'None of them asks for anything.'
            : `${counted(waiting, 'request')}, ${counted(groups.length, 'kind')} of them. Each is answered by itself.`}
        </p>
      ) : undefined}
      {groups.map((group) => (
        <Group key={group.key} group={group} isBusy={isBusy} />
      ))}
    </div>
  );
}

function Group({ group, isBusy }: { readonly group: AskedGroup; readonly isBusy: boolean }): JSX.Element {
  const { request, members } = group;
  const { kind, toolName } = request;
  const label = `${TITLES[kind]}: ${toolName}, ${counted(members.length, 'session')}`;
  return (
    <section class="request" aria-label={label}>
      <header>
        <h3>{TITLES[kind]}</h3>
        <code class="request-tool">{exact(toolName)}</code>
        <span class="badge">{counted(members.length, 'session')}</span>
      </header>
      {/* Each is allowed this once: what more would allow is no matter here. */}
      <AskedFor request={{ ...request, rules: [] }} />
      <ul class="many-members">
        {members.map(({ sessionId, name, folder, request: { requestId } }) => (
          <li key={requestId}>
            <button class="link" title={sessionId} onClick={() => openSession(sessionId)}>
              {visibleText(name, 60)}
            </button>{' '}
            <span class="quiet">{shortId(sessionId)}</span>
            {folder === undefined ? undefined : (
              <>
                {' '}
                in the folder <code>{exact(folder)}</code>
              </>
            )}
          </li>
        ))}
      </ul>
      {kind === 'permission' ? <Permit group={group} isBusy={isBusy} /> : <Answer group={group} isBusy={isBusy} />}
    </section>
  );
}

interface GroupProps {
  readonly group: AskedGroup;
  readonly isBusy: boolean;
}

/** Those that are shown and ticked, and no other that came since. */
function answerAll(group: AskedGroup, what: string, answer: (requestId: string) => InspectionAnswer): void {
  const members = groupsIn([group], tickedSessions.peek())[0]?.members ?? [];
  if (members.length === 0) return;
  void doWithMany(members, what, async ({ sessionId, request: { requestId } }) => {
    const { seq } = await server.answer(sessionId, answer(requestId));
    return `Stored as event ${seq}`;
  });
}

function Permit({ group, isBusy }: GroupProps): JSX.Element {
  const { request, members } = group;
  const [note, setNote] = useState('');
  const given = note.trim() === '' ? {} : { note: note.trim() };
  const all = members.length === 1 ? 'it' : `all ${amount(members.length)}`;
  return (
    <>
      <div class="answer-buttons">
        {request.isPartial === true ? (
          <p class="quiet">Not all of it is shown here: open each to allow it.</p>
        ) : (
          <button
            class="primary"
            aria-disabled={isBusy}
            onClick={() => answerAll(group, 'Allow once', (requestId) => ({ type: 'allow', requestId, ...given }))}
          >
            Allow {all} once
          </button>
        )}
        <button
          aria-disabled={isBusy}
          onClick={() => answerAll(group, 'Deny', (requestId) => ({ type: 'deny', requestId, ...given }))}
        >
          Deny {all}
        </button>
      </div>
      <input
        aria-label="A note for the agents, with either"
        placeholder="A note for the agents, with either"
        maxLength={MAX_NOTE}
        value={note}
        onInput={(event) => setNote(event.currentTarget.value)}
      />
    </>
  );
}

function Answer({ group, isBusy }: GroupProps): JSX.Element {
  const [text, setText] = useState('');
  const { kind, choices } = group.request;
  const label =
    kind === 'answer' ? 'Your answer to all of them' : 'The result of the tool for all of them, as JSON or text';
  const send = (given: string): void =>
    given.trim() === ''
      ? undefined
      : answerAll(group, 'Answer', (requestId) => ({ type: 'answer', requestId, text: given }));
  return (
    <>
      {choices.length === 0 ? undefined : (
        <div class="answer-buttons" role="group" aria-label="Choices">
          {choices.map((choice) => (
            <button key={choice} aria-disabled={isBusy} onClick={() => send(choice)}>
              {visibleText(choice)}
            </button>
          ))}
        </div>
      )}
      <textarea
        aria-label={label}
        placeholder={label}
        rows={2}
        maxLength={MAX_ANSWER}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="answer-buttons">
        <button class="primary" aria-disabled={isBusy || text.trim() === ''} onClick={() => send(text)}>
          Answer all {amount(group.members.length)}
        </button>
      </div>
    </>
  );
}

const BADGES = { sending: 'quiet', done: 'done', refused: 'error' } as const;
const STATES = { sending: 'is sent', done: 'done', refused: 'refused' } as const;

function Receipts({
  receipts,
  isBusy,
}: {
  readonly receipts: readonly ManyReceipt[];
  readonly isBusy: boolean;
}): JSX.Element | undefined {
  if (receipts.length === 0) return undefined;
  const count = (state: ManyReceipt['state']): number => receipts.filter((receipt) => receipt.state === state).length;
  const refused = count('refused');
  return (
    <section class="many-receipts" aria-label="What became of it">
      <p role="status">
        <strong>{receipts[0]?.what}:</strong> {amount(count('done'))} of {amount(receipts.length)} done
        {refused === 0 ? '' : `, ${amount(refused)} refused`}
        {isBusy ? ' …' : '.'}
      </p>
      <ul>
        {receipts.map(({ sessionId, name, state, text }, index) => (
          <li key={`${sessionId} ${index}`}>
            <span class={`badge is-${BADGES[state]}`}>{STATES[state]}</span>{' '}
            <button class="link" title={sessionId} onClick={() => openSession(sessionId)}>
              {visibleText(name, 60)}
            </button>{' '}
            <span class="quiet">{shortId(sessionId)}</span> {visibleText(text, 500)}
          </li>
        ))}
      </ul>
      <button class="quiet" disabled={isBusy} onClick={putReceiptsAway}>
        Put away
      </button>
    </section>
  );
}
