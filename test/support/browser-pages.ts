/** Pages that reach this machine and nothing else, with a note of what they tried and of what their consoles said. */
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface PageCheck {
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Default: there are none. What they ask for by themselves is not noted. */
  readonly serviceWorkers?: 'allow' | 'block';
}

export interface PageNotes {
  /** Addresses outside of this machine that pages asked for and did not get. */
  readonly refused: string[];
  /** Console messages and errors, in the order they came. */
  readonly said: string[];
}

/**
 * Chromium sends everything but loopback here, where nobody listens: also what it asks for by itself, which no page's
 * route sees.
 */
export const NOWHERE = 'http://127.0.0.1:1';

/** Chromium says that it did what a server asked it to. */
const CLEARED = /^Clear-Site-Data header on .*: Cleared data types: /;

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

export async function openPage(
  browser: Browser,
  { refused, said }: PageNotes,
  { colorScheme = 'light', viewport = { width: 1280, height: 900 }, serviceWorkers = 'block' }: PageCheck,
): Promise<Page> {
  const context = await browser.newContext({
    colorScheme,
    viewport,
    deviceScaleFactor: 1,
    serviceWorkers,
    acceptDownloads: false,
    reducedMotion: 'reduce',
  });
  await shutIn(context, refused);
  context.on('console', (message) => {
    if (!CLEARED.test(message.text())) said.push(`${message.type()}: ${message.text()}`);
  });
  context.on('weberror', (error) => said.push(`error: ${String(error.error())}`));
  return context.newPage();
}

async function shutIn(context: BrowserContext, refused: string[]): Promise<void> {
  await context.route('**/*', async (route) => {
    const address = route.request().url();
    if (isHere(address)) return route.continue();
    refused.push(address);
    return route.abort('blockedbyclient');
  });
  await context.routeWebSocket(/./, async (socket) => {
    if (isHere(socket.url())) {
      socket.connectToServer();
      return;
    }
    refused.push(socket.url());
    await socket.close();
  });
}

function isHere(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return (
    protocol === 'data:' ||
    (['http:', 'https:', 'ws:', 'wss:'].includes(protocol) &&
      (LOOPBACK.has(hostname) || hostname.endsWith('.localhost')))
  );
}
