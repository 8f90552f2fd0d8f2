/**
 * A stored log in a browser: a hundred thousand records of which some lines are damaged, through the command that
 * people use.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressesIn } from '../cli/inspector-visit.ts';
import { start, until } from '../cli/command-line.ts';
import type { RunningCommand } from '../cli/command-line.ts';
import { browserOfFile } from '../support/browser.ts';
import type { TestBrowser } from '../support/browser.ts';
import { storyRecords } from './inspector-events-story.ts';

const browser = await browserOfFile();
const RECORDS = 100_000;

let folder = '';
const running: RunningCommand[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stored-log-'));
});

afterAll(async () => {
  for (const { process: child } of running) if (child.exitCode === null) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/**
 * The story, and after it events that two actors send to and fro; a kind that is not known, a line that is broken, and
 * an end that is torn.
 */
async function storedLog(): Promise<string> {
  const story = storyRecords();
  const lines = [
    JSON.stringify({ format: 'inspection-log/1', boot: 'b1', startedAt: 1_790_000_000_000 }),
    ...story.map((record) => JSON.stringify(record)),
  ];
  for (let s = story.length + 1; s <= RECORDS; s += 1)
    lines.push(
      JSON.stringify({
        k: 'event',
        s,
        t: 1_790_000_100_000 + s,
        a: `b1:x:${s % 2}`,
        e: s,
        type: s === RECORDS ? 'LAST' : 'TICK',
      }),
    );
  lines.splice(500, 0, '{"k":"dream","s":500,"t":1790000100500,"a":"b1:x:1"}', '{"k":"event","s":');
  const path = join(folder, 'run.ndjson');
  await writeFile(path, `${lines.join('\n')}\n{"k":"event","s":${RECORDS + 1},"t":17`);
  return path;
}

describe.runIf(browser !== undefined)('a stored log of a hundred thousand records', { timeout: 60_000 }, () => {
  it('is read whole, says what is damaged, and goes back and forth in time', async () => {
    const inspect = start(['inspect', await storedLog()]);
    running.push(inspect);
    const address = await until('the address', () => addressesIn(inspect.stdout() + inspect.stderr()).at(-1));
    const page = await (browser as TestBrowser).open();
    await page.goto(address);
    await page.getByRole('combobox', { name: 'Which records' }).selectOption('All records');
    await page.getByText('100,000 records', { exact: true }).waitFor();
    await page.getByText(/^\d+ notes$/).click();
    const notes = page.getByRole('banner').getByRole('listitem');
    await expect(notes.allInnerTexts()).resolves.toEqual(
      expect.arrayContaining([expect.stringMatching(/could not be read/), expect.stringMatching(/dream/)]),
    );
    await page.locator('body').press('ArrowLeft');
    await page
      .getByRole('button', { name: /to the end/i })
      .first()
      .waitFor();
    // The address is written a little later: browsers count how often.
    await expect.poll(() => page.url(), { timeout: 10_000 }).toContain(`s=${RECORDS - 1}`);
    inspect.process.kill('SIGINT');
    expect((await inspect.ended).code).toBe(0);
  });
});
