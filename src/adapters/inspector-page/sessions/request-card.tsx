/**
 * A request that waits for a person: what exactly is asked for, and the answers to it. What became of it stays in its
 * place.
 */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { InspectionAnswer } from '../../../actors/inspection/inspection-source.ts';
import type { ShownRequest, ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { exact } from '../../../machines/exact-text.ts';
import { visibleText } from '../model/visible-text.ts';
import { about, now } from '../model/view.ts';
import { duration, instant, left } from '../model/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { When } from '../shared/when.tsx';
import { CodeBox } from './code-box.tsx';
import { commandLine } from './command-line.ts';
import type { GivenAnswer } from './given-answers.ts';
import { answerStateOf } from './given-answers.ts';
import { RequestButtons } from './request-buttons.tsx';
import type { SessionWatch } from './session-watch.ts';
import { outcomeOf } from './transcript.ts';

export interface RequestCardProps {
  readonly watch: SessionWatch;
  readonly session: ShownSession;
  readonly request: ShownRequest;
}

export const TITLES = {
  permission: 'Permission',
  answer: 'Question',
  custom_tool: 'A tool of yours',
} as const satisfies Record<ShownRequest['kind'], string>;

export function RequestCard({ watch, session, request }: RequestCardProps): JSX.Element {
  const { requestId, kind, toolName, expiresAt, askedAt } = request;
  const card = useRef<HTMLElement>(null);
  const isWaiting = session.pendingActions.some((each) => each.requestId === requestId);
  const isStored = answerStateOf(requestId).given.value?.name === 'stored';
  const isOver = !isWaiting || isStored;
  const hadFocus = useRef(false);
  hadFocus.current = card.current?.contains(document.activeElement) === true;
  useEffect(() => {
    // A user who answered by keyboard goes on from what came of it.
    if (isOver && hadFocus.current) card.current?.focus();
  }, [isOver]);
  const time = now.value + watch.aheadMs;
  const expires = instant(expiresAt);
  return (
    <section
      ref={card}
      tabIndex={-1}
      class={isOver ? 'request is-over' : 'request'}
      aria-label={`${TITLES[kind]}: ${toolName}`}
    >
      <header>
        <h3>{TITLES[kind]}</h3>
        <code class="request-tool">{exact(toolName)}</code>
        <When iso={askedAt} tell={(at) => `asked ${duration(time - at)} ago`} />
        {isOver ? undefined : (
          <When iso={expiresAt} tell={(at) => (at > time ? `expires in ${left(at - time)}` : 'expired')} />
        )}
      </header>
      {isOver ? (
        <Receipt watch={watch} session={session} request={request} />
      ) : (
        <>
          <Asked request={request} folder={kind === 'permission' ? (request.cwd ?? session.workspace) : undefined} />
          {expires !== undefined && expires <= time ? (
            <p class="request-expired">
              It has expired: an answer is refused now. The next wake denies the call and goes on.
            </p>
          ) : about.value?.canAnswer === false ? (
            <p class="request-expired">
              {about.value.kind === 'log'
                ? 'It waited for this when the recording ended. A recording takes no answers.'
                : 'Answers are not taken here. The commands above give them.'}
            </p>
          ) : (
            <RequestButtons watch={watch} request={request} />
          )}
        </>
      )}
    </section>
  );
}

/** What exactly is asked for. @param props `folder`: of a permission, where it is one for all */
export function Asked({
  request: { kind, parts, warnings, because, question, rules },
  folder,
}: {
  readonly request: ShownRequest;
  readonly folder?: string | undefined;
}): JSX.Element {
  return (
    <div class="asked">
      {kind === 'answer' && question !== undefined ? (
        <p class="asked-question">{visibleText(question, 8_000)}</p>
      ) : undefined}
      {parts.map(({ name, text }) => (
        <CodeBox key={name} label={name === '' ? 'input' : name} text={text} shownAs={exact} />
      ))}
      {folder === undefined ? undefined : (
        <p>
          <span class="quiet">In the folder</span> <code>{exact(folder)}</code>
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="asked-warning">
          {warning}
        </p>
      ))}
      {because === undefined ? undefined : (
        <p class="asked-because">
          <span class="quiet">Why it asks</span> {visibleText(because, 2_000)}
        </p>
      )}
      {rules === undefined || rules.length === 0 ? undefined : (
        <div class="asked-rules">
          <span class="quiet">
            From then on in this session, or always, in every session of this agent, this would be allowed:
          </span>
          <ul>
            {rules.map((rule) => (
              <li key={rule}>
                <code>{exact(rule)}</code>
                {rule.endsWith(' $)') ? ': only exactly this command' : ''}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** A worker needs as long to begin. */
const A_MOMENT_MS = 2_000;

interface ReceiptProps {
  readonly watch: SessionWatch;
  readonly session: ShownSession;
  readonly request: ShownRequest;
}

/** What became of a request: the receipt of the answer that was given here, or what another person or process did. */
function Receipt({ watch, session, request: { requestId } }: ReceiptProps): JSX.Element {
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
