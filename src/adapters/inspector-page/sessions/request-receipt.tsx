/** What became of a request: the receipt of the answer that was given here, or what another person or process did. */
import type { JSX } from 'preact';
import type { InspectionAnswer } from '../../../actors/inspection/inspection-source.ts';
import type { ShownRequest, ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { visibleText } from '../model/visible-text.ts';
import { now } from '../model/view.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { commandLine } from './command-line.ts';
import { answerStateOf } from './given-answers.ts';
import type { GivenAnswer } from './given-answers.ts';
import type { SessionWatch } from './session-watch.ts';
import { outcomeOf } from './transcript.ts';

/** A worker needs as long to begin. */
const A_MOMENT_MS = 2_000;

export interface ReceiptProps {
  readonly watch: SessionWatch;
  readonly session: ShownSession;
  readonly request: ShownRequest;
}

export function Receipt({ watch, session, request: { requestId } }: ReceiptProps): JSX.Element {
  const { given, draft } = answerStateOf(requestId);
  const stored = given.value?.name === 'stored' ? given.value : undefined;
  return (
    <div class="receipt">
      <div role="status">
        {stored === undefined ? (
          <Elsewhere watch={watch} requestId={requestId} given={given.value} />
        ) : (
          <p>
            <strong>{wordsOfAnswer(stored.answer)}.</strong> Stored as event {stored.seq};{' '}
            <GoesOn session={session} stored={stored} />
          </p>
        )}
      </div>
      {stored === undefined && draft.value.trim() !== '' ? (
        <label>
          What you were writing
          <textarea rows={2} readOnly value={draft.value} />
        </label>
      ) : undefined}
      <button class="quiet" aria-label="Put away what became of this request" onClick={() => watch.dismiss(requestId)}>
        Put away
      </button>
    </div>
  );
}

function Elsewhere({
  watch,
  requestId,
  given,
}: {
  readonly watch: SessionWatch;
  readonly requestId: string;
  readonly given: GivenAnswer | undefined;
}): JSX.Element {
  const settled = outcomeOf(watch.log.steps.value, requestId);
  return (
    <p>
      {given?.name === 'refused' ? (
        <>
          <strong>Your answer was not taken: {visibleText(given.message, 500)}.</strong>{' '}
        </>
      ) : (
        <strong>Answered elsewhere. </strong>
      )}
      {visibleText(settled?.outcome ?? 'It needs no answer any more.', 600)}
      {settled === undefined ? '' : ` (event ${settled.seq})`}
    </p>
  );
}

function wordsOfAnswer(answer: InspectionAnswer): string {
  if (answer.type === 'deny') return 'You denied it';
  if (answer.type === 'answer') return 'You answered';
  return {
    once: 'You allowed it this once',
    session: 'You allowed it for the session',
    always: 'You allowed it always',
  }[answer.scope ?? 'once'];
}

function GoesOn({
  session: { state },
  stored: { seq, atMs },
}: {
  readonly session: ShownSession;
  readonly stored: Extract<GivenAnswer, { readonly name: 'stored' }>;
}): JSX.Element {
  if (state.openWake !== undefined) return <>the session goes on.</>;
  const isUnread = state.head < seq || state.pending.some((each) => each.seq === seq);
  if (!isUnread) return <>the session has gone on with it.</>;
  if (state.pendingActions.length > 0) return <>the session goes on when what else it waits for is answered.</>;
  if (now.value - atMs < A_MOMENT_MS) return <>a worker is waited for that goes on with it.</>;
  const line = commandLine(['worker']);
  return (
    <>
      no worker runs this session now:{' '}
      <span class="command">
        <code>{line}</code>
        <CopyButton text={line} what="the command that runs it" />
      </span>
    </>
  );
}
