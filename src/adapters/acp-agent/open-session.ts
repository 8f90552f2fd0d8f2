/**
 * A session that an editor has open: what happens in it is shown as it is stored, from wherever it comes, and its
 * prompts are answered when their turns have ended.
 */
import type { AgentContext, PermissionOption, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import type { InspectionAnswer } from '../../actors/inspection/inspection-source.ts';
import { storeAnswer } from '../../actors/inspection/session-answer.ts';
import { askedText } from '../../actors/protocol/asked-text.ts';
import { awaitTurn } from '../../actors/protocol/await-turn.ts';
import type { AwaitedTurn } from '../../actors/protocol/await-turn.ts';
import { cancelTurn } from '../../actors/protocol/cancel-turn.ts';
import type { ProtocolRuntime } from '../../actors/protocol/protocol-runtime.ts';
import { familyEvents } from '../../actors/protocol/turn-watch.ts';
import type { IdSource } from '../../actors/session/id-source.ts';
import { askedRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { TurnRef } from '../../machines/protocol/turn.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { stopReasonOf } from './acp-states.ts';
import { said, thought, toolKind, toolTitle, updatesOf } from './session-updates.ts';
import { ShownWords } from './shown-words.ts';

export interface OpenSessionPorts {
  readonly sessions: Sessions;
  readonly words: ProtocolRuntime['words'];
  readonly client: AgentContext;
  readonly ids: IdSource;
  /** Hears trouble that ends nothing. */
  readonly onTrouble: (error: unknown) => void;
}

interface Prompt {
  readonly ref: TurnRef;
  /** Set once it is cancelled; resolves when nothing of it runs any more. */
  cancelled?: Promise<void>;
}

/** Answers of a person, by the id of the option that they chose. */
const ANSWERS = {
  once: { type: 'allow', scope: 'once' },
  session: { type: 'allow', scope: 'session' },
  always: { type: 'allow', scope: 'always' },
  deny: { type: 'deny' },
} as const;

export class OpenSession {
  readonly sessionId: string;
  readonly #ports: OpenSessionPorts;
  readonly #close = new AbortController();
  /** Messages of this editor, which shows them itself. */
  readonly #own = new Set<string>();
  readonly #prompts = new Set<Prompt>();
  #shownSeq = 0;
  readonly #waiting = new Set<() => void>();
  readonly #words = new ShownWords();

  constructor(sessionId: string, ports: OpenSessionPorts) {
    this.sessionId = sessionId;
    this.#ports = ports;
  }

  /** @param from the first event that is shown. Resolves when everything up to `through` is. */
  async show({ from, through }: { readonly from: number; readonly through: number }): Promise<void> {
    this.#shownSeq = from - 1;
    this.#follow(from).catch(this.#ports.onTrouble);
    await this.#shown(through);
    this.#speak().catch(this.#ports.onTrouble);
  }

  close(): void {
    this.#close.abort();
    this.#tellShown();
  }

  /** Sends what the person wrote, and resolves when its turn has ended. @throws RuntimeError why it failed */
  async prompt(text: string): Promise<PromptResponse> {
    const ref = await this.#send(text);
    const prompt: Prompt = { ref };
    this.#prompts.add(prompt);
    try {
      const awaited = await awaitTurn(this.#ports.sessions, ref, {
        signal: this.#close.signal,
        ask: (asked, answered) => this.#ask(asked, answered),
      });
      return await this.#answerTo(prompt, awaited);
    } finally {
      this.#prompts.delete(prompt);
    }
  }

  /** Ends the prompts that run; each is answered once its turn has ended. */
  async cancel(): Promise<void> {
    await Promise.all([...this.#prompts].map((prompt) => this.#cancel(prompt)));
  }

  #cancel(prompt: Prompt): Promise<void> {
    return (prompt.cancelled ??= cancelTurn(this.#ports.sessions, prompt.ref, 'cancelled in the editor').then(
      () => undefined,
      this.#ports.onTrouble,
    ));
  }

  /** What is written while a question waits is its answer. */
  async #send(text: string): Promise<TurnRef> {
    const { sessions, ids } = this.#ports;
    const { sessionId } = this;
    const question = (await askedRequests(sessions, sessionId)).find(({ kind }) => kind !== 'permission');
    if (question !== undefined) {
      const { messageSeq } = await this.#answered(question, text);
      if (messageSeq !== undefined) return { sessionId, seq: messageSeq };
    }
    const eventId = ids.next();
    this.#own.add(eventId);
    const { seq } = await sessions.send(sessionId, { type: 'user.message', text }, { eventId, delivery: 'steer' });
    return { sessionId, seq };
  }

  /** @returns the message whose turn goes on with the answer */
  async #answered(question: AskedRequest, text: string): Promise<{ readonly messageSeq: number | undefined }> {
    const { sessions } = this.#ports;
    await storeAnswer(sessions, question.sessionId, { type: 'answer', requestId: question.requestId, text });
    let messageSeq: number | undefined;
    for await (const event of sessions.events(this.sessionId))
      if (event.type === 'user.message') messageSeq = event.seq;
    return { messageSeq };
  }

  /** @returns whether a person has answered */
  async #ask(asked: AskedRequest, answeredElsewhere: AbortSignal): Promise<boolean> {
    if (asked.kind !== 'permission') return false;
    const { sessions, client } = this.#ports;
    const { callId, toolName, input } = asked.data;
    const { outcome } = await client.request(
      'session/request_permission',
      {
        sessionId: this.sessionId,
        toolCall: {
          toolCallId: callId,
          title: toolTitle(toolName, input),
          kind: toolKind(toolName),
          status: 'pending',
          rawInput: input,
          content: [{ type: 'content', content: { type: 'text', text: askedText(asked) } }],
        },
        options: optionsFor(asked.data.rules ?? []),
      },
      { cancellationSignal: answeredElsewhere },
    );
    if (outcome.outcome === 'cancelled') return answeredElsewhere.aborted;
    const answer = answerOf(asked.requestId, outcome.optionId);
    if (answer === undefined) return false;
    await storeAnswer(sessions, asked.sessionId, answer).catch(unlessAnswered);
    return true;
  }

  async #answerTo(prompt: Prompt, { turn, asked }: AwaitedTurn): Promise<PromptResponse> {
    await prompt.cancelled;
    // All of it has to be shown before the prompt is answered.
    await this.#shown(turn.throughSeq);
    if (prompt.cancelled !== undefined) return { stopReason: 'cancelled' };
    const stop = stopReasonOf(turn.phase, turn.budget);
    // A form that was closed without an answer, or a question, which the next message answers.
    if (stop === 'running')
      return { stopReason: asked.some(({ kind }) => kind === 'permission') ? 'cancelled' : 'end_turn' };
    if (stop !== 'error') return { stopReason: stop };
    throw new RuntimeError('ACP_TURN_FAILED', turn.note ?? 'the turn failed', {
      category: 'provider',
      hint: `See why: wakechart session why --session ${this.sessionId}`,
    });
  }

  async #follow(from: number): Promise<void> {
    const { sessions } = this.#ports;
    const { sessionId } = this;
    for await (const event of familyEvents(sessions, { sessionId, seq: from }, this.#close.signal)) {
      if (event.sessionId !== sessionId) continue;
      await this.#update(this.#updatesOf(event));
      this.#shownSeq = event.seq;
      this.#tellShown();
    }
  }

  #updatesOf(event: SessionEvent): readonly SessionUpdate[] {
    if (event.type === 'agent.message') return said(this.#words.logged('text', event.data.text));
    if (event.type === 'agent.thinking') return thought(this.#words.logged('reasoning', event.data.text));
    return updatesOf(event, { own: this.#own.delete(event.id) });
  }

  /** What a model says while it says it. */
  async #speak(): Promise<void> {
    const { words, sessions } = this.#ports;
    let isLogged = false;
    for await (const word of words(this.sessionId, { signal: this.#close.signal })) {
      if (isLogged) {
        // The words of the next step: what the log says of the one before is shown first.
        await this.#shown((await sessions.status(this.sessionId)).head);
        this.#words.reset();
      }
      isLogged = word.type === 'logged';
      if (word.type === 'said') await this.#update(spoken(word.kind, this.#words.said(word.kind, word.text)));
      else if (word.type === 'taken_back') await this.#update(said(this.#words.takenBack()));
      else if (word.type === 'lost') this.#words.lost();
    }
  }

  async #update(updates: readonly SessionUpdate[]): Promise<void> {
    const { sessionId } = this;
    for (const update of updates) await this.#ports.client.notify('session/update', { sessionId, update });
  }

  #tellShown(): void {
    for (const check of this.#waiting) check();
  }

  #shown(seq: number): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.#shownSeq < seq && !this.#close.signal.aborted) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }
}

function spoken(kind: 'text' | 'reasoning', text: string): readonly SessionUpdate[] {
  return kind === 'text' ? said(text) : thought(text);
}

function optionsFor(rules: readonly string[]): PermissionOption[] {
  const reach = rules.join(', ');
  return [
    { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
    ...(rules.length === 0
      ? []
      : ([
          { optionId: 'session', name: `Allow in this session: ${reach}`, kind: 'allow_always' },
          { optionId: 'always', name: `Always allow: ${reach}`, kind: 'allow_always' },
        ] satisfies PermissionOption[])),
    { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
  ];
}

function answerOf(requestId: string, optionId: string): InspectionAnswer | undefined {
  const known = Object.hasOwn(ANSWERS, optionId) ? ANSWERS[optionId as keyof typeof ANSWERS] : undefined;
  return known === undefined ? undefined : { ...known, requestId };
}

/** Another client was faster. */
function unlessAnswered(error: unknown): void {
  if (!RuntimeError.is(error) || error.category !== 'conflict') throw error;
}
