/** `grep`: lines that match a regular expression, in linear time, file by file, with time for other work in between. */
import { RE2JS } from 're2js';
import type { SessionSecrets } from '../../actors/environment/session-secrets.ts';
import type { Tool, ToolContext } from '../../actors/turn/tool.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import { fileKindOf } from '../../machines/turn/files/file-kind.ts';
import {
  DEFAULT_GREP_MATCHES,
  MAX_GREP_FILE_BYTES,
  MAX_GREP_LINE_CHARACTERS,
  MAX_SEARCH_PROGRAM,
} from '../../machines/turn/files/file-limits.ts';
import { parseGlob } from '../../machines/turn/files/glob-pattern.ts';
import type { GrepInput } from '../../machines/turn/files/grep-files.ts';
import { grepDefinition } from '../../machines/turn/files/grep-files.ts';
import { GrepReport } from '../../machines/turn/files/grep-report.ts';
import { LineSplitter } from '../../machines/turn/files/line-splitter.ts';
import { CooperativeYield } from './cooperative-yield.ts';
import type { Beginning } from './file-chunks.ts';
import { beginningOf, chunksFrom } from './file-chunks.ts';
import { fileFailed, notFound } from './file-errors.ts';
import type { FileToolPorts } from './file-tool-ports.ts';
import { pathSubject } from './file-tool-ports.ts';
import type { Place, Places } from './places.ts';
import { below, openRegularFile } from './places.ts';
import { ShownText } from './shown-text.ts';
import { TreeWalk } from './tree-walk.ts';

// Regular expressions from a model, as programs whose time grows with the length of a line and never faster.

/** @throws RuntimeError PATTERN_INVALID naming the place */
function compileSearch(pattern: string, { ignoreCase }: { readonly ignoreCase: boolean }): RE2JS {
  const compiled = compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  const size = compiled.programSize();
  if (size > MAX_SEARCH_PROGRAM) {
    throw invalidPattern(
      pattern,
      `it makes a program of ${size} steps; expected ${MAX_SEARCH_PROGRAM} at most`,
      'Use smaller repetitions.',
    );
  }
  return compiled;
}

/** Where the first match begins; undefined when there is none. */
function matchAt(pattern: RE2JS, text: string): number | undefined {
  // Most lines do not match, and to say so is much cheaper than to say where.
  if (!pattern.test(text)) return undefined;
  const matcher = pattern.matcher(text);
  return matcher.find() ? matcher.start() : 0;
}

function compile(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (error) {
    throw invalidPattern(
      pattern,
      messageOf(error),
      'The syntax is that of RE2: no look-around, no back-references; a backslash makes brackets, braces, dots and the like literal.',
      error,
    );
  }
}

function invalidPattern(pattern: string, message: string, hint: string, cause?: unknown): RuntimeError {
  return new RuntimeError('PATTERN_INVALID', `cannot search for ${JSON.stringify(pattern)}: ${message}`, {
    category: 'validation',
    hint,
    details: { pattern },
    cause,
  });
}

/** Files that are opened at once. */
const OPENED_AHEAD = 16;

export function createGrepTool(ports: FileToolPorts): Tool<GrepInput> {
  return {
    definition: grepDefinition,
    subject: ({ path = '.' }, context) => ({ ...pathSubject(path, 'read', context), reachesBelow: true }),
    async run(input, context) {
      const search = new Search(input, context);
      const { path = '.' } = input;
      const places = await ports.places(context);
      const place = await places.locate(path, 'read');
      if (place.missing.length > 0) throw notFound('search', path);
      try {
        return await search.run(places, place);
      } catch (error) {
        throw fileFailed('search', path, error);
      }
    },
  };
}

class Search {
  readonly #input: GrepInput;
  readonly #signal: ToolContext['signal'];
  readonly #secrets: SessionSecrets | undefined;
  readonly #pattern: RE2JS;
  readonly #glob: ReturnType<typeof parseGlob>;
  readonly #report: GrepReport;
  readonly #cooperativeYield: CooperativeYield;
  readonly #passedOver = { binary: 0, large: 0, unreadable: 0, longLines: 0 };

  constructor(input: GrepInput, { signal, environment }: Pick<ToolContext, 'signal' | 'environment'>) {
    const {
      pattern,
      ignoreCase = false,
      glob = '**',
      filesOnly = false,
      context = 0,
      maxMatches = DEFAULT_GREP_MATCHES,
    } = input;
    this.#input = input;
    this.#signal = signal;
    this.#secrets = environment?.secrets;
    this.#pattern = compileSearch(pattern, { ignoreCase });
    this.#glob = parseGlob(glob.includes('/') || glob === '**' ? glob : `**/${glob}`);
    this.#report = new GrepReport({ filesOnly, context, maxMatches });
    this.#cooperativeYield = new CooperativeYield(signal);
  }

