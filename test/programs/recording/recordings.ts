/**
 * Conversations of real programs with us, written down once and played again without the program.
 * `RECORD=1 npm run test:programs` writes them down anew.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import { cut } from '../../fixtures/recorded/cut.mjs';

type Program = NonNullable<ProviderSettings['program']>;

const RECORDED = new URL('../../fixtures/recorded/', import.meta.url);
const RECORDER = fileURLToPath(new URL('recorder.mjs', import.meta.url));
const REPLAY = fileURLToPath(new URL('replay.mjs', RECORDED));

/** One line of a recording: what a process was started with, was told, told, and how it ended. */
interface Entry {
  readonly start?: readonly string[];
  readonly us?: unknown;
  readonly closed?: true;
  readonly program?: unknown;
  readonly end?: { readonly code: number | null; readonly signal: string | null };
}

interface Saved {
  readonly program: string;
  readonly version: string;
  /** Stands as `<home>` in it. */
  readonly home: string;
  /** What our log said in the end: a replay has to come to the same. */
  readonly story: unknown;
  readonly trim?: ((message: Readonly<Record<string, unknown>>) => unknown) | undefined;
}

export interface Tape {
  /** What runs in place of the program. */
  readonly program: (program: Program) => Program;
  readonly isReplayed: boolean;
  /**
   * What our log says in the end: written down with the recording, or held against it.
   * @throws what the program was told otherwise than when it was recorded
   */
  readonly concludes: (story: unknown) => Promise<void>;
}

export interface TapeOptions {
  readonly name: string;
  /** Whether it is played in place of the program. Default false: it is written down where RECORD is set. */
  readonly isReplayed?: boolean | undefined;
  /** Leaves out of a message of the program what nobody reads and is long. */
  readonly trim?: Saved['trim'];
}

type Taped = Pick<Saved, 'program' | 'version' | 'home'>;

/** @param taped the program, and the folder that is its user's */
export async function openTape({ name, isReplayed = false, trim }: TapeOptions, taped: Taped): Promise<Tape> {
  const file = fileURLToPath(new URL(`${taped.program}/${name}.jsonl`, RECORDED));
  if (!isReplayed && process.env['RECORD'] === undefined)
    return { program: (program) => program, isReplayed, concludes: async (story) => compare(file, story) };
  const folder = await mkdtemp(join(taped.home, 'tape-'));
  if (!isReplayed)
    return {
      program: ({ command, args = [], ...rest }) => ({
        ...rest,
        command: process.execPath,
        args: [RECORDER, folder, command, ...args],
      }),
      isReplayed,
      concludes: (story) => saveRecording(file, folder, { ...taped, story, trim }),
    };
  return {
    program: ({ args = [], set = {}, ...rest }) => ({
      ...rest,
      command: process.execPath,
      args: [REPLAY, file, ...args],
      set: { ...set, REPLAY_FOLDER: folder, REPLAY_HOME: taped.home },
    }),
    isReplayed,
    concludes: async (story) => {
      const wrong = join(folder, 'wrong.txt');
      expect(existsSync(wrong) ? readFileSync(wrong, 'utf8') : '').toBe('');
      compare(file, story);
    },
  };
}

function compare(file: string, story: unknown): void {
  const head = JSON.parse(readFileSync(file, 'utf8').split('\n', 1)[0] ?? '') as Pick<Saved, 'story'>;
  expect(story).toEqual(head.story);
}

/** Writes down what a recorder has left in `folder`. */
async function saveRecording(
  file: string,
  folder: string,
  { program, version, home, story, trim }: Saved,
): Promise<void> {
  const processes = readdirSync(folder).toSorted();
  const entries = processes.flatMap((each) =>
    readFileSync(join(folder, each), 'utf8')
      .trim()
      .split('\n')
      .map((line) => small(JSON.parse(line) as Entry, trim)),
  );
  const scrub = scrubber(home);
  const lines = [{ program, version, story }, ...entries].map((entry) => scrub(JSON.stringify(entry)));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${lines.join('\n')}\n`);
}

function small(entry: Entry, trim: Saved['trim']): Entry {
  if (entry.us !== undefined) return { us: cut(parsed(entry.us)) };
  if (entry.program === undefined) return entry;
  const message = parsed(entry.program);
  const isMessage = typeof message === 'object' && message !== null;
  return { program: steady(cut(isMessage && trim !== undefined ? trim(message as Record<string, unknown>) : message)) };
}

function parsed(line: unknown): unknown {
  try {
    return JSON.parse(String(line));
  } catch {
    return line;
  }
}

const MEASURED = /(?:_ms|Ms|^duration|^timestamp|_at|At)$/;

/** Times and measures are those of no machine. */
function steady(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(steady);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      MEASURED.test(key) && typeof one === 'number' && !/resets/i.test(key) ? 1 : steady(one),
    ]),
  );
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const OUR_ULID = /\b(?:session|run|event|wake)_[0-9A-HJKMNP-TV-Z]{26}\b/gi;
const PORT = /127\.0\.0\.1:\d+/g;

/** Takes out what is of this machine and of this run. Ids get numbers, the same id the same one. */
function scrubber(home: string): (text: string) => string {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    const known = ids.get(id) ?? `<id:${ids.size + 1}>`;
    ids.set(id, known);
    return known;
  };
  return (text) =>
    text
      .replaceAll(home, '<home>')
      .replaceAll(home.replaceAll(/[^A-Za-z0-9]/g, '-'), '<home>')
      .replaceAll(OUR_ULID, numbered)
      .replaceAll(UUID, numbered)
      .replaceAll(TIME, '2026-01-01T00:00:00.000Z')
      .replaceAll(PORT, '127.0.0.1:1');
}
