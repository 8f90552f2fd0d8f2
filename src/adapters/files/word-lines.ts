/** Words over a socket: one JSON object per line. What is none of ours is passed over. */
import type { Socket } from 'node:net';
import { MAX_WAITING_CHARACTERS, WaitingWords } from '../../actors/words/waiting-words.ts';
import type { OnWord } from '../../actors/words/word-channel.ts';
import { readWord } from '../../machines/words/session-word.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';

/** A character may be written as six. */
const MAX_LINE_CHARACTERS = 8 * MAX_WAITING_CHARACTERS;

/** What a connection that is not read may hold, in bytes; what comes then waits within its own bound. */
const MAX_UNREAD_BYTES = 65_536;

/** Tells words to one who may be slow: what has to be dropped is said to be lost. */
export function wordWriter(connection: Socket): OnWord {
  const waiting = new WaitingWords();
  const write = (): void => {
    while (connection.writable && connection.writableLength < MAX_UNREAD_BYTES) {
      const word = waiting.shift();
      if (word === undefined) return;
      connection.write(`${JSON.stringify(word)}\n`);
    }
  };
  connection.on('drain', write);
  return (word) => {
    waiting.add(word);
    write();
  };
}

/** Puts the pieces that a connection delivers together into words. */
export class WordReader {
  #rest = '';

  read(text: string): SessionWord[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    // No word of ours is so long: the rest of it is no word either.
    if (this.#rest.length > MAX_LINE_CHARACTERS) this.#rest = '';
    return lines.flatMap((line) => wordIn(line) ?? []);
  }
}

function wordIn(line: string): SessionWord | undefined {
  try {
    return readWord(JSON.parse(line));
  } catch {
    return undefined;
  }
}