  async run(places: Places, place: Place): Promise<string> {
    if (!(await places.isFolder(place))) {
      // A file that is named is searched however large it is.
      const handle = await places.openFile(place);
      try {
        await this.#searchFile(await beginningOf(handle), place.shown, Number.POSITIVE_INFINITY);
        return this.#report.toText(this.#remarks());
      } finally {
        await handle.close();
      }
    }
    const notes = await this.#searchTree(places, place);
    return this.#report.toText([...this.#remarks(), ...notes]);
  }

  async #searchTree(places: Places, start: Place): Promise<readonly string[]> {
    const { includeHidden = false, includeIgnored = false } = this.#input;
    const walk = new TreeWalk({ places, start, glob: this.#glob, includeHidden, includeIgnored, signal: this.#signal });
    for await (const { folder, files } of walk.folders()) {
      // What a link leads to is found where it lies, or is not to be found.
      const names = files.filter(({ isLink }) => !isLink).map(({ name }) => name);
      const shownFolder = places.shownAs(folder.realPath);
      for (let at = 0; at < names.length && !this.#report.isFull; at += OPENED_AHEAD) {
        await this.#searchTogether(
          names.slice(at, at + OPENED_AHEAD).map((name) => ({ at: folder.at(name), shown: below(shownFolder, name) })),
        );
      }
      if (this.#report.isFull) break;
    }
    return walk.notes;
  }

  /** Opens some files at once, for most of the time goes into that, and searches them one after the other. */
  async #searchTogether(paths: readonly { readonly at: string; readonly shown: string }[]): Promise<void> {
    const handles = await Promise.all(paths.map(({ at, shown }) => openRegularFile(at, shown).catch(() => undefined)));
    try {
      const beginnings = await Promise.all(
        handles.map(async (handle) => (handle === undefined ? undefined : beginningOf(handle))),
      );
      for (const [index, beginning] of beginnings.entries()) {
        if (beginning === undefined) this.#passedOver.unreadable += 1;
        else await this.#searchFile(beginning, paths[index]?.shown ?? '', MAX_GREP_FILE_BYTES);
        if (this.#report.isFull) return;
      }
    } finally {
      await Promise.all(handles.map(async (handle) => handle?.close()));
    }
  }

  async #searchFile(beginning: Beginning, path: string, maxBytes: number): Promise<void> {
    if (fileKindOf(beginning.bytes).kind !== 'text') this.#passedOver.binary += 1;
    else if (beginning.size > maxBytes) this.#passedOver.large += 1;
    else await this.#searchLines(beginning, path);
  }

  async #searchLines(beginning: Beginning, path: string): Promise<void> {
    const splitter = new LineSplitter({ maxCharacters: MAX_GREP_LINE_CHARACTERS });
    const shown = new ShownText({ secrets: this.#secrets, hasMark: false });
    this.#report.beginFile(path);
    let number = 0;
    let hasLongLine = false;
    const add = (text: string, characters: number): boolean => {
      number += 1;
      hasLongLine ||= characters > text.length;
      return this.#report.add({ number, text, matchAt: matchAt(this.#pattern, text) });
    };
    const addLines = async (piece: string): Promise<boolean> => {
      for (const { text, characters } of splitter.push(piece)) {
        if (!add(text, characters)) return false;
        if (this.#cooperativeYield.isDue) await this.#cooperativeYield.rest();
      }
      return true;
    };
    let isWanted = true;
    for await (const chunk of chunksFrom(beginning, this.#signal)) {
      isWanted = await addLines(shown.push(chunk));
      if (!isWanted) break;
    }
    const last = isWanted && (await addLines(shown.end())) ? splitter.end() : undefined;
    if (last !== undefined) add(last.text, last.characters);
    if (hasLongLine) this.#passedOver.longLines += 1;
  }

  #remarks(): readonly string[] {
    const { binary, large, unreadable, longLines } = this.#passedOver;
    const said: readonly (readonly [number, string])[] = [
      [binary, 'not searched because not text'],
      [large, `not searched because larger than ${MAX_GREP_FILE_BYTES} bytes; name such a file as path to search it`],
      [unreadable, 'not searched because it could not be read'],
      [longLines, `with lines of which only the first ${MAX_GREP_LINE_CHARACTERS} characters were searched`],
    ];
    return said.flatMap(([count, what]) =>
      count === 0 ? [] : [`${count} ${count === 1 ? 'file' : 'files'} ${what}.`],
    );
  }
}
