/**
 * Asks the person at the terminal what a session waits for, shows them exactly what it is about, and sends what they
 * say.
 */
import { askedRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { askedAnswer, sendAnswer } from '../permission/asking.ts';
import type { AskingPlace, Choice } from '../permission/asking.ts';
import type { LineInput } from '../terminal/line-input.ts';
import type { Output } from '../terminal/output.ts';

export interface PersonOptions {
  readonly sessions: Sessions;
  readonly input: LineInput;
  /** Where questions are put: standard error, so that what is piped away stays clean. */
  readonly err: Output;
  readonly signal: AbortSignal;
}

/** `put_off`: they do not want to say now. `withdrawn`: they are not asked any more. */
export type Answered = 'answered' | 'put_off' | 'withdrawn';

/** All of what is to be allowed is shown on demand. */
const OUTER_LINES = 30;
/** What answered before the keys were those of the chat, or is said as a word. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['o', 'y'],
  ['once', 'y'],
  ['d', 'n'],
  ['deny', 'n'],
]);

export class Person {
  readonly #options: PersonOptions;
  /** Requests that they do not want to answer now. */
  readonly #putOff = new Set<string>();

  constructor(options: PersonOptions) {
    this.#options = options;
  }

  /**
   * Puts what the session waits for, one after the other. @returns whether anything was answered, so that the session
   * can go on
   */
  async answerFor(sessionId: string): Promise<boolean> {
    let isAnswered = false;
    for (const request of await askedRequests(this.#options.sessions, sessionId))
      if ((await this.answer(request)) === 'answered') isAnswered = true;
    return isAnswered;
  }

  /** @param withdrawn aborts when the request needs no answer any more: the question is taken back */
  async answer(request: AskedRequest, withdrawn?: AbortSignal): Promise<Answered> {
    const signal = withdrawn === undefined ? this.#options.signal : AbortSignal.any([this.#options.signal, withdrawn]);
    // What a tool outside gives back is no matter of a word.
    if (request.kind === 'custom_tool' || this.#putOff.has(request.requestId)) return 'put_off';
    if (signal.aborted) return 'withdrawn';
    const answer = await askedAnswer(request, this.#place(signal));
    if (signal.aborted) return 'withdrawn';
    if (answer === undefined) {
      this.#putOff.add(request.requestId);
      return 'put_off';
    }
    const { sessions, err } = this.#options;
    const late = await sendAnswer(sessions, request, answer);
    if (late !== undefined) await err.line(`${err.styles.yellow('note:')} ${late}`);
    return 'answered';
  }

  #place(signal: AbortSignal): AskingPlace {
    const { err } = this.#options;
    return {
      out: err,
      outerLines: OUTER_LINES,
      later: { key: 'l', line: 'empty' },
      tell: (lines) => err.line(lines.join('\n')),
      key: async (choices) => keyOf(await this.#ask(choicesText(choices, err), signal), choices),
      line: (label) => this.#ask(`${label} › `, signal),
    };
  }

  async #ask(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    const { input, err } = this.#options;
    await input.drop();
    await err.write(`  ${prompt}`);
    const said = await input.line(signal);
    // The person did not press the key that ends a line.
    if (said === undefined) await err.line();
    return said;
  }
}

/** By its key or its word. Anything else is no answer, so that nothing is allowed by a key that was pressed too often. */
function keyOf(said: string | undefined, choices: readonly Choice[]): string | undefined {
  if (said === undefined) return undefined;
  const typed = said.trim().toLowerCase();
  const word = OTHER_WORDS.get(typed) ?? typed;
  return choices.find(({ key, label }) => word === key || word === label)?.key ?? '';
}

function choicesText(choices: readonly Choice[], { styles }: Output): string {
  return `${styles.cyan(choices.map(({ key, label }) => `[${key}] ${label}`).join('  '))} › `;
}
