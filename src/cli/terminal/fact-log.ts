/**
 * What a program that runs for long tells, fact by fact and each with its time: for people a line, for programs that
 * gather logs a line of JSON.
 */
import { messageOf } from '../../machines/errors.ts';
import type { Output } from './output.ts';
import { printable } from './text.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface Fact {
  readonly level: LogLevel;
  /** Its name for programs: `wake.ended`. */
  readonly event: string;
  /** ISO-8601. Default: now. */
  readonly at?: string | undefined;
  readonly message: string;
  /** What else is known, by name. What is undefined is left out. */
  readonly fields?: Readonly<Record<string, string | number | undefined>> | undefined;
  /** How people read it. Default: the message. */
  readonly line?: string | undefined;
}

export interface FactLogOptions {
  readonly out: Output;
  readonly err: Output;
  readonly format: LogFormat;
  /** What is told at least. */
  readonly level: LogLevel;
}

export class FactLog {
  readonly #options: FactLogOptions;

  constructor(options: FactLogOptions) {
    this.#options = options;
  }

  async tell({ level, event, at = new Date().toISOString(), message, fields = {}, line }: Fact): Promise<void> {
    const { out, format } = this.#options;
    if (!this.#isTold(level)) return;
    if (format === 'json') return out.record({ time: at, level, event, message, ...fields });
    await out.line(`${out.styles.dim(at)} ${line ?? printable(message)}`);
  }

  /** Something beside the work that a person should know. People read it apart from what the work says. */
  note(message: string, { event = 'note', level = 'warn' }: { event?: string; level?: LogLevel } = {}): void {
    const { err, format } = this.#options;
    if (format === 'json') return void this.tell({ level, event, message }).catch(() => undefined);
    if (!this.#isTold(level)) return;
    const at = new Date().toISOString();
    void err.push(`${err.styles.dim(at)} ${err.styles.yellow('note:')} ${printable(message)}\n`);
  }

  /** @param error what ends nothing */
  trouble(error: unknown): void {
    this.note(messageOf(error), { event: 'trouble' });
  }

  #isTold(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(this.#options.level);
  }
}
