/**
 * The whole inspector as a stranger meets it: the demo runs as a program of its own, its session waits, and a browser
 * is all there is to find out why.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressesIn } from '../cli/inspector-visit.ts';
import { start, until } from '../cli/command-line.ts';
import type { RunningCommand } from '../cli/command-line.ts';
import { browserOfFile } from '../support/browser.ts';
import { accessibilityFaults } from './inspector-events-story.ts';

const browser = await browserOfFile();
const PATIENCE = { timeout: 60_000 };

let folder = '';
const demos: RunningCommand[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inspected-demo-'));
});

afterAll(async () => {
  for (const { process: child } of demos) if (child.exitCode === null) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** A demo that waits for an answer, and the address under which it says so. */
async function waitingDemo(): Promise<{ readonly demo: RunningCommand; readonly address: string }> {
  const demo = start(['demo', '--inspect', '--inspect-hold', '--dir', join(folder, String(demos.length))]);
  demos.push(demo);
  return {
    demo,
    address: await until('the demo to wait', () =>
      addressesIn(demo.stderr() + demo.stdout()).find((each) => each.includes('#r=')),
    ),
  };
}

/** Ctrl-C. 130 says that it was cut short, 0 that its work was over. */
async function interrupted({ process: child, ended }: RunningCommand): Promise<number | null> {
  child.kill('SIGINT');
  return (await ended).code;
}

const allowOnce = (page: Page) => page.getByRole('button', { name: 'Allow once' });

describe.runIf(browser !== undefined).concurrent('the page over the demo', PATIENCE, () => {
  it('says why the session waits, takes the answer, and shows what happens next until it rests', async () => {
    const { demo, address } = await waitingDemo();
    const page = await (browser as NonNullable<typeof browser>).open();
    await page.goto(address);
    await allowOnce(page).waitFor();
    await page.getByText('It waits for permission to run shell_run.').first().waitFor();
    await expect(
      page
        .getByText("git commit --all --message 'Count the quantity in the total'", { exact: true })
        .first()
        .isVisible(),
    ).resolves.toBe(true);
    await allowOnce(page).click();
    await page.getByText('You allowed it this once.').waitFor();
    await page.getByText('The tests still pass').first().waitFor();
    await until('the end of the demo', () => (demo.stdout().includes('let it work on that') ? true : undefined));
    expect(await interrupted(demo)).toBe(0);
  });

  it('keeps what it knows when the program ends, and says since when it does not answer', async () => {
    const { demo, address } = await waitingDemo();
    const page = await (browser as NonNullable<typeof browser>).open();
    await page.goto(address);
    await allowOnce(page).waitFor();
    demo.process.kill('SIGKILL');
    await demo.ended;
    await page
      .getByText(/no answer/i)
      .first()
      .waitFor();
    await expect(allowOnce(page).isVisible()).resolves.toBe(true);
  });

  it('goes back to the moment before the answer, and to what happens now', async () => {
    const { demo, address } = await waitingDemo();
    const page = await (browser as NonNullable<typeof browser>).open();
    await page.goto(address);
    await allowOnce(page).click();
    await page.getByText('You allowed it this once.').waitFor();
    await page.locator('body').press('ArrowLeft');
    await page.getByRole('button', { name: /back to live/i }).waitFor();
    await page.waitForURL(({ hash }) => hash.includes('r='));
    expect(new URL(page.url()).hash).toContain('r=');
    await page.locator('body').press('l');
    await page.getByRole('button', { name: /back to live/i }).waitFor({ state: 'detached' });
    await interrupted(demo);
  });

  it.each(['light', 'dark'] as const)(
    'has nothing to complain of for those who cannot see it well, in %s',
    async (colorScheme) => {
      const { demo, address } = await waitingDemo();
      const page = await (browser as NonNullable<typeof browser>).open({ colorScheme });
      await page.goto(address);
      await allowOnce(page).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('tab', { name: 'Chart' }).click();
      await page.getByRole('tab', { name: 'Sequence' }).click();
      await page.getByText('Can happen now').first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'All actors' }).click();
      await page.getByRole('tree').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await interrupted(demo);
    },
  );
});

describe.runIf(browser !== undefined)('afterwards', () => {
  it('no page has asked for anything outside of this machine', () => {
    expect(browser?.refused).toEqual([]);
  });

  // Programs end here while pages are open: that they do not answer is what the pages say.
  it('no page had a script, a style or anything else refused by its own policy', () => {
    expect(
      browser?.said.filter((each) =>
        /Content Security Policy|Trusted|^error: (?!Failed to load resource: )/.test(each),
      ),
    ).toEqual([]);
  });
});
