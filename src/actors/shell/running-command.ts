/**
 * One command of a shell, from its begin until long after its end: its output, its outcome, and how much of both has
 * been told.
 */
import { KeptOutput } from '../../machines/turn/shell/kept-output.ts';
import type { ShellCommandReply } from '../../machines/turn/shell/shell-results.ts';
import type { ByteRedaction } from '../environment/session-secrets.ts';

export interface CommandOutcome {
  /** Null when a signal ended the shell under it. */
  readonly exitCode: number | null;
  /** Why the shell has ended with it, if it has. */
  readonly shellEnded?: string | undefined;
}

export class RunningCommand {
  /** Without secrets. */
  readonly output = new KeptOutput();
  readonly #openRedaction: () => ByteRedaction | undefined;
  #redaction: ByteRedaction | undefined;
  /** Resolves when it has an outcome. */
  readonly over: Promise<void>;
  #outcome: CommandOutcome | undefined;
  #settle: () => void = () => undefined;
  #toldBytes = 0;
  /** A stop of it that is under way, or was. */
  stopping: Promise<void> | undefined;

  /** @param openRedaction takes secrets out of what it puts out */
  constructor(openRedaction: () => ByteRedaction | undefined = () => undefined) {
    this.#openRedaction = openRedaction;
    this.#redaction = openRedaction();
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get outcome(): CommandOutcome | undefined {
    return this.#outcome;
  }

  append(bytes: Uint8Array): void {
    this.output.append(this.#redaction?.add(bytes) ?? bytes);
  }

  end(outcome: CommandOutcome): void {
    const rest = this.#redaction?.end();
    if (rest !== undefined) this.output.append(rest);
    // What background jobs put out later comes after it.
    this.#redaction = this.#openRedaction();
    this.#outcome ??= outcome;
    this.#settle();
  }

  /** What there is to say since the last reply. */
  reply({ shell, cwd }: Pick<ShellCommandReply, 'shell' | 'cwd'>): ShellCommandReply {
    const { text, totalBytes, left } = this.output.excerpt(this.#toldBytes);
    this.#toldBytes = totalBytes;
    const { exitCode, shellEnded } = this.#outcome ?? { exitCode: null };
    return {
      shell,
      output: text,
      exitCode,
      ...(cwd === undefined || shellEnded !== undefined ? {} : { cwd }),
      ...(this.#outcome === undefined ? { running: true } : {}),
      ...(shellEnded === undefined ? {} : { shellEnded }),
      ...(left === undefined ? {} : { outputBytes: totalBytes, leftOut: left }),
    };
  }
}
