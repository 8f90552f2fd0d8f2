import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { withReference } from '../../src/cli/reference.ts';
import { eventCatalogue } from './event-catalogue.ts';
import { checkout, codeBlocks, pages, readPage } from './pages.ts';
import { withProtocolStates } from './protocol-states.ts';
import { toolCatalogue } from './tool-catalogue.ts';

/** Brought up to date with `npx vitest run test/docs/pages.test.ts --update`. */
describe('a page that is written from the code', () => {
  it('says about the command line what its definitions say', async () => {
    const page = 'docs/command-line.md';
    const current = withReference(
      readPage(page),
      createProgram(() => Promise.resolve()),
    );
    await expect(current).toMatchFileSnapshot(join(checkout, page));
  });

  it('says about events what their schemas say', async () => {
    await expect(eventCatalogue()).toMatchFileSnapshot(join(checkout, 'docs/events.md'));
  });

  it('says about the states of other protocols what the tables say by which they are served', async () => {
    const page = 'docs/protocols.md';
    await expect(withProtocolStates(readPage(page))).toMatchFileSnapshot(join(checkout, page));
  });

  it('says about managed tools what the tools of a runtime say', async () => {
    await expect(await toolCatalogue()).toMatchFileSnapshot(join(checkout, 'docs/tool-catalogue.md'));
  });
});

/** The anchor that a heading gets. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

describe('links', () => {
  it.each(pages)('of %s lead somewhere', (path) => {
    const links = [...readPage(path).matchAll(/\]\((?<target>[^)\s]+)\)/g)].map(
      ({ groups }) => groups?.['target'] ?? '',
    );
    const broken = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(checkout, target))) return true;
      return anchor !== undefined && !anchorsOf(readPage(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

/** Whether words of a page that name a command lead to one. */
function isCommand(words: readonly string[], program: Command): boolean {
  let at = program;
  for (const word of words) {
    if (at.commands.length === 0 || !/^[a-z][a-z-]*$/.test(word)) break;
    const next = at.commands.find((each) => each.name() === word);
    if (next === undefined) return false;
    at = next;
  }
  return true;
}

describe('commands that are named in the sentences', () => {
  const program = createProgram(() => Promise.resolve());
  const groups = program.commands.filter(({ commands }) => commands.length > 0).map((each) => each.name());
  const named = new RegExp(`\`(?:wakechart (?<whole>[a-z][^\`\n]*)|(?<short>(?:${groups.join('|')}) [a-z-]+))\``, 'g');

  // Decisions tell what was not taken, too.
  it.each(pages.filter((path) => !path.startsWith('docs/decisions/')))('of %s are there', (path) => {
    const unknown = [...readPage(path).matchAll(named)]
      .map(({ groups: found }) => found?.['whole'] ?? found?.['short'] ?? '')
      .filter((command) => !isCommand(command.split(' '), program));
    expect(unknown).toEqual([]);
  });
});

describe('the list of decisions', () => {
  const page = readPage('docs/decisions/README.md');
  const rows = [...page.matchAll(/^\| \[(?<number>\d{4})\]\((?<file>[^)]+)\) \| .+ \|$/gm)].map(({ groups }) => groups);

  it('has a row for every decision, in order, and for no other', () => {
    const files = readdirSync(join(checkout, 'docs/decisions')).filter((name) => /^\d{4}-.+\.md$/.test(name));
    expect(rows.map((row) => row?.['file'])).toEqual(files.toSorted());
  });

  it('calls each by the number of its file', () => {
    expect(rows.filter((row) => row?.['file']?.startsWith(`${row['number']}-`) !== true)).toEqual([]);
  });
});

describe('the README', () => {
  it('begins with two commands, and the second one runs the tests', () => {
    const [first] = codeBlocks(readPage('README.md'));
    expect(first).toMatchObject({ info: 'sh', code: 'npm ci && npm run demo\nnpm test\n' });
    expect(first?.line).toBeLessThan(12);
  });
});

describe('the page about the architecture', () => {
  const page = readPage('docs/architecture.md');
  const named = [...page.matchAll(/`((?:machines|actors|adapters)\/[\w.-]+|src\/[\w.-]+\.ts)`/g)].map(([, path = '']) =>
    path.startsWith('src/') ? path : `src/${path}`,
  );

  it('names files and folders that are there', () => {
    const paths = [...page.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(40);
    expect(paths.filter((path) => !existsSync(join(checkout, path)))).toEqual([]);
  });

  it('has a line for every part of every layer, and for no other', () => {
    const parts = ['machines', 'actors', 'adapters'].flatMap((room) =>
      readdirSync(join(checkout, 'src', room)).map((name) => `src/${room}/${name}`),
    );
    const roots = readdirSync(join(checkout, 'src')).filter((name) => statSync(join(checkout, 'src', name)).isFile());
    expect(new Set(named)).toEqual(new Set([...parts, ...roots.map((name) => `src/${name}`)]));
  });
});
