/** Who sends a request, which sessions there are for that caller, and what it may do. */
import { sessionNotFound } from '../../actors/session/event-store.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Authorize, HttpAction, HttpActionSubject, HttpCaller } from './handler-options.ts';
import { Refusal } from './refusal.ts';

const MAX_SUBJECT_CHARACTERS = 200;

/** What reaches beyond the sessions of a caller, or out of the sandbox of an agent: not for everyone by default. */
const FAR_REACHING: ReadonlySet<HttpAction> = new Set(['answer-always', 'choose-environment']);

export class Access {
  readonly #caller: HttpCaller;
  /** Paths of the home, which are not told. */
  readonly homes: readonly string[];

  private constructor(caller: HttpCaller, homes: readonly string[]) {
    this.#caller = caller;
    this.homes = homes;
  }

  /** @returns a response where `authorize` has given one @throws Refusal API_UNAUTHORIZED */
  static async of(request: Request, authorize: Authorize, homes: readonly string[]): Promise<Access | Response> {
    const answer = await authorize(request);
    if (answer instanceof Response) return answer;
    if (answer === undefined || answer === null)
      throw new Refusal('API_UNAUTHORIZED', 'the request does not say who sends it, or not so that it is believed', {
        category: 'permission',
        hint: 'Send the credentials that this server asks for.',
        headers: { 'www-authenticate': 'Bearer' },
      });
    const { subject, sees, may } = answer;
    if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT_CHARACTERS)
      throw invalid(`name a subject of 1 to ${MAX_SUBJECT_CHARACTERS} characters`);
    // A single owner as a string would be searched for others in it.
    if (sees !== undefined && sees !== 'all' && !isTextList(sees))
      throw invalid("give the owners that it sees as a list, or 'all'");
    if (may !== undefined && typeof may !== 'function') throw invalid('give a function as may');
    return new Access(answer, homes);
  }

  get subject(): string {
    return this.#caller.subject;
  }

  sees({ owner }: Pick<SessionState, 'owner'>): boolean {
    const { sees = [this.subject] } = this.#caller;
    return sees === 'all' || (owner !== undefined && sees.includes(owner));
  }

  get seesAll(): boolean {
    return this.#caller.sees === 'all';
  }

  /** Whatever is not plainly allowed is not. @throws Refusal API_FORBIDDEN */
  async require(action: HttpAction, what: HttpActionSubject): Promise<void> {
    const { may } = this.#caller;
    const isAllowed: unknown =
      may === undefined ? this.seesAll || !FAR_REACHING.has(action) : await may.call(this.#caller, action, what);
    if (isAllowed === true) return;
    throw new Refusal('API_FORBIDDEN', `${action} is not allowed`, {
      category: 'permission',
      hint: 'Ask those who run this server for it.',
    });
  }

  /**
   * The session, when it is one that there is for the caller: what it may not see is not there. @throws RuntimeError
   * SESSION_NOT_FOUND, API_FORBIDDEN
   */
  async session(sessions: Sessions, sessionId: string, action: HttpAction): Promise<SessionState> {
    if (!isUuidV7(sessionId)) throw sessionNotFound(sessionId.slice(0, 100));
    const state = await sessions.get(sessionId);
    if (!this.sees(state)) throw sessionNotFound(sessionId);
    await this.require(action, { sessionId, agentId: state.agentId });
    return state;
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('API_SUBJECT_INVALID', `expected authorize() to ${what}`, {
    category: 'crash',
    hint: 'Give { subject, sees?, may? } or undefined.',
  });
}
