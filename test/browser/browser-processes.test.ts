/** The browser of the tests itself: what it reaches, what it leaves, and what is said where there is none. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { browserOfFile, missingWord, startBrowser } from '../support/browser.ts';
import { chromiumFile } from '../support/chromium-file.ts';
import { livingOf } from '../support/process-family.ts';

const browser = await browserOfFile();

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Counts what reaches this machine, under any of its addresses. */
async function countingServer(): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*').end('<!doctype html><title>here</title>');
  });
  server.on('upgrade', (request, socket) => {
    asked.push(request.url ?? '');
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  return { port: (server.address() as AddressInfo).port, asked };
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unpacked-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs in the page: asks for an address in every way that a page has. */
async function askEverywhere(origin: string): Promise<void> {
  const settled = (start: (done: () => void) => void): Promise<void> => new Promise((resolve) => start(resolve));
  interface Asking {
    src: string;
    onload: () => void;
    onerror: () => void;
    onclose: () => void;
  }
  const { Image, WebSocket, document, navigator } = globalThis as unknown as {
    Image: new () => Asking;
    WebSocket: new (address: string) => Asking;
    document: { createElement(name: string): Asking; body: { append(element: Asking): void } };
    navigator: { sendBeacon(address: string): boolean };
  };
  await fetch(`${origin}/fetch`, { mode: 'no-cors' }).catch(() => undefined);
  await settled((done) => Object.assign(new Image(), { onload: done, onerror: done, src: `${origin}/image` }));
  await settled((done) => Object.assign(new WebSocket(`${origin.replace('http', 'ws')}/socket`), { onclose: done }));
  await settled((done) =>
    document.body.append(Object.assign(document.createElement('iframe'), { onload: done, src: `${origin}/frame` })),
  );
  navigator.sendBeacon(`${origin}/beacon`);
}

describe.skipIf(browser === undefined)('a page of a test', () => {
  it('reaches this machine, and no address outside of it, whatever way it takes', async () => {
    const { port, asked } = await countingServer();
    const page = await browser!.open();
    cleanups.push(() => page.context().close());
    await page.goto(`http://127.0.0.1:${port}/`);
    const [here, outside] = [`http://127.0.0.1:${port}`, `http://0.0.0.0:${port}`];
    // The same server, which would answer: it is the browser that does not ask.
    expect((await fetch(`${outside}/control`)).status).toBe(200);
    await page.evaluate(askEverywhere, here);
    await expect
      .poll(() => asked.filter((path) => !['/', '/control', '/favicon.ico'].includes(path)).toSorted())
      .toEqual(['/beacon', '/fetch', '/frame', '/image', '/socket']);
    asked.length = 0;
    browser!.refused.length = 0;
    await page.evaluate(askEverywhere, outside);
    await expect(page.goto(`${outside}/page`)).rejects.toThrow('ERR_BLOCKED_BY_CLIENT');
    await expect
      .poll(() => browser!.refused.toSorted())
      .toEqual([
        ...['beacon', 'fetch', 'frame', 'image', 'page'].map((name) => `${outside}/${name}`),
        `ws://0.0.0.0:${port}/socket`,
      ]);
    expect(asked).toEqual([]);
  });

  it('reaches nothing outside even where no route stands in its way', async () => {
    const { port, asked } = await countingServer();
    const page = await browser!.open();
    cleanups.push(() => page.context().close());
    await page.context().unrouteAll();
    await page.goto(`http://127.0.0.1:${port}/`);
    asked.length = 0;
    await page.evaluate(askEverywhere, `http://0.0.0.0:${port}`);
    await expect(page.goto(`http://0.0.0.0:${port}/page`)).rejects.toThrow('ERR_PROXY_CONNECTION_FAILED');
    expect(asked).toEqual([]);
  });

  it('leaves its words with the browser', async () => {
    const page = await browser!.open();
    cleanups.push(() => page.context().close());
    browser!.said.length = 0;
    await page.evaluate(() => console.warn('planted'));
    await expect.poll(() => browser!.said).toEqual(['warning: planted']);
  });
});

describe.skipIf(browser === undefined)('a browser', () => {
  it('is over when it is closed: none of its processes lives, and none of its files is left', async () => {
    const before = await readdir(tmpdir());
    const start = await startBrowser();
    if (start.kind === 'missing') throw new Error(start.reason);
    await start.browser.open();
    const processes = start.browser.processes();
    expect(livingOf(processes).length).toBeGreaterThan(2);
    await start.browser.close();
    expect(livingOf(processes)).toEqual([]);
    expect(await readdir(tmpdir())).toEqual(before);
  });

  it('is unpacked once by all that ask at the same time, and what a killed one left is cleared away', async () => {
    const folder = await emptyFolder();
    // A process that cannot be there: beyond the greatest number that Linux gives.
    await writeFile(join(folder, 'chromium-draft-4999999-abcdef'), 'half of it');
    const [one, other] = await Promise.all([chromiumFile(folder), chromiumFile(folder)]);
    expect(one).toBe(other);
    expect(await readdir(folder)).toEqual([one.slice(folder.length + 1)]);
    const { ino, size } = await stat(one);
    expect(size).toBeGreaterThan(50_000_000);
    expect((await stat(await chromiumFile(folder))).ino).toBe(ino);
  });
});

describe('a browser that cannot start', () => {
  it('says why and leaves nothing', async () => {
    const program = join(await emptyFolder(), 'chromium');
    await writeFile(
      program,
      '#!/bin/sh\necho "chromium: error while loading shared libraries: libnss3.so: not there" >&2\nexit 127\n',
      { mode: 0o700 },
    );
    const before = await readdir(tmpdir());
    const reasonOf = async (find: () => Promise<string>): Promise<string> => {
      const start = await startBrowser(find);
      return start.kind === 'missing' ? start.reason : 'it started';
    };
    expect(await reasonOf(async () => program)).toContain('libnss3.so: not there');
    expect(await reasonOf(async () => '/nowhere/chromium')).toContain('/nowhere/chromium');
    expect(await reasonOf(() => Promise.reject(new Error('the disk is full')))).toBe('the disk is full');
    expect(await readdir(tmpdir())).toEqual(before);
  });

  it.each(['true', '1'])('fails where CI is %s', (ci) => {
    expect(() => missingWord('no libnss3.so', ci)).toThrow('no libnss3.so');
  });

  it.each([undefined, '', 'false'])('is told of aloud where CI is %s', (ci) => {
    expect(missingWord('no libnss3.so', ci)).toContain('no libnss3.so');
  });
});
