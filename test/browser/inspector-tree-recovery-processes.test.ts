/** What the page says and does when the program that it checks goes, comes back, is another one, or says nothing. */
import { describe, expect, it } from 'vitest';
import { newPlace } from '../../src/adapters/inspector/place.ts';
import { RecordedSource } from '../adapters/inspector/recorded-source.ts';
import { browserOfFile } from '../support/browser.ts';
import { supervisor, task, told, treeSetup } from './inspector-tree-setup.ts';

const browser = await browserOfFile();
const WAIT_MS = 20_000;
const LONG_MS = 90_000;

class OtherProgram extends RecordedSource {
  override readonly header = {
    format: 'inspection-log/1',
    boot: 'b2',
    startedAt: 2_000,
  } as const as unknown as RecordedSource['header'];
}

const status = (text: string | RegExp): { readonly hasText: string | RegExp } => ({ hasText: text });

describe.skipIf(browser === undefined)('a page whose program ends', () => {
  it(
    'keeps what it knows, says what to do, and goes on once this browser has signed in anew',
    async () => {
      const { page, source, stop, start, signInElsewhere } = await treeSetup(browser!, {
        records: told([supervisor, task(1)]),
      });
      const header = page.getByRole('banner');
      await header
        .getByRole('status')
        .filter(status(/^live$/))
        .waitFor();
      await page.getByRole('treeitem', { name: 'job 1' }).waitFor();
      await stop();
      await header.getByRole('status').filter(status('no answer for')).waitFor({ timeout: WAIT_MS });
      await expect.poll(() => page.getByRole('treeitem').count()).toBe(2);
      source.push(told([task(2)], 3));
      await start();
      await header.getByRole('status').filter(status('this browser has not signed in')).waitFor({ timeout: WAIT_MS });
      await page
        .getByRole('alert')
        .filter({ hasText: 'Open the address that the program printed.' })
        .waitFor({ timeout: WAIT_MS });
      await signInElsewhere();
      await header
        .getByRole('status')
        .filter(status(/^live$/))
        .waitFor({ timeout: WAIT_MS });
      await expect.poll(() => page.getByRole('treeitem').count(), { timeout: WAIT_MS }).toBe(3);
      await expect.poll(() => page.getByText('missing').count()).toBe(0);
    },
    LONG_MS,
  );

  it(
    'says to open the new address when it is started anew on its port, and is not taken for it',
    async () => {
      const { page, stop, start } = await treeSetup(browser!, { records: told([supervisor, task(1)]) });
      await page.getByRole('treeitem', { name: 'job 1' }).waitFor();
      await stop();
      await start(new OtherProgram(), newPlace());
      await page
        .getByRole('alert')
        .filter({ hasText: 'Open the address that the program printed' })
        .waitFor({ timeout: WAIT_MS });
      await expect.poll(() => page.getByRole('treeitem').count()).toBe(2);
    },
    LONG_MS,
  );

  it(
    'shows the new one when another program comes back on its port, and says so',
    async () => {
      const { page, stop, start, signInElsewhere } = await treeSetup(browser!, {
        records: told([supervisor, task(1)]),
      });
      await page.getByRole('treeitem', { name: 'job 1' }).waitFor();
      await stop();
      const other = new OtherProgram();
      other.push([{ s: 1, t: 5_000, k: 'actor', a: 'b2:x:0', id: 'the new one', status: 'active' }]);
      await start(other);
      await signInElsewhere();
      await page.getByRole('treeitem', { name: 'the new one' }).waitFor({ timeout: WAIT_MS });
      await expect.poll(() => page.getByRole('treeitem').count()).toBe(1);
      await page.getByText('1 note').click();
      await page.getByText('The program was started anew.').waitFor();
    },
    LONG_MS,
  );

  it(
    'says how many records are missing that were gone before it came back',
    async () => {
      const { page, source, stop, start, signInElsewhere } = await treeSetup(browser!, {
        records: told([supervisor, task(1)]),
        limit: 4,
      });
      await page.getByRole('treeitem', { name: 'job 1' }).waitFor();
      await stop();
      source.push(
        told(
          [2, 3, 4, 5, 6, 7].map((number) => task(number)),
          3,
        ),
      );
      await start();
      await signInElsewhere();
      await page.getByRole('treeitem', { name: 'job 7' }).waitFor({ timeout: WAIT_MS });
      await page.getByText('1 note').click();
      await expect
        .poll(() => page.getByRole('banner').getByRole('list').textContent())
        .toContain('2 records on the way are missing');
    },
    LONG_MS,
  );
});

describe.skipIf(browser === undefined)('a page', () => {
  it('says what is missing at the beginning', async () => {
    const { page } = await treeSetup(browser!, { records: told([supervisor, task(1), task(2), task(3)]), limit: 2 });
    await page.getByText('1 note').click();
    await expect
      .poll(() => page.getByRole('banner').getByRole('list').textContent())
      .toContain('The 2 records before number 3 are missing');
  });

  it(
    'that sleeps gives its connection back, and catches up when it is watched again',
    async () => {
      const { page, source } = await treeSetup(browser!, {
        records: told([supervisor, task(1)]),
        before: (opened) => opened.clock.install(),
      });
      await page.getByRole('treeitem', { name: 'job 1' }).waitFor();
      await expect.poll(() => source.followers, { timeout: WAIT_MS }).toBe(1);
      const check = (state: 'hidden' | 'visible'): Promise<void> =>
        page.evaluate((to) => {
          const { document, Event } = globalThis as unknown as {
            document: { dispatchEvent(event: unknown): void };
            Event: new (name: string) => unknown;
          };
          Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => to });
          document.dispatchEvent(new Event('visibilitychange'));
        }, state);
      await check('hidden');
      await page.clock.fastForward('01:00:00');
      await expect.poll(() => source.followers, { timeout: WAIT_MS }).toBe(0);
      source.push(told([task(2), task(3)], 3));
      await check('visible');
      await page.getByRole('treeitem', { name: 'job 3' }).waitFor({ timeout: WAIT_MS });
      await expect.poll(() => source.followers, { timeout: WAIT_MS }).toBe(1);
    },
    LONG_MS,
  );

  it(
    'says when the program takes long to answer, and that it does no more',
    async () => {
      const { page } = await treeSetup(browser!, {
        records: told([supervisor]),
        before: (opened) => opened.clock.install(),
      });
      await page.getByRole('treeitem').first().waitFor();
      let answer = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route('**/api/about', async (route) => {
        await held;
        await route.continue();
      });
      await page.clock.runFor(10_000);
      await page
        .getByRole('banner')
        .getByRole('status')
        .filter(status('slow, no answer for'))
        .waitFor({ timeout: WAIT_MS });
      answer();
      await expect
        .poll(() => page.getByRole('banner').getByRole('status').textContent(), { timeout: WAIT_MS })
        .toBe('live');
    },
    LONG_MS,
  );
});
