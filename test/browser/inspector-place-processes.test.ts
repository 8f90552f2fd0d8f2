/**
 * What a real browser keeps apart: nothing that it has of an inspector goes to another program of this machine, and
 * nothing of those comes in between.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { diagramHash } from '../../src/adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../src/adapters/diagram/render-chart.ts';
import type { InspectorServer } from '../../src/adapters/inspector/inspector-server.ts';
import { startInspector } from '../../src/adapters/inspector/inspector.ts';
import { RecordedSource } from '../adapters/inspector/recorded-source.ts';
import { browserOfFile } from '../support/browser.ts';
import { supervisor, task, told } from './inspector-tree-setup.ts';

const browser = await browserOfFile();
const PAGE = fileURLToPath(new URL('../../dist/inspector-page/', import.meta.url));
const PATIENCE = { timeout: 60_000 };

/** Takes every page that is opened at its origin over, and says so. */
const WORKER = `
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => event.respondWith(new Response('<title>taken over</title>' + event.request.url, { headers: { 'content-type': 'text/html' } })));
`;
const REGISTERS = `<script>navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => { document.title = 'left behind'; });</script>`;

interface OtherProgram {
  readonly port: number;
  /** The Cookie headers that it was sent. */
  readonly cookies: (string | undefined)[];
  close(): Promise<void>;
}

async function otherProgram(
  answer: (path: string) => { readonly type: string; readonly text: string },
): Promise<OtherProgram> {
  const cookies: (string | undefined)[] = [];
  const listener: RequestListener = ({ headers, url = '' }, response) => {
    cookies.push(headers.cookie);
    const { type, text } = answer(url);
    response.writeHead(200, { 'content-type': type, connection: 'close' }).end(text);
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    if (server.listening) await once(server, 'close');
  };
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, cookies, close };
}

const plain = (): { readonly type: string; readonly text: string } => ({ type: 'text/html', text: 'a preview' });

async function inspector(port = 0): Promise<InspectorServer> {
  const source = new RecordedSource();
  // One that waits for a person would be shown first, in place of the actors.
  source.sessions = async () => ({ sessions: [], total: 0 });
  source.push(told([supervisor, task(1)]));
  const server = await startInspector({
    source,
    port,
    pictures: { hash: diagramHash, draw: renderChart },
    pageDirectory: PAGE,
    onProblem: () => undefined,
  });
  onTestFinished(() => server.close());
  return server;
}

async function opened(options: { readonly serviceWorkers?: 'allow' } = {}): Promise<Page> {
  const page = await browser!.open(options);
  onTestFinished(() => page.context().close());
  return page;
}

const shown = (page: Page): Promise<void> => page.getByRole('treeitem', { name: 'job 1' }).waitFor();

describe.skipIf(browser === undefined)('a browser that has signed in', PATIENCE, () => {
  it.each(['by the name of the inspector', 'by the address of this machine'])(
    '%s tells its cookie to no other program',
    async (how) => {
      const server = await inspector();
      const other = await otherProgram(plain);
      const page = await opened();
      const address = new URL(server.signInAddress());
      const { hostname } = address;
      if (how === 'by the address of this machine') address.hostname = '127.0.0.1';
      await page.goto(address.href);
      await shown(page);
      expect(new URL(page.url()).search).toBe('');
      const cookies = await page.context().cookies();
      expect(cookies).toEqual([
        expect.objectContaining({
          domain: address.hostname,
          path: address.pathname,
          httpOnly: true,
          sameSite: 'Strict',
        }),
      ]);
      const preview = await page.context().newPage();
      for (const host of ['127.0.0.1', 'localhost', hostname, `x.${hostname}`])
        await preview.goto(`http://${host}:${other.port}/`);
      expect(other.cookies.length).toBeGreaterThanOrEqual(4);
      expect(other.cookies.filter((cookie) => cookie !== undefined)).toEqual([]);
    },
  );

  it('is still signed in when it loads the page anew, and at no other address of the same server', async () => {
    const server = await inspector();
    const page = await opened();
    await page.goto(server.signInAddress());
    await shown(page);
    await page.reload();
    await shown(page);
    const { pathname, host } = new URL(page.url());
    const statuses: (number | undefined)[] = [];
    for (const elsewhere of [`${server.origin}${pathname}`, `http://${host}/`, `${server.origin}/`])
      statuses.push((await page.goto(elsewhere))?.status());
    expect(statuses).toEqual([401, 404, 404]);
  });

  it('may be sent by a page elsewhere that knows the address, and keeps what is after #', async () => {
    const server = await inspector();
    const address = `${server.signInAddress()}#s=2`;
    const leading = await otherProgram(() => ({
      type: 'text/html',
      text: `<meta http-equiv="refresh" content="0; url=${address}">`,
    }));
    const page = await opened();
    await page.goto(`http://127.0.0.1:${leading.port}/`);
    await shown(page);
    expect([new URL(page.url()).search, new URL(page.url()).hash]).toEqual(['', '#s=2']);
  });
});

describe.skipIf(browser === undefined)('a service worker that another program left at this port', PATIENCE, () => {
  it('does not come between the browser and the inspector', async () => {
    const before = await otherProgram((path) =>
      path === '/worker.js' ? { type: 'text/javascript', text: WORKER } : { type: 'text/html', text: REGISTERS },
    );
    const page = await opened({ serviceWorkers: 'allow' });
    await page.goto(`http://127.0.0.1:${before.port}/`);
    await page.waitForFunction("document.title === 'left behind'");
    await before.close();
    const server = await inspector(before.port);
    await page.goto(server.signInAddress());
    await shown(page);
    expect([await page.title(), page.context().serviceWorkers().length]).toEqual([
      expect.stringContaining('Wakechart'),
      1,
    ]);
    // It does live on, where it was left.
    await page.goto(`${server.origin}/`);
    expect(await page.title()).toBe('taken over');
  });

  it('goes with all that was stored there when a browser signs in by that address all the same', async () => {
    const server = await inspector();
    const page = await opened({ serviceWorkers: 'allow' });
    const address = new URL(server.signInAddress());
    address.hostname = '127.0.0.1';
    await page.goto(`${address.origin}/`);
    await page.evaluate("localStorage.setItem('left', 'behind')");
    await page.goto(address.href);
    await shown(page);
    expect(await page.evaluate("localStorage.getItem('left')")).toBeNull();
  });
});
