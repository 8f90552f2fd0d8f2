/** The tree of actors, time and the line above everything, in a real browser. */
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserOfFile } from '../support/browser.ts';
import { accessibilityFaults } from './inspector-events-story.ts';
import { ended, supervisor, task, told, treeSetup } from './inspector-tree-setup.ts';

const browser = await browserOfFile();
const WAIT_MS = 15_000;
const MANY = 20_000;

const JOBS = told([
  supervisor,
  task(1),
  task(2, 'the \u202Eterces job'),
  ended(1),
  task(3),
  ended(3, 'failed'),
  { k: 'unheard of', a: 'b1:x:2' } as never,
  task(4),
]);

const scrollTop = (tree: Locator): Promise<number> =>
  tree.evaluate((element) => (element as unknown as { scrollTop: number }).scrollTop);

describe.skipIf(browser === undefined)('the tree of actors', () => {
  it('shows what each is, how it stands, and what cannot be seen in its name', async () => {
    const { page } = await treeSetup(browser!, { records: JOBS });
    const items = page.getByRole('tree', { name: 'Actors' }).getByRole('treeitem');
    await expect.poll(() => items.count(), { timeout: WAIT_MS }).toBe(5);
    await expect.poll(() => items.nth(3).textContent()).toBe('job 3, task, failed, took 1.0 s');
    await expect.poll(() => items.nth(2).textContent()).toContain('the \\u{202E}terces job');
    await expect.poll(() => items.nth(0).getAttribute('aria-expanded')).toBe('true');
    expect([
      await items.nth(4).getAttribute('aria-level'),
      await items.nth(4).getAttribute('aria-posinset'),
      await items.nth(4).getAttribute('aria-setsize'),
    ]).toEqual(['2', '4', '4']);
  });

  it('is walked through, opened and closed by keys', async () => {
    const { page } = await treeSetup(browser!, { records: JOBS });
    const tree = page.getByRole('tree', { name: 'Actors' });
    await tree.getByRole('treeitem').first().waitFor();
    await tree.focus();
    const chosen = async (): Promise<string | null> => tree.locator('[aria-selected=true]').textContent();
    for (const [key, name] of [
      ['End', 'job 4'],
      ['ArrowUp', 'job 3'],
      ['ArrowLeft', 'supervisor'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(chosen, { timeout: WAIT_MS }).toContain(name);
    }
    await expect
      .poll(() => tree.getAttribute('aria-activedescendant'))
      .toBe(await tree.locator('[aria-selected=true]').getAttribute('id'));
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => tree.getByRole('treeitem').count(), { timeout: WAIT_MS }).toBe(1);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => tree.getByRole('treeitem').count(), { timeout: WAIT_MS }).toBe(5);
  });

  it('lists what is searched for, and shows it in its place when the search is over', async () => {
    const { page } = await treeSetup(browser!, { records: JOBS });
    await page.getByRole('treeitem').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('JOB 3');
    const found = page.getByRole('listbox', { name: 'Actors found' });
    await found.getByRole('option', { name: /^job 3 supervisor.*task.*failed/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toContain('a=b1%3Ax%3A3');
    await page.getByRole('searchbox', { name: 'Search the actors' }).fill('');
    await page.getByRole('treeitem', { name: 'job 3', selected: true }).waitFor();
    await page.getByRole('button', { name: 'Failed 1' }).click();
    await expect.poll(() => found.getByRole('option').allTextContents()).toHaveLength(1);
    await page.getByRole('button', { name: 'Active 3' }).click();
    await expect.poll(() => found.getByRole('option').count(), { timeout: WAIT_MS }).toBe(3);
  });

  it('hides what is over where there is much, says how many, and has rows only for what is seen', async () => {
    const jobs = Array.from({ length: MANY }, (_, index) => index + 1);
    const { page, source } = await treeSetup(browser!, {
      records: told([
        supervisor,
        ...jobs.map((number) => task(number)),
        ...jobs.slice(0, -5).map((number) => ended(number)),
      ]),
    });
    const tree = page.getByRole('tree', { name: 'Actors' });
    await page.getByText('19,995 hidden').waitFor({ timeout: WAIT_MS });
    await expect.poll(() => tree.getByRole('treeitem').count(), { timeout: WAIT_MS }).toBe(6);
    await page.getByRole('checkbox', { name: 'Hide what is over' }).uncheck();
    await expect.poll(() => tree.getByRole('treeitem').count(), { timeout: WAIT_MS }).toBeGreaterThan(10);
    await expect.poll(() => tree.getByRole('treeitem').count()).toBeLessThan(60);
    await tree.focus();
    await page.keyboard.press('End');
    await tree.getByRole('treeitem', { name: `job ${MANY}`, selected: true }).waitFor();
    // What comes at the end moves nothing.
    const before = await scrollTop(tree);
    source.push(told([task(MANY + 1)], source.range().last + 1));
    await page.getByRole('button', { name: 'Active 7' }).waitFor();
    expect(await scrollTop(tree)).toBe(before);
  });

  it('keeps what is seen in its place when rows come before it', async () => {
    const child = (number: number): never =>
      ({ k: 'actor', a: `b1:c:${number}`, parent: 'b1:x:1', id: `inner ${number}`, status: 'active' }) as never;
    const { page, source } = await treeSetup(browser!, {
      records: told([supervisor, ...Array.from({ length: 150 }, (_, index) => task(index + 1)), child(1)]),
    });
    const tree = page.getByRole('tree', { name: 'Actors' });
    await tree
      .getByRole('treeitem', { name: /^job 1\b/ })
      .locator('.toggle')
      .click();
    await tree.getByRole('treeitem', { name: 'inner 1' }).waitFor();
    await tree.evaluate((element) => {
      (element as unknown as { scrollTop: number }).scrollTop = 1_400;
    });
    const row = tree.getByRole('treeitem', { name: /^job 60\b/ });
    await row.waitFor();
    const place = (await row.boundingBox())?.y;
    source.push(told([2, 3, 4, 5].map(child), source.range().last + 1));
    await page.getByRole('button', { name: 'All 156' }).waitFor();
    await expect.poll(async () => (await row.boundingBox())?.y, { timeout: WAIT_MS }).toBe(place);
  });

  it.each(['light', 'dark'] as const)(
    'passes a check of accessibility, %s, live and in the past',
    async (colorScheme) => {
      const { page } = await treeSetup(browser!, { records: JOBS, colorScheme });
      await page.getByRole('treeitem', { name: 'job 3' }).click();
      expect(await accessibilityFaults(page, ['Sessions and actors', 'Time'])).toEqual([]);
      await page.keyboard.press('Shift+E');
      await page.getByText('The past:').waitFor();
      expect(await accessibilityFaults(page, ['Sessions and actors', 'Time'])).toEqual([]);
    },
  );
});

describe.skipIf(browser === undefined)('time', () => {
  it('is moved through by keys and buttons, and the line above everything says where one is', async () => {
    const { page } = await treeSetup(browser!, { records: JOBS });
    const slider = page.getByRole('slider', { name: 'Moment that is shown' });
    const now = (): Promise<string | null> => slider.getAttribute('aria-valuenow');
    await expect.poll(now, { timeout: WAIT_MS }).toBe('8');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(now, { timeout: WAIT_MS }).toBe('7');
    await page.getByText('The past: 12:00:07.000').waitFor();
    await page.getByRole('button', { name: 'First record' }).click();
    await expect.poll(now, { timeout: WAIT_MS }).toBe('1');
    await expect.poll(() => page.getByRole('treeitem').count()).toBe(1);
    await page.getByRole('button', { name: 'Next failure' }).click();
    await expect.poll(now, { timeout: WAIT_MS }).toBe('6');
    await page.getByRole('treeitem', { name: 'job 3', selected: true }).waitFor();
    await page.keyboard.press('l');
    await expect.poll(now, { timeout: WAIT_MS }).toBe('8');
    // After now there is none: the last one is what is asked for.
    await page.keyboard.press('e');
    await expect.poll(now, { timeout: WAIT_MS }).toBe('6');
    await page.keyboard.press('l');
    await expect.poll(now, { timeout: WAIT_MS }).toBe('8');
    await expect.poll(() => page.getByText('The past:').count(), { timeout: WAIT_MS }).toBe(0);
  });

  it('is dragged through, and stays where it is while more comes; the end is live', async () => {
    const { page, source } = await treeSetup(browser!, { records: JOBS });
    const slider = page.getByRole('slider', { name: 'Moment that is shown' });
    await expect.poll(() => slider.getAttribute('aria-valuenow'), { timeout: WAIT_MS }).toBe('8');
    await page.getByRole('button', { name: 'by time' }).waitFor();
    const { x, y, width } = (await slider.boundingBox())!;
    await page.mouse.move(x + 2, y + 8);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 8);
    await expect.poll(() => slider.getAttribute('aria-valuenow'), { timeout: WAIT_MS }).toBe('4');
    source.push(told([task(5)], 9));
    await expect.poll(() => slider.getAttribute('aria-valuemax'), { timeout: WAIT_MS }).toBe('9');
    await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('4');
    await page.mouse.move(x + width + 20, y + 8);
    await expect.poll(() => slider.getAttribute('aria-valuenow'), { timeout: WAIT_MS }).toBe('9');
    await page.mouse.up();
    await page.getByRole('button', { name: 'Live', pressed: true }).waitFor();
  });

  it('is where an address says', async () => {
    const { page } = await treeSetup(browser!, { records: JOBS });
    await page.getByRole('treeitem').first().waitFor();
    await page.evaluate(() => {
      (globalThis as unknown as { location: { hash: string } }).location.hash = '#s=3&a=b1%3Ax%3A2';
    });
    await page.getByText('The past: 12:00:03.000').waitFor();
    await page.getByRole('treeitem', { name: /terces/, selected: true }).waitFor();
    await expect.poll(() => page.getByRole('treeitem').count()).toBe(3);
  });
});
