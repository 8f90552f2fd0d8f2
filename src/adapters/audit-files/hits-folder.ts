/** The folder in which the files of a test run say which transitions of the charts they saw. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ChartHits } from '../../machines/inspection/chart-change.ts';
import { mergeHits, parseHits } from '../../machines/inspection/hits.ts';

/** What one test file writes has some kilobytes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * All of them together, by the id of the chart: of a folder, or of one file, whatever its name.
 * @throws RuntimeError HITS_NOT_FOUND when no file of the folder is one of a test run, HITS_UNREADABLE
 */
export async function readHits(place: string): Promise<ReadonlyMap<string, ChartHits>> {
  const isFile = (await stat(place).catch(() => undefined))?.isFile() === true;
  const paths = isFile ? [place] : (await namesIn(place)).map((name) => join(place, name));
  const files: (readonly ChartHits[])[] = [];
  for (const path of paths) files.push(parseHits(await readBounded(path), basename(path)));
  return new Map(mergeHits(files.flat()).map((hits) => [hits.chart, hits]));
}

async function namesIn(directory: string): Promise<readonly string[]> {
  const notFound = (because: string, cause?: unknown): RuntimeError =>
    new RuntimeError(
      'HITS_NOT_FOUND',
      `expected the folder ${directory} to hold what a test run has seen of charts: ${because}`,
      {
        category: 'not_found',
        hint: 'Run the tests first; of this project they write to .build/chart-hits.',
        ...(cause === undefined ? {} : { cause }),
      },
    );
  let entries;
  try {
    entries = await readdir(directory, { withFileTypes: true });
  } catch (cause) {
    throw notFound(messageOf(cause), cause);
  }
  const names = entries.filter((entry) => entry.isFile() && /^\d+-\d+\.json$/.test(entry.name)).map(({ name }) => name);
  if (names.length === 0) throw notFound('there is no file named <process>-<number>.json in it');
  return names.toSorted();
}

async function readBounded(path: string): Promise<string> {
  const unreadable = (because: string, cause?: unknown): RuntimeError =>
    new RuntimeError('HITS_UNREADABLE', `${path} could not be read: ${because}`, {
      category: 'storage',
      hint: 'Run the tests again: each run writes these files anew.',
      ...(cause === undefined ? {} : { cause }),
    });
  try {
    const { size } = await stat(path);
    if (size <= MAX_FILE_BYTES) return await readFile(path, 'utf8');
  } catch (cause) {
    throw unreadable(messageOf(cause), cause);
  }
  throw unreadable(`it has more than ${MAX_FILE_BYTES} bytes`);
}
