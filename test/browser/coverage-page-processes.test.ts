/** The page that shows what was taken of a chart, in a real browser: legible, for all, and alone. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCoverage } from '../../src/node.ts';
import { browserOfFile } from '../support/browser.ts';
import { order } from '../testing/order-shop.ts';

const browser = await browserOfFile();
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
let html = '';
const server = createServer(({ url }, response) => {
  if (url === '/') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  else response.writeHead(404).end();
});

interface Axe {
  run(): Promise<{ readonly violations: readonly { readonly id: string; readonly nodes: readonly object[] }[] }>;
}

describe.skipIf(browser === undefined)('the page of what was taken', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    const transitions = { 'open|ADD|0': 1, 'open|PAY|0': 1, 'paying|done(charge)|0': 1 };
    html = await renderCoverage(order, { chart: 'order', transitions, pairs: {} });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it.each([
    ['light', 1400],
    ['dark', 390],
  ] as const)('is right in %s, %d pixels wide', async (colorScheme, width) => {
    const page = await browser!.open({ colorScheme, viewport: { width, height: 900 } });
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { waitUntil: 'load' });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await expect.poll(() => page.locator('.picture [data-transition].is-added').count()).toBe(3);
    await expect.poll(() => page.locator('.picture [data-state].is-removed').count()).toBe(2);
    const way = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: 'paid|after(86400000)|0' }) });
    expect((await way.getByRole('listitem').allInnerTexts()).at(-1)).toBe('1 d pass → closed');
    await page.evaluate(AXE);
    const violations = await page.evaluate(async () => {
      const found = await (globalThis as unknown as { readonly axe: Axe }).axe.run();
      return found.violations.map(({ id, nodes }) => `${id} ${nodes.length}`);
    });
    expect(violations).toEqual([]);
    expect(browser!.said).toEqual([]);
  });
});
