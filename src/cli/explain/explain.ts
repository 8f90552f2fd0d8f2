/** `wakechart explain`: one entry of the page about errors, which is in the package. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageAround } from '../../adapters/child-process/default-worker-path.ts';
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { oneLine } from '../terminal/text.ts';

const PAGE = join('docs', 'errors.md');

/** @throws RuntimeError ERROR_UNKNOWN, ERRORS_PAGE_MISSING */
export async function explainError({ out, json }: CommandContext, given: string): Promise<number> {
  const code = given
    .trim()
    .replaceAll(/^\[|\]$/g, '')
    .toUpperCase();
  const entries = entriesOf(await readPage());
  const text = entries.get(code);
  if (text === undefined) throw unknown(code, [...entries.keys()]);
  if (json) await out.document({ code, text });
  else await out.line(`${code}\n\n${text}`);
  return EXIT_SUCCESS;
}

async function readPage(): Promise<string> {
  const root = packageAround(dirname(fileURLToPath(import.meta.url)));
  try {
    if (root !== undefined) return await readFile(join(root, PAGE), 'utf8');
  } catch {
    // Told below, with where it was looked for.
  }
  throw new RuntimeError('ERRORS_PAGE_MISSING', `expected the page about errors at ${join(root ?? '.', PAGE)}`, {
    category: 'not_found',
    hint: 'Install wakechart anew, or leave it out of the bundle.',
  });
}

/** What stands under each heading of the third level, as plain text. */
function entriesOf(page: string): Map<string, string> {
  const sections = page.split(/^#{2,3} /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return [heading, plainText(lines.join('\n').trim())] as const;
    }),
  );
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
