/** How the log of a task is shown: each line goes where its program wrote it. */
import type { TaskLogLines } from '../../actors/task/task-logs.ts';
import type { CommandContext } from '../context.ts';
import { counted, printable } from '../terminal/text.ts';

const PREFIXED = /^\[(?<stream>stdout|stderr|system)\] (?<text>[^]*)$/;

interface LogLine {
  readonly stream: string;
  readonly text: string;
}

/** What is no line of a program stands among the errors. */
export class LogView {
  readonly #context: Pick<CommandContext, 'out' | 'err' | 'json'>;
  #next: number | undefined;
  #missing = 0;
  /** Of each stream, what stands there of a line that has no end yet. */
  readonly #begun = new Map<string, string>();

  /** @param from the line that is asked for first; undefined: whichever comes first */
  constructor(context: Pick<CommandContext, 'out' | 'err' | 'json'>, from?: number) {
    this.#context = context;
    this.#next = from;
  }

  async show({ offset, lines }: TaskLogLines): Promise<void> {
    this.#missing += Math.max(0, offset - (this.#next ?? offset));
    this.#next = offset + lines.length;
    const { out, json } = this.#context;
    for (const [index, each] of lines.entries()) {
      const line = parsed(each);
      if (json) await out.record({ offset: offset + index, ...line });
      else await this.#print(line);
    }
  }

  /** What stands there already is not written again. For people only: a program takes whole lines. */
  async showUnfinished(lines: readonly string[]): Promise<void> {
    for (const { stream, text } of lines.map(parsed)) {
      const to = this.#streamOf(stream);
      const begun = this.#begun.get(stream) ?? '';
      const shown = to.isTerminal ? printable(text) : text;
      if (!shown.startsWith(begun)) continue;
      this.#begun.set(stream, shown);
      await to.write(shown.slice(begun.length));
    }
  }

  /** A remark of our own. */
  async note(text: string): Promise<void> {
    const { err } = this.#context;
    await err.line(`${this.#isInsideLine(err) ? '\n' : ''}${err.styles.yellow('note:')} ${text}`);
  }

  /** Nothing more is shown. */
  async end(): Promise<void> {
    const { err, json } = this.#context;
    for (const stream of this.#begun.keys()) await this.#streamOf(stream).line();
    this.#begun.clear();
    const missing = this.#missing;
    this.#missing = 0;
    if (missing > 0 && !json)
      await err.line(err.styles.dim(`${counted(missing, 'line')} ${missing === 1 ? 'was' : 'were'} not kept`));
  }

  async #print({ stream, text }: LogLine): Promise<void> {
    const to = this.#streamOf(stream);
    const shown = to.isTerminal ? printable(text) : text;
    const begun = this.#begun.get(stream) ?? '';
    this.#begun.delete(stream);
    if (begun !== '' && shown.startsWith(begun)) return to.line(shown.slice(begun.length));
    const isInside = begun !== '' || (stream === 'system' && this.#isInsideLine(to));
    return to.line(`${isInside ? '\n' : ''}${stream === 'system' ? to.styles.dim(shown) : shown}`);
  }

  /** On a terminal what a program has begun is left as it is. */
  #isInsideLine(to: CommandContext['out']): boolean {
    return to.isTerminal && this.#begun.size > 0;
  }

  #streamOf(stream: string): CommandContext['out'] {
    const { out, err } = this.#context;
    return stream === 'stdout' ? out : err;
  }
}

function parsed(line: string): LogLine {
  const { stream = 'system', text = line } = PREFIXED.exec(line)?.groups ?? {};
  return { stream, text };
}
