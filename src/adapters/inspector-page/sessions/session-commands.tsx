/** What can be done with the session that is shown, beside answers: wake it, cut it short, end it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { InspectionCommand } from '../../../actors/inspection/inspection-source.ts';
import type { ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { failureOf, server } from '../model/transport.ts';
import { about } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { askForSessions } from './known-sessions.ts';
import type { SessionWatch } from './session-watch.ts';

export interface SessionCommandsProps {
  readonly watch: SessionWatch;
  readonly session: ShownSession;
}

interface Told {
  readonly status: 'done' | 'error';
  readonly text: string;
}

export function SessionCommands({ watch, session: { state } }: SessionCommandsProps): JSX.Element | undefined {
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
