/**
 * What a person has typed before, in any chat of the home, for the keys that bring it back: a file for its owner alone,
 * which stays short.
 */
import { appendFile, chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE_MODE, replaceFile } from '../../adapters/system/whole-files.ts';

const FILE = 'chat-history.jsonl';

/** Of what was typed before, the newest. */
const MAX_LINES = 500;

/** What is longer is not worth a place. */
const MAX_CHARACTERS = 10_000;

export class InputHistory {
  readonly #lines: string[];
  readonly #keep: (line: string) => void;
  /** Which line is shown, counted from the newest; 0: none of them. */
  #back = 0;
  #begun = '';

  constructor(lines: readonly string[] = [], keep: (line: string) => void = () => undefined) {
    this.#lines = [...lines];
    this.#keep = keep;
  }

  /** A home that keeps no history loses nothing else. */
  static async open(home: string): Promise<InputHistory> {
    const path = join(home, FILE);
    const lines = await linesOf(path);
    const kept = lines.slice(-MAX_LINES);
    // Written anew now and then, not for each line: two chats may write to it.
    if (lines.length > MAX_LINES * 2)
      await replaceFile(path, kept.map(recordOf).join(''), { durability: 'os' }).catch(() => undefined);
    await chmod(path, PRIVATE_FILE_MODE).catch(() => undefined);
    let written = Promise.resolve();
    return new InputHistory(kept, (line) => {
      written = written
        .then(() => appendFile(path, recordOf(line), { mode: PRIVATE_FILE_MODE }))
        .catch(() => undefined);
    });
  }

  add(line: string): void {
    this.#back = 0;
    if (this.#lines.at(-1) === line || line.length > MAX_CHARACTERS) return;
    this.#lines.push(line);
    this.#keep(line);
  }

  /** The line before or after the one that is shown. @param shown kept where it is no line of the history */
  recalled(by: -1 | 1, shown: string): string | undefined {
    if (this.#back === 0) this.#begun = shown;
    const back = this.#back - by;
    if (back < 0 || back > this.#lines.length) return undefined;
    this.#back = back;
    return back === 0 ? this.#begun : this.#lines.at(-back);
  }
}

function recordOf(line: string): string {
  return `${JSON.stringify(line)}\n`;
}

/** What is no record is left out. */
async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').flatMap((record) => {
    try {
      const line: unknown = JSON.parse(record);
      return typeof line === 'string' ? [line] : [];
    } catch {
      return [];
    }
  });
}
