/** What can be done with all the sessions that are ticked, beside what they ask for. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InspectionCommand } from '../../../actors/inspection/inspection-source.ts';
import type { ShownSummary } from '../../../actors/inspection/shown-answers.ts';
import { server } from '../model/transport.ts';
import { about, openSession } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { counted } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { commandLine } from './command-line.ts';
import { doWithMany, isManyBusy } from './many-sessions.ts';
import { nameOf, shortId } from './session-words.ts';
import { tickedSessions } from './ticked.ts';

const MAX_REASON = 2_000;

const COMMANDS = {
  wake: { text: 'Wake', asks: '', does: 'Wake' },
  interrupt: { text: 'Interrupt …', asks: 'Cut their turns short, and cancel what they wait for', does: 'Interrupt' },
  terminate: { text: 'Terminate …', asks: 'End them for ever; their logs stay', does: 'Terminate' },
} as const satisfies Record<InspectionCommand['type'], unknown>;

export function Commands(): JSX.Element {
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
            maxLength={MAX_REASON}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button class="primary" onClick={() => send(asked)}>
            {COMMANDS[asked].does} {counted(sessions.length, 'session')}
          </button>
          <button class="link" onClick={() => setAsked(undefined)}>
            Leave them
          </button>
          <Named sessions={sessions} />
        </div>
      )}
      {canWake ? undefined : <WakeElsewhere ids={sessions.map(({ sessionId }) => sessionId)} />}
    </div>
  );
}

/** All of them: the filter of the list may hide some. */
function Named({ sessions }: { readonly sessions: readonly ShownSummary[] }): JSX.Element {
  return (
    <ul class="many-members" aria-label="The sessions that it is done with">
      {sessions.map((session) => (
        <li key={session.sessionId}>
          <button class="link" title={session.sessionId} onClick={() => openSession(session.sessionId)}>
            {visibleText(nameOf(session), 60)}
          </button>{' '}
          <span class="quiet">{shortId(session.sessionId)}</span>
        </li>
      ))}
    </ul>
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
