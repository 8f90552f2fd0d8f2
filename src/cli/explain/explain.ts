/** `wakechart explain`: the page of an error, which is in the package. */
import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageAround } from '../../adapters/child-process/default-worker-path.ts';
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { oneLine } from '../terminal/text.ts';

const PAGES = join('docs', 'errors');
const ENDING = '.md';

/** @throws RuntimeError ERROR_UNKNOWN, ERRORS_PAGE_MISSING */
export async function explainError({ out, json }: CommandContext, given: string): Promise<number> {
  const code = given
    .trim()
    .replaceAll(/^\[|\]$/g, '')
    .toUpperCase();
  const folder = pagesFolder();
  const known = await explainedCodes();
  if (!known.includes(code)) throw unknown(code, known);
  const text = textOf(await orMissing(folder, readFile(join(folder, code + ENDING), 'utf8')));
  if (json) await out.document({ code, text });
  else await out.line(`${code}\n\n${text}`);
  return EXIT_SUCCESS;
}

function pagesFolder(): string {
  return join(packageAround(dirname(fileURLToPath(import.meta.url))) ?? '.', PAGES);
}

/** @throws RuntimeError ERRORS_PAGE_MISSING */
export async function explainedCodes(): Promise<string[]> {
  const folder = pagesFolder();
  return (await orMissing(folder, readdir(folder))).map((name) => basename(name, ENDING));
}

async function orMissing<Result>(folder: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (cause) {
    throw new RuntimeError('ERRORS_PAGE_MISSING', `expected the pages about errors in ${folder}`, {
      category: 'not_found',
      hint: 'Install wakechart anew, or leave it out of the bundle.',
      cause,
    });
  }
}

/** What a page says, as plain text: without its heading and the line that leads to the others. */
function textOf(page: string): string {
  const [, , ...paragraphs] = page.split('\n\n');
  return plainText(paragraphs.join('\n\n').trim());
}

/** Without the marks of Markdown that stand for nothing at a terminal. */
function plainText(markdown: string): string {
  return markdown.replaceAll(
    /\\([\\`*_<>[\]|#])|`` (.*?) ``|`([^`]*)`/g,
    (_, escaped?: string, long?: string, short?: string) => escaped ?? long ?? short ?? '',
  );
}

function unknown(code: string, known: readonly string[]): RuntimeError {
  const meant = closestName(code, known);
  return new RuntimeError('ERROR_UNKNOWN', `there is no error ${JSON.stringify(oneLine(code))}`, {
    category: 'not_found',
    hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}Codes of your own runners and tools are explained where those are written.`,
  });
}
