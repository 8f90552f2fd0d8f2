/**
 * What a session waits for, put to the person at the prompt: one after the other, each as it stands in the log, and
 * taken back when it needs no answer any more.
 */
import { askedRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { askedAnswer, sendAnswer } from '../permission/asking.ts';
import type { AskingPlace } from '../permission/asking.ts';
import type { Output } from '../terminal/output.ts';
import { printable } from '../terminal/text.ts';
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
    const answer = await askedAnswer(request, this.#place(signal));
    if (this.#closed.signal.aborted) return;
    if (signal.aborted) return this.#note('no answer is needed any more');
    if (answer === undefined) {
      this.#putOff.add(request.requestId);
      return this.#note('put off; /answer brings it back');
    }
    const late = await sendAnswer(this.#options.sessions, request, answer);
    if (late !== undefined) this.#note(late);
    this.#options.onAnswered();
  }

  #place(signal: AbortSignal): AskingPlace {
    const { prompt, out } = this.#options;
    return {
      out,
      later: { key: 'Esc', line: 'Esc' },
      tell: (lines) => this.#tell(lines),
      key: (choices, goesOn) => prompt.key(choices, { signal, goesOn }),
      line: (label, goesOn) => prompt.line(label, { signal, goesOn }),
    };
  }

  #note(text: string): void {
    this.#tell([`  ${this.#options.out.styles.dim(printable(text))}`]);
  }

  #tell(lines: readonly string[]): void {
    if (lines.length > 0) void this.#options.out.push(`${lines.join('\n')}\n`);
  }
}
