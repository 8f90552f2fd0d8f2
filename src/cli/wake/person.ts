/**
 * Asks the person at the terminal what a session waits for, shows them exactly what it is about, and sends what they
 * say.
 */
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionIngress } from '../../machines/session/session-requests.ts';
import { askedRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { exactLine } from '../../machines/exact-text.ts';
import type { LineInput } from '../terminal/line-input.ts';
import type { Output } from '../terminal/output.ts';
import { meaningLines, questionMeanings } from '../permission/meanings.ts';
import { permissionLines } from '../permission/text.ts';
import { oneLine, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';

export interface PersonOptions {
  readonly sessions: Sessions;
  readonly input: LineInput;
  /** Where questions are put: standard error, so that what is piped away stays clean. */
  readonly err: Output;
  readonly signal: AbortSignal;
}

/** `put_off`: they do not want to say now. `withdrawn`: they are not asked any more. */
export type Answered = 'answered' | 'put_off' | 'withdrawn';

type Permission = Extract<AskedRequest, { readonly kind: 'permission' }>;
type Question = Extract<AskedRequest, { readonly kind: 'answer' }>;

/** Of what is to be allowed, the first and the last; all of it is shown on demand. */
const OUTER_LINES = 30;
const MAX_WIDTH = 100;
const INDENT = '    ';

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
    const answer =
      request.kind === 'permission' ? await this.#permission(request, signal) : await this.#question(request, signal);
    if (signal.aborted) return 'withdrawn';
    if (answer === undefined) {
      this.#putOff.add(request.requestId);
      return 'put_off';
    }
    await this.#send(request, answer);
    return 'answered';
  }

  async #permission(request: Permission, signal: AbortSignal): Promise<SessionIngress | undefined> {
    const { requestId, data } = request;
    const hasRules = (data.rules ?? []).length > 0;
    await this.#tell(this.#permissionLines(request, OUTER_LINES));
    for (;;) {
      const choice = choiceOf(await this.#ask(choicesText(this.#options.err, hasRules), signal), hasRules);
      const confirmation = { type: 'user.tool_confirmation', requestId, toolName: data.toolName } as const;
      switch (choice) {
        case 'later':
          return undefined;
        case 'once':
          return { ...confirmation, allowed: true };
        case 'session':
        case 'always':
          return { ...confirmation, allowed: true, scope: choice };
        case 'deny': {
          const note = (await this.#ask('why, for the agent (may stay empty): ', signal))?.trim() ?? '';
          return {
            ...confirmation,
            allowed: false,
            ...(note === '' ? {} : { note: beginningOf(note, MAX_NOTE_CHARACTERS) }),
          };
        }
        case 'full':
          await this.#tell(this.#permissionLines(request, Infinity));
          break;
        case 'help':
          await this.#tell(
            [
              ...meaningLines({ data, agentId: request.agentId, keys: ANSWERS, width: this.#width() }),
              'full     shows all of what it would run, however long it is',
            ].map((line) => `${INDENT}${line}`),
          );
          break;
        case undefined:
          break;
      }
    }
  }

  async #question(
    { agentId, requestId, data: { question, choices = [] } }: Question,
    signal: AbortSignal,
  ): Promise<SessionIngress | undefined> {
    const { err } = this.#options;
    await this.#tell([
      '',
      `${err.styles.yellow('?')} ${err.styles.bold(oneLine(agentId))} asks:`,
      ...this.#wrapped(printable(question)).map((line) => `${INDENT}${err.styles.bold(line)}`),
      ...choices.map((choice, index) => `${INDENT}${index + 1}. ${oneLine(choice)}`),
    ]);
    for (;;) {
      const said = (
        await this.#ask(
          choices.length === 0
            ? 'your answer (? for help, empty for later): '
            : 'your answer, or the number of a choice (? for help, empty for later): ',
          signal,
        )
      )?.trim();
      if (said === undefined || said === '') return undefined;
      if (said !== '?') {
        const chosen = /^\d+$/.test(said) ? choices[Number(said) - 1] : undefined;
        return { type: 'user.answer', requestId, response: chosen ?? said };
      }
      await this.#tell(questionMeanings(choices.length, this.#width()).map((line) => `${INDENT}${line}`));
    }
  }

  #permissionLines({ agentId, data }: Permission, maxLines: number): string[] {
    const { styles } = this.#options.err;
    return [
      '',
      `${styles.yellow('?')} ${styles.bold(oneLine(agentId))} asks to run ${styles.bold(exactLine(data.toolName))}:`,
      ...permissionLines(data, { styles, agentId, width: this.#width(), maxLines, wayToAll: '[f]ull shows them' }).map(
        (line) => `${INDENT}${line}`,
      ),
    ];
  }

  /** One that another person has answered meanwhile, or whose time is over, lets the session go on all the same. */
  async #send({ sessionId }: AskedRequest, answer: SessionIngress): Promise<void> {
    const { sessions, err } = this.#options;
    try {
      await sessions.send(sessionId, answer);
    } catch (error) {
      if (!RuntimeError.is(error) || error.category !== 'conflict') throw error;
      await err.line(`${err.styles.yellow('note:')} ${printable(error.message)}`);
    }
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

  async #tell(lines: readonly string[]): Promise<void> {
    await this.#options.err.line(lines.join('\n'));
  }

  #wrapped(text: string): string[] {
    return wrapped(text, this.#width());
  }

  #width(): number {
    return Math.max(20, Math.min(this.#options.err.columns, MAX_WIDTH) - INDENT.length);
  }
}

const MAX_NOTE_CHARACTERS = 2_000;

const CHOICES = ['once', 'session', 'always', 'deny', 'later', 'full', 'help'] as const;

const ANSWERS = (['once', 'session', 'always', 'deny', 'later'] as const).map((answer) => [answer, answer] as const);

/**
 * By its word or its first letter. Anything else is no answer, so that nothing is allowed by a key that was pressed too
 * often.
 */
function choiceOf(said: string | undefined, hasRules: boolean): (typeof CHOICES)[number] | undefined {
  if (said === undefined) return 'later';
  const word = said.trim().toLowerCase();
  if (word === '?') return 'help';
  const choice = CHOICES.find((each) => word === each || word === each.charAt(0));
  return hasRules || (choice !== 'session' && choice !== 'always') ? choice : undefined;
}

function choicesText({ styles }: Output, hasRules: boolean): string {
  const choices = ['[o]nce', ...(hasRules ? ['[s]ession', '[a]lways'] : []), '[d]eny', '[l]ater', '[f]ull', '[?]'];
  return `${styles.cyan(choices.join('  '))} › `;
}
