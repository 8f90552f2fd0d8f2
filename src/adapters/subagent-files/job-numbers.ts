/**
 * Numbers that are given once, to any number of processes over one folder.
 *
 * The process that makes the file named after a number takes it. What has been given stays visible after that file is
 * gone: by a mark, a file in a folder of its own that is named after the number. Only the highest mark means something.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, makeFolder, namesIn } from '../system/whole-files.ts';
import type { Writing } from '../system/whole-files.ts';

const MARKS = 'closed';
const ID = /^agent_(?<number>[1-9]\d{0,14})(?:$|\.)/;
const MARK = /^[1-9]\d{0,14}$/;

export class JobNumbers {
  readonly #folder: string;
  readonly #writing: Writing;
  /** The highest that is known to be taken. */
  #last: number | undefined = undefined;

  constructor(folder: string, writing: Writing) {
    this.#folder = folder;
    this.#writing = writing;
  }

  /** Takes the next number. @param take makes the file of that number; false when it is there */
  async next(take: (number: number) => Promise<boolean>, giveBack: (number: number) => Promise<void>): Promise<number> {
    this.#last ??= highest((await namesIn(this.#folder)).map(numberOf));
    for (;;) {
      const number = Math.max(this.#last, await this.#highestMark()) + 1;
      const isTaken = await take(number);
      this.#last = Math.max(this.#last, number);
      if (!isTaken) continue;
      // Another process may have had it and closed it between the read and the making: then its mark is there by now.
      if ((await this.#highestMark()) < number) return number;
      await giveBack(number);
    }
  }

  /** Says that the number has been given, before its file goes. */
  async mark(number: number): Promise<void> {
    const folder = join(this.#folder, MARKS);
    await makeFolder(folder, this.#writing);
    if ((await this.#highestMark()) >= number) return;
    await createFile(join(folder, String(number)), '', this.#writing);
    const marks = await this.#marks();
    const top = highest(marks);
    // A higher one says all that these say.
    await Promise.all(
      marks.filter((each) => each < top).map((each) => rm(join(folder, String(each)), { force: true })),
    );
  }

  async #highestMark(): Promise<number> {
    return highest(await this.#marks());
  }

  async #marks(): Promise<readonly number[]> {
    return (await namesIn(join(this.#folder, MARKS))).filter((name) => MARK.test(name)).map(Number);
  }
}

export function numberOf(name: string): number {
  return Number(ID.exec(name)?.groups?.['number'] ?? 0);
}

function highest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}
