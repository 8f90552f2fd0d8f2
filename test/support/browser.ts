/**
 * A real Chromium for tests, one for each test file. It is closed after the last test, and only then is it over: when
 * none of its processes lives. Where it cannot start, tests are skipped and counted, with a word about it; in CI that
 * is a failure.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll } from 'vitest';
import { NOWHERE, openPage } from './browser-pages.ts';
import type { PageCheck, PageNotes } from './browser-pages.ts';
import { chromiumFile } from './chromium-file.ts';
import { familyOf, outliving, startedWith } from './process-family.ts';
import type { Member } from './process-family.ts';

const STARTING_LIMIT_MS = 60_000;
const CLOSING_LIMIT_MS = 10_000;

/**
 * No sandbox, which it does not have as root and needs only for pages of strangers. Text is measured as it is meant,
 * not fitted to pixels.
 */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--font-render-hinting=none',
  `--proxy-server=${NOWHERE}`,
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

export interface TestBrowser extends Readonly<PageNotes> {
  /** A page with nothing of any other: cookies and storage are its own. */
  readonly open: (check?: PageCheck) => Promise<Page>;
  /** All that run now. */
  readonly processes: () => readonly Member[];
  /** @throws Error that names the processes which did not end, when they had to be killed */
  readonly close: () => Promise<void>;
}

export type BrowserStart =
  | { readonly kind: 'started'; readonly browser: TestBrowser }
  | { readonly kind: 'missing'; readonly reason: string };

/**
 * The browser of a test file; call it at its top, outside of every test. Undefined where there is none. @throws Error
 * in CI, where there has to be one
 */
export async function browserOfFile(): Promise<TestBrowser | undefined> {
  const start = await startBrowser();
  if (start.kind === 'started') {
    afterAll(() => start.browser.close());
    return start.browser;
  }
  const word = missingWord(start.reason, process.env['CI']);
  process.stderr.write(`${word}\n`);
  return undefined;
}

/** What to say where no browser can start. @throws Error in CI */
export function missingWord(reason: string, ci: string | undefined): string {
  const word = `browser: Chromium does not start: ${reason}; what people see is not checked. Run scripts/ci-needs.sh, which brings what it needs.`;
  if (ci !== undefined && ci !== '' && ci !== 'false') throw new Error(word);
  return word;
}

export async function startBrowser(findProgram: () => Promise<string> = chromiumFile): Promise<BrowserStart> {
  const before = new Set(await readdir(tmpdir()));
  const home = await mkdtemp(join(tmpdir(), 'browser-'));
  try {
    const program = await findProgram();
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TMPDIR: home,
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      TZ: 'UTC',
      LANG: 'C.UTF-8',
    };
    const inside = await chromium.launch({
      executablePath: program,
      args: ARGUMENTS,
      env,
      timeout: STARTING_LIMIT_MS,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    return { kind: 'started', browser: testBrowser(inside, home) };
  } catch (error) {
    await clearAway(before);
    return { kind: 'missing', reason: firstLine(error) };
  }
}

function testBrowser(inside: Browser, home: string): TestBrowser {
  const roots = startedWith(`HOME=${home}`);
  const notes: PageNotes = { refused: [], said: [] };
  const processes = (): readonly Member[] => familyOf(roots);
  return {
    ...notes,
    open: (check = {}) => openPage(inside, notes, check),
    processes,
    close: async () => {
      const members = processes();
      const isClosed = inside.close();
      const left = await outliving(members, CLOSING_LIMIT_MS);
      for (const { pid } of left) process.kill(pid, 'SIGKILL');
      await isClosed;
      await rm(home, { recursive: true, force: true });
      if (left.length > 0)
        throw new Error(
          `the browser did not end within ${CLOSING_LIMIT_MS} ms; killed: ${left.map(({ pid }) => pid).join(', ')}`,
        );
    },
  };
}

/** Playwright leaves its folders behind where the program does not even start. */
async function clearAway(before: ReadonlySet<string>): Promise<void> {
  const ours = (await readdir(tmpdir())).filter((name) => !before.has(name) && /^(?:browser-|playwright)/.test(name));
  await Promise.all(ours.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
}

/** What a browser that fails says is long, and its first lines say why. */
function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const told =
    text.split('\n').find((line) => /error while loading|ENOENT|EACCES|Exec format|cannot/i.test(line)) ??
    text.split('\n')[0] ??
    text;
  return told.trim();
}
