/**
 * The providers that the user has set up for a home: `providers.yaml` in it, by name. What is wrong is named with its
 * line.
 */
import { readFile } from 'node:fs/promises';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { providerTable } from '../../machines/run/provider-settings.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { pathOf } from '../../machines/validate.ts';
import { hasCode } from '../system/error-codes.ts';

const MAX_FILE_CHARACTERS = 256_000;

/** None when there is no such file. @throws RuntimeError PROVIDERS_INVALID */
export async function readProviderFile(path: string): Promise<ProviderTable> {
  const text = await textOf(path);
  if (text === undefined) return {};
  if (text.length > MAX_FILE_CHARACTERS)
    throw invalid(path, [`expected at most ${MAX_FILE_CHARACTERS} characters, received ${text.length}`]);
  // Most homes have no such file.
  const { LineCounter, isNode, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true });
  const lineOf = (offset: number | undefined): string =>
    offset === undefined ? '' : `line ${lineCounter.linePos(offset).line}: `;
  if (document.errors.length > 0)
    throw invalid(
      path,
      document.errors.map(
        ({ pos: [offset], message }) =>
          `${lineOf(offset)}${message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? ''}`,
      ),
    );
  const reading = providerTable.safeParse(document.toJS({ maxAliasCount: 20 }) ?? {});
  if (reading.success) return reading.data;
  throw invalid(
    path,
    reading.error.issues.map((issue) => {
      const names = issue.path.filter((name) => typeof name !== 'symbol');
      const node = names.length === 0 ? document.contents : document.getIn(names, true);
      return `${lineOf(isNode(node) ? node.range?.[0] : undefined)}${names.length === 0 ? '' : `${pathOf(issue.path)}: `}${issue.message}`;
    }),
  );
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw invalid(path, [`it cannot be read: ${messageOf(error)}`]);
  }
}

function invalid(path: string, problems: readonly string[]): RuntimeError {
  return new RuntimeError(
    'PROVIDERS_INVALID',
    `${path} does not say which providers there are: ${problems.join('; ')}`,
    {
      category: 'validation',
      hint: 'Correct what is named. Each provider has a "backend" (embedded, cli-agent or acp) and what that needs: "api", "baseUrl" and "keyVariable" for embedded, a "program" with its "command" for the others.',
      details: { path },
    },
  );
}
