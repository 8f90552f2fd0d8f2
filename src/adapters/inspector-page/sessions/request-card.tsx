/**
 * A request that waits for a person: what exactly is asked for, and the answers to it. What became of it stays in its
 * place.
 */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ShownRequest, ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { exact } from '../../../machines/exact-text.ts';
import { visibleText } from '../model/visible-text.ts';
import { about, now } from '../model/view.ts';
import { duration, instant, left } from '../model/words.ts';
import { When } from '../shared/when.tsx';
import { CodeBox } from './code-box.tsx';
import { answerStateOf } from './given-answers.ts';
import { RequestButtons } from './request-buttons.tsx';
import { Receipt } from './request-receipt.tsx';
import type { SessionWatch } from './session-watch.ts';

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
