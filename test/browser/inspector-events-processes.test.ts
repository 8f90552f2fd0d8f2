/** The list of records and the sequence diagram in the page of the inspector, in a real browser. */
import { describe, expect, it } from 'vitest';
import { browserOfFile } from '../support/browser.ts';
import { TASK, accessibilityFaults, shownStory, storyRecords } from './inspector-events-story.ts';

const browser = await browserOfFile();
const WAIT_MS = 10_000;
const MANY = 100_000;

const toEnd = (element: unknown): number => {
  const { scrollTop, clientHeight, scrollHeight } = element as Record<
    'scrollTop' | 'clientHeight' | 'scrollHeight',
    number
  >;
  return scrollHeight - clientHeight - scrollTop;
};
const scrolledTo = (element: unknown): number => (element as { scrollTop: number }).scrollTop;

describe.skipIf(browser === undefined)('the list of records', () => {
  it('tells each in words, and in full when it is chosen', async () => {
    const { page } = await shownStory(browser!);
    await page.getByRole('option', { name: /Event sent: START supervisor → Build it/ }).click();
    const detail = page.getByRole('region', { name: 'The record' });
    await expect.poll(() => detail.getByRole('button', { name: /Step: → running\.starting/ }).count()).toBe(1);
    await expect
      .poll(() => detail.getByRole('region', { name: 'Payload' }).textContent())
      .toContain('npm \\u{202E}test');
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toMatch(/s=4&a=b1%3Ax%3A1&e=4$/);
    await detail.getByRole('button', { name: /Step: → running\.starting/ }).click();
    await detail.getByText('queued — START → running').waitFor();
    await expect.poll(() => page.url(), { timeout: WAIT_MS }).toMatch(/e=5$/);
  });

  it('says why an event was ignored, and what a step changed', async () => {
    const { page } = await shownStory(browser!);
    await page.getByRole('option', { name: /Event ignored, which another state takes: WAKE/ }).click();
    await page.getByText(/running\.starting has no transition for it\. It would be in sleeping/).waitFor();
    await page.getByRole('option', { name: /Step: → running\.active/ }).click();
    await expect
      .poll(() => page.getByRole('region', { name: 'Context change' }).textContent())
      .toMatch(/pid added: +4/);
  });

  it('is walked through by keys', async () => {
    const { page } = await shownStory(browser!);
    const list = page.getByRole('listbox', { name: 'Records' });
    await list.focus();
    await page.keyboard.press('ArrowUp');
    const chosen = (): Promise<string | null> => list.locator('[aria-selected=true]').textContent();
    await expect.poll(chosen, { timeout: WAIT_MS }).toContain('running.active');
    await page.keyboard.press('ArrowUp');
    await expect.poll(chosen, { timeout: WAIT_MS }).toContain('Timer set');
    await page.keyboard.press('Home');
    await expect.poll(chosen, { timeout: WAIT_MS }).toContain('its chart');
    await expect
      .poll(() => list.getAttribute('aria-activedescendant'))
      .toBe(await list.locator('[aria-selected=true]').getAttribute('id'));
  });

  it('shows what fits a kind, a text and an actor', async () => {
    const { page } = await shownStory(browser!);
    await page.getByRole('combobox', { name: 'Which records' }).selectOption('Ignored events');
    await page.getByText('1 of 10 records').waitFor();
    await page.getByRole('combobox', { name: 'Which records' }).selectOption('All records');
    await page.getByRole('searchbox', { name: 'Search the records' }).fill('started');
    await page.getByText('2 of 10 records').waitFor();
    await page.getByRole('searchbox', { name: 'Search the records' }).fill('nowhere');
    await page.getByText('No record fits.').waitFor();
    await page.getByRole('searchbox', { name: 'Search the records' }).fill('');
    await page.getByRole('option', { name: /START/ }).first().click();
    await page.getByRole('checkbox', { name: 'This actor' }).check();
    await page.getByText('8 records').waitFor();
    await expect.poll(() => page.getByRole('listbox', { name: 'Records' }).getByRole('option').count()).toBe(8);
  });

  it('goes to the newest whenever a person wants to see what happens now, on a phone too', async () => {
    const noise = Array.from({ length: 300 }, () => ({ k: 'emit', a: TASK, type: 'said' }) as const);
    const { page } = await shownStory(browser!, { records: [...storyRecords(), ...storyRecords(noise, 11)] });
    const list = page.getByRole('listbox', { name: 'Records' });
    const isAtEnd = async (): Promise<void> => {
      await expect.poll(() => list.evaluate(toEnd), { timeout: WAIT_MS }).toBeLessThan(2);
    };
    await isAtEnd();
    await list.evaluate((element) =>
      (element as unknown as { scrollTo: (x: number, y: number) => void }).scrollTo(0, 0),
    );
    await list.getByRole('option', { name: /its chart/ }).waitFor();
    await page.keyboard.press('l');
    await isAtEnd();
    await page.getByRole('button', { name: 'First record' }).click();
    await expect.poll(() => list.evaluate(scrolledTo), { timeout: WAIT_MS }).toBe(0);
    await page.getByRole('banner').getByRole('button', { name: 'Back to live' }).click();
    await isAtEnd();
    await page.setViewportSize({ width: 390, height: 844 });
    const parts = page.getByRole('tablist', { name: 'Parts of the page' });
    await parts.getByRole('tab', { name: 'State' }).click();
    await parts.getByRole('tab', { name: 'Events' }).click();
    await isAtEnd();
    expect((await page.getByRole('banner').boundingBox())?.height).toBeLessThan(50);
  });

  it('of a hundred thousand is there at once, is filtered without a stop, and does not move when more come', async () => {
    const noise = Array.from(
      { length: MANY },
      (_, index) => ({ k: 'emit', a: TASK, type: index % 1_000 === 0 ? 'rare' : 'said' }) as const,
    );
    const { page, source } = await shownStory(browser!, { records: [...storyRecords(), ...storyRecords(noise, 11)] });
    const list = page.getByRole('listbox', { name: 'Records' });
    await page.getByRole('searchbox', { name: 'Search the records' }).fill('rare');
    await page.getByText('100 of 100,010 records', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search the records' }).fill('');
    const tenth = (): Promise<string | null> => list.getByRole('option').nth(10).textContent();
    const atEnd = await tenth();
    await list.evaluate((element) =>
      (element as unknown as { scrollTo: (x: number, y: number) => void }).scrollTo(0, 500_000),
    );
    const before = await list.evaluate(scrolledTo);
    // A list draws what it is scrolled to a moment after.
    await expect.poll(tenth).not.toBe(atEnd);
    const seen = await tenth();
    source.push(storyRecords(noise.slice(0, 50), MANY + 11));
    await page.getByText('100,060 records', { exact: true }).waitFor();
    expect(await list.evaluate(scrolledTo)).toBe(before);
    expect(await tenth()).toBe(seen);
    await expect.poll(() => list.getByRole('option').count()).toBeLessThan(100);
  });

  it.each(['light', 'dark'] as const)('passes an accessibility check, %s', async (colorScheme) => {
    const { page } = await shownStory(browser!, { colorScheme });
    await page.getByRole('option', { name: /Step: → running\.active/ }).click();
    await page.getByRole('region', { name: 'Context change' }).waitFor();
    expect(await accessibilityFaults(page, ['Events'])).toEqual([]);
  });
});

/** More actors than there is space for, the last of which have said most. */
const CROWD = Array.from({ length: 20 }, (_, index) => ({ a: `b1:x:${index + 1}`, index })).flatMap(({ a, index }) => [
  {
    k: 'actor',
    a,
    id: `worker_${index}`,
    kind: 'task',
    chart: 'task',
    value: 'queued',
    status: 'active',
    facts: { label: `worker ${index}` },
  } as const,
  { k: 'event', a, e: index + 1, type: 'START' } as const,
]);

describe.skipIf(browser === undefined)('the sequence diagram', () => {
  it('shows who said what to whom in order, and leads to the record', async () => {
    const { page, show } = await shownStory(browser!);
    await show('v=sequence');
    const grid = page.getByRole('grid', { name: 'Sequence diagram' });
    await grid.getByRole('row').first().waitFor();
    const told = (await grid.getByRole('row').allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '));
    expect(told).toHaveLength(6);
    expect(told[0]).toContain('from supervisorto Build itmakes Build it');
    expect(told[1]).toContain('from supervisorto Build itSTART');
    expect(told[2]).toContain('from Build itto itselfrunning.starting');
    expect(told[3]).toContain('from outsideto Build itWAKE, ignored');
    expect(told[5]).toContain('running.active');
    await grid.getByRole('row').nth(1).click();
    await page.getByRole('region', { name: 'The record' }).getByRole('heading', { name: 'START' }).waitFor();
    await expect.poll(() => grid.getByRole('row').count()).toBe(6);
    await page
      .getByRole('group', { name: 'Actors of the diagram' })
      .getByRole('button', { name: /supervisor/ })
      .click();
    await page.getByRole('heading', { name: 'supervisor' }).waitFor();
  });

  it('names those who have no line in it, brings one in and leaves it out again', async () => {
    const { page, show } = await shownStory(browser!, { records: storyRecords(CROWD) });
    await show('v=sequence');
    const heads = page.getByRole('group', { name: 'Actors of the diagram' });
    await page.getByRole('button', { name: 'Which actors' }).click();
    const others = page.getByRole('region', { name: 'Actors without a line' });
    const worker = others.getByRole('listitem').filter({ hasText: 'worker 5' });
    await worker.getByRole('button', { name: 'Bring in' }).click();
    await heads.getByRole('button', { name: 'worker 5' }).waitFor();
    expect(await accessibilityFaults(page, ['Events'])).toEqual([]);
    await worker.getByRole('button', { name: 'Leave out' }).click();
    await heads.getByRole('button', { name: 'worker 5' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Hide the list' }).click();
    await others.waitFor({ state: 'detached' });
  });

  it.each(['light', 'dark'] as const)('passes an accessibility check, %s', async (colorScheme) => {
    const { page, show } = await shownStory(browser!, { colorScheme });
    await show(`v=sequence&a=${TASK}`);
    await page.getByRole('grid', { name: 'Sequence diagram' }).getByRole('row').first().waitFor();
    expect(await accessibilityFaults(page, ['Events'])).toEqual([]);
  });
});
