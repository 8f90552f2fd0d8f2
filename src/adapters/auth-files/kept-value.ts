/**
 * One value in one private file, shared by processes: cheap to read again while the file is the same, changed by one at
 * a time.
 */
import { join } from 'node:path';
import type * as z from 'zod';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { describeIssues } from '../../machines/validate.ts';
import { DamagedFile, busyError, damagedError, newerError, unwritableError } from './auth-errors.ts';
import type { FileSubject } from './auth-errors.ts';
import { makePrivateFolder, readPrivateFile, replacePrivateFile, setAside, stampAt } from './private-files.ts';

const FORMAT_OF_ANY_VERSION = /^(?<name>wakechart-[a-z]+)\/\d+$/;

export interface KeptValueOptions<Content, Value> {
  /** Absolute; made with the first change. */
  readonly directory: string;
  readonly fileName: string;
  readonly subject: FileSubject;
  /** The first word of the file: what it is, and in which version. */
  readonly format: string;
  readonly schema: z.ZodType<Content>;
  readonly fromContent: (content: Content) => Value;
  readonly toContent: (value: Value) => Content;
  readonly empty: Value;
  readonly exclusively: ExclusiveWork;
  /**
   * Where it may begin anew: told what was damaged and where it was put. Absent: damage is an error, and nothing is
   * written.
   */
  readonly onSetAside?: ((problem: string, path: string) => void) | undefined;
}

export class KeptValue<Content, Value> {
  readonly #options: KeptValueOptions<Content, Value>;
  readonly #path: string;
  #last: { readonly stamp: string; readonly value: Value } | undefined;

  constructor(options: KeptValueOptions<Content, Value>) {
    this.#options = options;
    this.#path = join(options.directory, options.fileName);
  }

  /** @throws RuntimeError with the code of the subject */
  async read(): Promise<Value> {
    const last = this.#last;
    if (last !== undefined && stampAt(this.#path) === last.stamp) return last.value;
    try {
      return this.#load();
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      if (this.#options.onSetAside === undefined) throw damagedError(this.#options.subject, this.#path, error.message);
      return this.#exclusively(() => this.#loadOrBegin());
    }
  }

  /**
   * Replaces the value by what `change` makes of it, on the disk before this resolves. The same value again is not
   * written.
   */
  async change<Answer>(change: (value: Value) => { readonly answer: Answer; readonly value: Value }): Promise<Answer> {
    await makePrivateFolder(this.#options.directory, this.#options.subject);
    return this.#exclusively(async () => {
      const before = await this.#loadOrBegin();
      const { answer, value } = change(before);
      if (value !== before) await this.#store(value);
      return answer;
    });
  }

  async #store(value: Value): Promise<void> {
    const { format, toContent, schema } = this.#options;
    const text = `${JSON.stringify({ format, ...toContent(value) }, undefined, 2)}\n`;
    // What is written must be what is read, or it would count as damage.
    const { format: _, ...content } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    schema.parse(content);
    this.#last = undefined;
    await replacePrivateFile(this.#path, text);
  }

  /** Under the lock. */
  async #loadOrBegin(): Promise<Value> {
    const { onSetAside, subject, empty } = this.#options;
    try {
      return this.#load();
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      if (onSetAside === undefined) throw damagedError(subject, this.#path, error.message);
      onSetAside(error.message, await setAside(this.#path));
      return empty;
    }
  }

  #load(): Value {
    const { subject, fromContent, empty } = this.#options;
    const found = readPrivateFile(this.#path, subject);
    if (found === undefined) {
      this.#last = undefined;
      return empty;
    }
    const value = fromContent(this.#contentOf(found.text));
    this.#last = found.stamp === undefined ? undefined : { stamp: found.stamp, value };
    return value;
  }

  #contentOf(text: string): Content {
    const { schema, format, subject } = this.#options;
    const parsed = parsedJson(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      throw new DamagedFile('expected an object');
    const { format: found, ...content } = parsed as Readonly<Record<string, unknown>>;
    if (found !== format) {
      const isOfOurs =
        typeof found === 'string' &&
        FORMAT_OF_ANY_VERSION.exec(found)?.groups?.['name'] === FORMAT_OF_ANY_VERSION.exec(format)?.groups?.['name'];
      if (isOfOurs) throw newerError(subject, this.#path, found);
      throw new DamagedFile(`expected "format": ${JSON.stringify(format)}`);
    }
    const read = schema.safeParse(content);
    if (!read.success) throw new DamagedFile(describeIssues(read.error).join('; '));
    return read.data;
  }

  async #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const { directory, fileName, subject, exclusively } = this.#options;
    try {
      return await exclusively(join(directory, `.${fileName}.lock`), work, (waitedMs) =>
        busyError(subject, this.#path, waitedMs),
      );
    } catch (error) {
      throw RuntimeError.is(error) ? error : unwritableError(this.#path, error);
    }
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The words of the parser would quote what stands there.
    throw new DamagedFile('it is no JSON');
  }
}
