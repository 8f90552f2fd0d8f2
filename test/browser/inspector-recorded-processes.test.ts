/** A recording of a program that was killed, in a real browser: what its session asked for, said and did, read only. */
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
const begun: RunningCommand[] = [];
let folder = '';

function command(...words: readonly string[]): RunningCommand {
  const running = start(words);
  begun.push(running);
  return running;
}

const addressOf = (running: RunningCommand, part: string): Promise<string> =>
  until('an address', () => addressesIn(running.stderr() + running.stdout()).find((each) => each.includes(part))).catch(
    (error: unknown) => {
      throw new Error(`it said ${running.stderr()}${running.stdout()}`, { cause: error });
    },
  );

/** The path of what a demo recorded until it was killed while its session waited. */
async function killedDemo(name: string): Promise<string> {
  const path = join(folder, name);
  const demo = command('demo', '--inspect', '--inspect-hold', '--record', path, '--dir', join(folder, `${name}.home`));
  await addressOf(demo, '#r=');
  demo.process.kill('SIGKILL');
  await demo.ended;
  return path;
}

async function opened(path: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const page = await (browser as NonNullable<typeof browser>).open({
    colorScheme,
    viewport: { width: 1440, height: 900 },
  });
  await page.goto(await addressOf(command('inspect', path), 'http'));
  return page;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recorded-demo-'));
});

afterAll(async () => {
  for (const { process: child } of begun) if (child.exitCode === null) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(browser === undefined)('a recording that was cut in the middle', PATIENCE, () => {
  it('shows the session as it stood, its request and its transcript, and takes no answer', async () => {
    const page = await opened(await killedDemo('packed.ndjson.gz'));
    await page.getByText('It waits for permission to run shell_run.').first().waitFor();
    const request = page.getByRole('region', { name: 'Permission: shell_run' });
    await request.getByText('git commit --all').first().waitFor();
    await request.getByText('A recording takes no answers.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^(Allow|Always|Deny|End .)/ }).count()).toBe(0);
    await page.getByText(/^This is a recording: so it stood at/).waitFor();
    await page.getByText('I run the tests to see what fails.').first().waitFor();
    await page.getByText('Processes', { exact: true }).first().click();
    await page.getByText('Processes are not recorded.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    // Waits are told as they were when it ended, however long ago that is: read to its end, nothing grows any more.
    await page.waitForTimeout(6_000);
    const told = await request.getByText(/^asked/).textContent();
    await page.waitForTimeout(2_500);
    await expect.poll(() => request.getByText(/^asked/).textContent()).toBe(told);
  });

  it('lists the session beside the actors, each with its chart, in one that is not packed too', async () => {
    const page = await opened(await killedDemo('plain.ndjson'), 'dark');
    await page.getByRole('button', { name: 'All actors' }).click();
    await page.getByText('Mend the cart').first().waitFor();
    await page
      .getByRole('treeitem')
      .filter({ hasText: /^wake …/ })
      .first()
      .click();
    await page.getByRole('region', { name: 'Chart of wake' }).waitFor();
    await page.getByRole('button', { name: 'Open the session' }).click();
    await page.getByText('It waits for permission to run shell_run.').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
