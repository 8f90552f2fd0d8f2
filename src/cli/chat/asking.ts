/**
 * What a session waits for, put to the person at the prompt: one after the other, each as it stands in the log, and
 * taken back when it needs no answer any more.
 */
import { askedRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { exactLine } from '../../machines/exact-text.ts';
import type { SessionIngress } from '../../machines/session/session-requests.ts';
import { meaningLines, questionMeanings } from '../permission/meanings.ts';
import type { PermissionAnswer } from '../permission/meanings.ts';
import { permissionLines } from '../permission/text.ts';
import type { Output } from '../terminal/output.ts';
import { oneLine, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';
import type { Prompt } from './prompt.ts';

export interface AskingOptions {
  readonly sessions: Sessions;
  readonly sessionId: string;
  readonly prompt: Pick<Prompt, 'key' | 'line'>;
  readonly out: Output;
  /** An answer is stored. */
  readonly onAnswered: () => void;
  readonly onTrouble: (error: unknown) => void;
}

type Permission = Extract<AskedRequest, { readonly kind: 'permission' }>;
type Question = Extract<AskedRequest, { readonly kind: 'answer' }>;

const INDENT = '    ';
const MAX_WIDTH = 100;
const MAX_NOTE_CHARACTERS = 2_000;

const KEYS = [
  ['y', 'once'],
  ['s', 'session'],
  ['a', 'always'],
  ['n', 'deny'],
  ['Esc', 'later'],
] as const satisfies readonly (readonly [string, PermissionAnswer])[];

const YES_KEYS: ReadonlyMap<string, 'once' | 'session' | 'always'> = new Map([
  ['y', 'once'],
  ['s', 'session'],
  ['a', 'always'],
]);

export class Asking {
  readonly #options: AskingOptions;
  readonly #closed = new AbortController();
  /** By request. */
  readonly #putOff = new Set<string>();
  #current: { readonly requestId: string; readonly withdrawn: AbortController } | undefined;
  #isReading = false;
  #isStale = false;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** Something may be asked, or be asked no more. */
  check(): void {
    this.#isStale = true;
    if (!this.#isReading) void this.#read();
  }

  /** Puts again what was put off. @returns whether there was any */
  putAgain(): boolean {
    const had = this.#putOff.size > 0;
    this.#putOff.clear();
    this.check();
    return had;
  }

  close(): void {
    this.#closed.abort();
    this.#current?.withdrawn.abort();
  }

  async #read(): Promise<void> {
    const { sessions, sessionId, onTrouble } = this.#options;
    this.#isReading = true;
    try {
      while (this.#isStale && !this.#closed.signal.aborted) {
        this.#isStale = false;
        const asked = await askedRequests(sessions, sessionId);
        const current = this.#current;
        if (current !== undefined) {
          if (!asked.some(({ requestId }) => requestId === current.requestId)) current.withdrawn.abort();
          continue;
        }
        const next = asked.find(({ kind, requestId }) => kind !== 'custom_tool' && !this.#putOff.has(requestId));
        if (next !== undefined) this.#put(next);
      }
    } catch (error) {
      onTrouble(error);
    } finally {
      // At once with the last check, so that no news is put off for ever.
      this.#isReading = false;
    }
  }

  #put(request: AskedRequest): void {
    const withdrawn = new AbortController();
    this.#current = { requestId: request.requestId, withdrawn };
    void this.#answered(request, withdrawn.signal)
      .catch((error: unknown) => {
        // It is not put over and over.
        this.#putOff.add(request.requestId);
        this.#options.onTrouble(error);
      })
      .finally(() => {
        this.#current = undefined;
        this.check();
      });
  }

  async #answered(request: AskedRequest, signal: AbortSignal): Promise<void> {
    if (request.kind === 'custom_tool') return;
    const answer =
      request.kind === 'permission' ? await this.#permission(request, signal) : await this.#question(request, signal);
    if (this.#closed.signal.aborted) return;
    if (signal.aborted) return this.#note('no answer is needed any more');
    if (answer === undefined) {
      this.#putOff.add(request.requestId);
      return this.#note('put off; /answer brings it back');
    }
    await this.#send(request, answer);
  }

  async #permission(request: Permission, signal: AbortSignal): Promise<SessionIngress | undefined> {
    const { prompt } = this.#options;
    const { requestId, agentId, data } = request;
    const hasRules = (data.rules ?? []).length > 0;
    this.#tell(this.#requestLines(request));
    const choices = [
      { key: 'y', label: 'yes' },
      ...(hasRules
        ? [
            { key: 's', label: 'in this session' },
            { key: 'a', label: 'always' },
          ]
        : []),
      { key: 'n', label: 'no' },
      { key: '?', label: 'what these mean' },
    ];
    for (let goesOn = false; ; goesOn = true) {
      const key = await prompt.key(choices, { signal, goesOn });
      if (key === undefined) return undefined;
      const confirmation = { type: 'user.tool_confirmation', requestId, toolName: data.toolName } as const;
      const scope = YES_KEYS.get(key);
      if (scope !== undefined) return { ...confirmation, allowed: true, ...(scope === 'once' ? {} : { scope }) };
      if (key === 'n') {
        const note = (await prompt.line('Why, for the agent? It may stay empty.', { signal, goesOn: true }))?.trim();
        if (note === undefined && signal.aborted) return undefined;
        const told = note === undefined || note === '' ? {} : { note: beginningOf(note, MAX_NOTE_CHARACTERS) };
        return { ...confirmation, allowed: false, ...told };
      }
      this.#tell(meaningLines({ data, agentId, keys: KEYS, width: this.#width() }).map((line) => `${INDENT}${line}`));
    }
  }

  async #question(request: Question, signal: AbortSignal): Promise<SessionIngress | undefined> {
    const { requestId, data } = request;
    const { choices = [] } = data;
    this.#tell(this.#questionLines(request));
    const label =
      choices.length === 0 ? 'Your answer (Esc: later, ?: help)' : 'Your answer, or its number (Esc: later, ?: help)';
    for (let goesOn = false; ; goesOn = true) {
      const said = (await this.#options.prompt.line(label, { signal, goesOn }))?.trim();
      if (said === undefined) return undefined;
      if (said === '?') this.#tell(questionMeanings(choices.length, this.#width()).map((line) => `${INDENT}${line}`));
      else if (said !== '') {
        const chosen = /^\d+$/.test(said) ? choices[Number(said) - 1] : undefined;
        return { type: 'user.answer', requestId, response: chosen ?? said };
      }
    }
  }

  #questionLines({ agentId, data: { question, choices = [] } }: Question): string[] {
    const { styles } = this.#options.out;
    return [
      ...this.#head(`${oneLine(agentId)} asks:`),
      ...wrapped(printable(question), this.#width()).map((line) => `${INDENT}${styles.bold(line)}`),
      ...choices.flatMap((choice, index) =>
        wrapped(`${index + 1}. ${oneLine(choice)}`, this.#width()).map((line) => `${INDENT}${line}`),
      ),
    ];
  }

  #head(text: string): string[] {
    const { styles } = this.#options.out;
    const lines = wrapped(text, this.#width());
    return ['', ...lines.map((line, index) => `${index === 0 ? styles.yellow('?') : ' '} ${styles.bold(line)}`)];
  }

  /** All of it: what is allowed is what was seen. */
  #requestLines({ agentId, data }: Permission): string[] {
    const { styles } = this.#options.out;
    return [
      ...this.#head(`${oneLine(agentId)} asks to run ${exactLine(data.toolName)}:`),
      ...permissionLines(data, { styles, agentId, width: this.#width() }).map((line) => `${INDENT}${line}`),
    ];
  }

  /** One that another person has answered meanwhile, or whose time is over, lets the session go on all the same. */
  async #send({ sessionId }: AskedRequest, answer: SessionIngress): Promise<void> {
    try {
      await this.#options.sessions.send(sessionId, answer);
    } catch (error) {
      if (!RuntimeError.is(error) || error.category !== 'conflict') throw error;
      this.#note(error.message);
    }
    this.#options.onAnswered();
  }

  #note(text: string): void {
    this.#tell([`  ${this.#options.out.styles.dim(printable(text))}`]);
  }

  #tell(lines: readonly string[]): void {
    if (lines.length > 0) void this.#options.out.push(`${lines.join('\n')}\n`);
  }

  #width(): number {
    return Math.max(20, Math.min(this.#options.out.columns - 1, MAX_WIDTH) - INDENT.length);
  }
}
