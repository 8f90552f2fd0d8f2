/**
 * Asks the person at the terminal while a wake runs: what a backend wants to do in the middle of its turn is waited for
 * by the turn. One question after another; as long as one is on the screen, what else happens is told after it.
 */
import type { Sessions } from '../../actors/session/sessions.ts';
import { messageOf } from '../../machines/errors.ts';
import type { SessionEvent, SessionEventOf } from '../../machines/session/session-event.ts';
import { ownRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Output } from '../terminal/output.ts';
import type { Person } from './person.ts';
import type { Progress } from '../terminal/progress.ts';
import { localTime, printable } from '../terminal/text.ts';

export interface LiveQuestionsOptions {
  readonly sessions: Pick<Sessions, 'status' | 'events'>;
  readonly person: Pick<Person, 'answer'>;
  readonly progress: Pick<Progress, 'hold' | 'goOn'>;
  readonly err: Output;
  /** How a command of ours is typed, for what is put off. */
  readonly commandFor: (...words: readonly string[]) => string;
}

type Show = (event: SessionEvent) => Promise<void>;

/** A permission that a backend waits for. */
interface LiveRequest {
  readonly sessionId: string;
  readonly requestId: string;
  readonly callId: string;
  /** Aborts with why no answer is needed any more. */
  readonly withdrawn: AbortController;
}

export class LiveQuestions {
  readonly #options: LiveQuestionsOptions;
  /** The calls that backends run themselves, as far as they are open. */
  readonly #calls = new Set<string>();
  /** Those that wait for an answer, in the order in which they came. */
  readonly #requests = new Map<string, LiveRequest>();
  /** Those that no person has been asked about yet. */
  readonly #unasked: LiveRequest[] = [];
  readonly #untold: { readonly event: SessionEvent; readonly show: Show }[] = [];
  #asking: Promise<void> | undefined;
  #trouble: { readonly error: unknown } | undefined;

  constructor(options: LiveQuestionsOptions) {
    this.#options = options;
  }

  /**
   * Shows the event, now or after the question that is on the screen, and asks if it asks. Does not wait for an answer.
   */
  async hear(event: SessionEvent, show: Show): Promise<void> {
    const request = this.#noted(event);
    if (this.#asking !== undefined) {
      this.#untold.push({ event, show });
      if (request !== undefined) this.#unasked.push(request);
      return;
    }
    await show(event);
    if (request === undefined) return;
    this.#unasked.push(request);
    this.#asking ??= this.#askAll();
  }

  /**
   * The wake is over: takes back what is asked, and tells what is untold. @throws what kept something from being told
   */
  async end(): Promise<void> {
    for (const { withdrawn } of this.#requests.values()) withdrawn.abort('the wake is over');
    await this.#asking;
    if (this.#trouble !== undefined) throw this.#trouble.error;
  }

  /** @returns the request that a person has to be asked about */
  #noted(event: SessionEvent): LiveRequest | undefined {
    if (event.type === 'permission.requested') return this.#requestOf(event);
    if (event.type === 'agent.tool_use' && event.data.by === 'backend') this.#calls.add(event.data.callId);
    if (event.type === 'user.tool_confirmation')
      this.#withdraw(event.data.requestId, `a person has ${event.data.allowed ? 'allowed' : 'denied'} it meanwhile`);
    if (event.type === 'permission.resolved')
      this.#withdraw(
        event.data.requestId,
        event.data.decision === 'expired' ? 'it was not allowed in time' : 'it has been answered',
      );
    if (event.type === 'request.cancelled') this.#withdraw(event.data.requestId, 'it is asked for no more');
    if (event.type === 'agent.tool_result' && this.#calls.delete(event.data.callId)) {
      for (const { requestId, callId } of [...this.#requests.values()])
        if (callId === event.data.callId) this.#withdraw(requestId, 'the call has ended');
    }
    return undefined;
  }

  #requestOf({
    sessionId,
    data: { requestId, callId },
  }: SessionEventOf<'permission.requested'>): LiveRequest | undefined {
    if (!this.#calls.has(callId)) return undefined;
    const request = { sessionId, requestId, callId, withdrawn: new AbortController() };
    this.#requests.set(requestId, request);
    return request;
  }

  #withdraw(requestId: string, because: string): void {
    this.#requests.get(requestId)?.withdrawn.abort(because);
    this.#requests.delete(requestId);
  }

  async #askAll(): Promise<void> {
    const { progress } = this.#options;
    progress.hold();
    try {
      for (;;) {
        for (let told = this.#untold.shift(); told !== undefined; told = this.#untold.shift())
          await told.show(told.event);
        const next = this.#unasked.shift();
        if (next === undefined) return;
        await this.#ask(next);
      }
    } catch (error) {
      this.#trouble ??= { error };
    } finally {
      // At once with the last check, so that nothing is put off for ever.
      this.#asking = undefined;
      progress.goOn();
    }
  }

  async #ask(request: LiveRequest): Promise<void> {
    const { err, person, sessions } = this.#options;
    const { signal } = request.withdrawn;
    try {
      const state = await sessions.status(request.sessionId);
      const asked = (await ownRequests(sessions, state)).find(({ requestId }) => requestId === request.requestId);
      // Answered before a person could be asked.
      if (asked === undefined || signal.aborted) return;
      const answered = await person.answer(asked, signal);
      if (answered === 'put_off') return await this.#tellHowToAnswer(asked);
      if (answered === 'withdrawn' && signal.aborted)
        await err.line(
          `  ${err.styles.yellow('note:')} no answer is needed any more: ${printable(String(signal.reason))}`,
        );
    } catch (error) {
      // The turn goes on waiting, and another person can answer.
      await err.line(`  ${err.styles.yellow('note:')} ${printable(messageOf(error))}`);
    }
  }

  async #tellHowToAnswer(asked: AskedRequest): Promise<void> {
    if (asked.kind !== 'permission') return;
    const { err, commandFor } = this.#options;
    const { sessionId, requestId, data } = asked;
    const until = data.expiresAt === undefined ? '' : ` until ${localTime(data.expiresAt)}`;
    const answer = ['session', 'confirm-tool', '--session', sessionId, '--request', requestId] as const;
    await err.line(
      [
        `  The agent waits for it${until}. To answer it from elsewhere:`,
        `    ${commandFor(...answer, '--allow')}`,
        `    ${commandFor(...answer, '--deny')}`,
      ].join('\n'),
    );
  }
}
