/** What the sessions that are ticked ask for, the same together, and what else can be done with all of them. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { InspectionAnswer, InspectionCommand } from '../../../actors/inspection/inspection-source.ts';
import { exact } from '../../../machines/exact-text.ts';
import { server } from '../model/transport.ts';
import { about, openSession } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, counted } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { commandLine } from './command-line.ts';
import { askedIn, doWithMany, isManyBusy, manyReceipts, putReceiptsAway } from './many-desk.ts';
import type { Asked, AskedGroup, ManyReceipt } from './many-desk.ts';
import './many-pane.css';
import { NowStrip } from './past.tsx';
import { Asked as AskedFor, TITLES } from './request-card.tsx';
import './requests.css';
import './session-pane.css';
import './session-parts.css';
import { nameOf, shortId } from './session-words.ts';
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
  useEffect(() => {
    let isLeft = false;
    if (!isBusy) void askedIn(tickedSessions.peek()).then((found) => (isLeft ? undefined : setAsked(found)));
    return () => {
      isLeft = true;
    };
  }, [ids, isBusy]);
  const waiting = asked?.groups.reduce((sum, { members }) => sum + members.length, 0) ?? 0;
  return (
    <div class="session many" tabIndex={-1}>
      <header class="session-head">
        <h2>{counted(sessions.length, 'ticked session')}</h2>
        <button class="link" disabled={isBusy} onClick={() => void askedIn(sessions).then(setAsked)}>
          Check again what they ask for
        </button>
      </header>
      <NowStrip what="This is shown" />
      <Receipts receipts={manyReceipts.value} isBusy={isBusy} />
      {sessions.length === 0 ? <p class="empty">Tick sessions in the list: X, or a click on the box.</p> : <Commands />}
      {asked === undefined ? <p class="empty">What they ask for is looked up.</p> : undefined}
      {asked?.unread.map(({ sessionId, name, because }) => (
        <p key={sessionId} class="asked-warning">
          What {visibleText(name, 80)} asks for could not be read: {visibleText(because, 400)}
        </p>
      ))}
      {asked !== undefined && sessions.length > 0 ? (
        <p class="quiet">
          {waiting === 0
            ? 'None of them asks for anything.'
            : `${counted(waiting, 'request')}, ${counted(asked.groups.length, 'kind')} of them. Each is answered by itself.`}
        </p>
      ) : undefined}
      {asked?.groups.map((group) => (
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

/** Those that are shown, and no other that came since. */
function answerAll({ members }: AskedGroup, what: string, answer: (requestId: string) => InspectionAnswer): void {
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

const COMMANDS = {
  wake: { text: 'Wake', asks: '', does: 'Wake' },
  interrupt: { text: 'Interrupt …', asks: 'Cut their turns short, and cancel what they wait for', does: 'Interrupt' },
  terminate: { text: 'Terminate …', asks: 'End them for ever; their logs stay', does: 'Terminate' },
} as const satisfies Record<InspectionCommand['type'], unknown>;

function Commands(): JSX.Element {
  const sessions = tickedSessions.value;
  const isBusy = isManyBusy.value;
  const [asked, setAsked] = useState<'interrupt' | 'terminate'>();
  const [reason, setReason] = useState('');
  const canWake = about.value?.canWake === true;
  const send = (type: InspectionCommand['type']): void => {
    setAsked(undefined);
    const given = reason.trim() === '' ? {} : { reason: reason.trim() };
    const command: InspectionCommand = type === 'wake' ? { type } : { type, ...given };
    void doWithMany(
      sessions.map((session) => ({ sessionId: session.sessionId, name: nameOf(session) })),
      COMMANDS[type].does,
      async ({ sessionId }) => (await server.command(sessionId, command)).text,
    );
  };
  return (
    <div class="many-commands">
      <div class="answer-buttons" role="group" aria-label="What to do with all of them">
        {canWake ? (
          <button aria-disabled={isBusy} title="Those that are parked go on, too" onClick={() => send('wake')}>
            {COMMANDS.wake.text}
          </button>
        ) : undefined}
        {(['interrupt', 'terminate'] as const).map((type) => (
          <button key={type} aria-expanded={asked === type} aria-disabled={isBusy} onClick={() => setAsked(type)}>
            {COMMANDS[type].text}
          </button>
        ))}
      </div>
      {asked === undefined ? undefined : (
        <div class="answer-buttons" role="group" aria-label={COMMANDS[asked].asks}>
          <span>{COMMANDS[asked].asks}:</span>
          <input
            aria-label="Why, for their logs"
            placeholder="Why, for their logs"
            maxLength={MAX_NOTE}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button class="primary" onClick={() => send(asked)}>
            {COMMANDS[asked].does} {counted(sessions.length, 'session')}
          </button>
          <button class="link" onClick={() => setAsked(undefined)}>
            Leave them
          </button>
        </div>
      )}
      {canWake ? undefined : <WakeElsewhere ids={sessions.map(({ sessionId }) => sessionId)} />}
    </div>
  );
}

function WakeElsewhere({ ids }: { readonly ids: readonly string[] }): JSX.Element {
  const lines = ids.map((id) => commandLine(['wake', '--session', id])).join('\n');
  return (
    <p class="quiet">
      Nothing is woken from here. A worker wakes what has something to do; those that are parked go on with{' '}
      <code>{commandLine(['wake', '--session', ids.length === 1 ? (ids[0] ?? '') : 'ID'])}</code>{' '}
      <CopyButton text={lines} what={`the commands that wake ${counted(ids.length, 'session')}`} />
    </p>
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
