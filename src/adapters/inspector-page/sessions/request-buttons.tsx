/**
 * The answers to a request. One click is one answer: the buttons wait while it is sent, and what is being written
 * stays.
 */
import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { InspectionAnswer } from '../../../actors/inspection/inspection-source.ts';
import type { ShownRequest } from '../../../actors/inspection/shown-answers.ts';
import { visibleText } from '../model/visible-text.ts';
import { askForSessions } from './known-sessions.ts';
import { answerStateOf, give, isJustAnswered } from './given-answers.ts';
import type { GivenAnswer } from './given-answers.ts';
import type { SessionWatch } from './session-watch.ts';

const MAX_NOTE = 2_000;
const MAX_ANSWER = 256_000;
/** A click that was meant for the request before this one. */
const SETTLING_MS = 700;

export interface RequestButtonsProps {
  readonly watch: SessionWatch;
  readonly request: ShownRequest;
}

type Send = (answer: InspectionAnswer) => void;

export function RequestButtons({ watch, request }: RequestButtonsProps): JSX.Element {
  const { given } = answerStateOf(request.requestId);
  const [isReady, setReady] = useState(() => !isJustAnswered(performance.now()));
  useEffect(() => {
    if (isReady) return undefined;
    const timer = setTimeout(() => setReady(true), SETTLING_MS);
    return () => clearTimeout(timer);
  }, [isReady]);
  const isBusy = !isReady || given.value?.name === 'sending';
  const send: Send = (answer) => {
    if (isBusy) return;
    void give(watch.id, answer, async () => {
      await watch.refresh();
      await askForSessions();
    });
  };
  return (
    <div class="answers" aria-busy={isBusy}>
      <Refused given={given.value} />
      {request.kind === 'permission' ? (
        <Permission request={request} isBusy={isBusy} send={send} />
      ) : (
        <Text request={request} isBusy={isBusy} send={send} />
      )}
      <p class="answers-state" role="status">
        {given.value?.name === 'sending' ? 'Your answer is being stored.' : ''}
      </p>
    </div>
  );
}

function Refused({ given }: { readonly given: GivenAnswer | undefined }): JSX.Element | undefined {
  if (given?.name !== 'refused') return undefined;
  return (
    <p class="answers-refused" role="alert">
      <strong>
        {given.isUnknown ? 'It is unknown whether your answer was stored' : 'Your answer was not taken'}:{' '}
        {visibleText(given.message, 500)}.
      </strong>{' '}
      {given.isUnknown ? 'The same answer again is safe: it is stored once.' : visibleText(given.hint, 500)}
    </p>
  );
}

interface AnswerProps {
  readonly request: ShownRequest;
  readonly isBusy: boolean;
  readonly send: Send;
}

function Permission({ request: { requestId, rules }, isBusy, send }: AnswerProps): JSX.Element {
  const id = useId();
  const { draft } = answerStateOf(requestId);
  const note = draft.value.trim();
  const about = { requestId, ...(note === '' ? {} : { note }) };
  const hasRules = rules !== undefined && rules.length > 0;
  return (
    <>
      <div class="answer-buttons">
        <button class="primary" aria-disabled={isBusy} onClick={() => send({ type: 'allow', scope: 'once', ...about })}>
          Allow once
        </button>
        {hasRules ? (
          <button aria-disabled={isBusy} onClick={() => send({ type: 'allow', scope: 'session', ...about })}>
            Allow for the session
          </button>
        ) : undefined}
        {hasRules ? (
          <button aria-disabled={isBusy} onClick={() => send({ type: 'allow', scope: 'always', ...about })}>
            Always allow
          </button>
        ) : undefined}
        <button class="danger" aria-disabled={isBusy} onClick={() => send({ type: 'deny', ...about })}>
          Deny
        </button>
      </div>
      <label for={id}>
        A note for the agent <span class="quiet">(not needed)</span>
      </label>
      <input
        id={id}
        type="text"
        maxLength={MAX_NOTE}
        autocomplete="off"
        value={draft.value}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
        }}
      />
    </>
  );
}

function Text({ request: { requestId, kind, choices }, isBusy, send }: AnswerProps): JSX.Element {
  const id = useId();
  const { draft } = answerStateOf(requestId);
  const text = draft.value;
  const isEmpty = text.trim() === '';
  const answer = (given: string): void => send({ type: 'answer', requestId, text: given });
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!isEmpty) answer(text);
  };
  return (
    <>
      {choices.length === 0 ? undefined : (
        <div class="answer-buttons" role="group" aria-label="Choices">
          {choices.map((choice) => (
            <button key={choice} aria-disabled={isBusy} onClick={() => answer(choice)}>
              {visibleText(choice)}
            </button>
          ))}
        </div>
      )}
      <label for={id}>{kind === 'answer' ? 'Your answer' : 'The result of the tool, as JSON or text'}</label>
      <textarea
        id={id}
        rows={3}
        maxLength={MAX_ANSWER}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
        }}
        onKeyDown={press}
      />
      <div class="answer-buttons">
        <button
          class="primary"
          aria-disabled={isBusy || isEmpty}
          onClick={() => {
            if (!isEmpty) answer(text);
          }}
        >
          {kind === 'answer' ? 'Answer' : 'Give the result'}
        </button>
        <span class="quiet">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends it
        </span>
      </div>
    </>
  );
}
