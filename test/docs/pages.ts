/** The documents of the project, and the code in them. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** Paths of every page, from the checkout. */
export const pages: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(checkout, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
];

export function readPage(path: string): string {
  return readFileSync(join(checkout, path), 'utf8');
}

export interface CodeBlock {
  /** What stands after the opening backticks: the language, then what is claimed of it. */
  readonly info: string;
  readonly code: string;
  /** 1-based line of the opening backticks. */
  readonly line: number;
}

const FENCE = /^```(?<info>[^\n`]+)\n(?<code>[\s\S]*?)^```$/gm;

export function codeBlocks(page: string): CodeBlock[] {
  return [...page.matchAll(FENCE)].map(({ groups, index }) => ({
    info: groups?.['info']?.trim() ?? '',
    code: groups?.['code'] ?? '',
    line: page.slice(0, index).split('\n').length,
  }));
}
