/** The example of a chat, in a real browser: approvals, two tabs, a reload in mid-answer, and a worker that is killed. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { browserOfFile } from '../support/browser.ts';
import { temporaryHome } from '../support/temporary-home.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const browser = await browserOfFile();

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function started(words: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, words, {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  cleanUps.push(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await ended;
    }
  });
  return child;
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('expected an output');
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error('the program ended before it said anything');
}

async function chatServer(...words: readonly string[]): Promise<{ readonly at: string; readonly home: string }> {
  const home = await temporaryHome();
  cleanUps.push(() => home.remove());
  const at = await firstLine(started(['examples/chat/server.mjs', '--home', home.path, ...words]));
  return { at, home: home.path };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

const shows = (page: Page, text: string): Promise<void> => page.getByText(text).first().waitFor();

describe.skipIf(browser === undefined)('the chat in a browser', () => {
  const open = async (address: string): Promise<Page> => {
    const page = await browser!.open();
    await page.goto(address);
    await page.getByLabel('Message').waitFor();
    return page;
  };

  it('asks before the tool runs, goes on when it is allowed, and another tab sees all of it', async () => {
    const { at } = await chatServer();
    const page = await open(at);
    const other = await open(page.url());
    await say(page, 'Write it down');
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await other.getByRole('button', { name: 'Allow' }).click();
    for (const each of [page, other]) {
      await shows(each, 'That is settled.');
      await shows(each, 'output-available');
      expect(await each.locator('li').count()).toBe(2);
    }
    expect(browser!.said).toEqual([]);
  });

  it('tells the agent why it was denied', async () => {
    const { at } = await chatServer();
    const page = await open(at);
    await say(page, 'Write it down');
    await page.getByLabel('Why').fill('Not today');
    await page.getByRole('button', { name: 'Deny' }).click();
    await shows(page, 'That is settled.');
    await shows(page, 'output-denied');
    const session = new URL(page.url()).searchParams.get('session');
    const events = await page.evaluate(async (id) => (await fetch(`/agent/sessions/${id}/events`)).text(), session);
    expect(events).toContain('"note":"Not today"');
  });

  it('is whole after a reload in mid-answer', async () => {
    const { at } = await chatServer();
    const page = await open(at);
    await say(page, 'Write it down');
    await page.getByRole('button', { name: 'Allow' }).click();
    await shows(page, 'That is settled.');
    await say(page, 'Tell me a story');
    await shows(page, 'Once upon a time');
    await page.reload();
    await shows(page, 'Once upon a time');
    await expect.poll(() => page.getByRole('status').textContent()).toBe('');
    expect(await page.locator('li').allTextContents()).toEqual([
      'Write it down',
      expect.stringMatching(/I write it down\..*That is settled\./s),
      'Tell me a story',
      'Once upon a time',
    ]);
  });

  it('says that its agent is missing, and goes on once it is back', async () => {
    const { at, home } = await chatServer();
    const page = await open(at);
    const [agent, away] = [join(home, 'agents', 'noter'), join(home, 'noter-away')];
    await rename(agent, away);
    await say(page, 'Write it down');
    await shows(page, 'It waits for a worker: agent_missing.');
    await rename(away, agent);
    await page.getByRole('button', { name: 'Allow' }).click({ timeout: 90_000 });
    await shows(page, 'That is settled.');
    expect(await page.getByText('It waits for a worker').count()).toBe(0);
  });

  it('goes on when the worker is killed and another one takes over', async () => {
    const { at, home } = await chatServer('--no-worker');
    const worker = (): ChildProcess => started(['dist/cli/main.js', 'worker', '--home', home, '--json']);
    const first = worker();
    const page = await open(at);
    await say(page, 'Write it down');
    await page.getByRole('button', { name: 'Allow' }).click();
    await shows(page, 'That is settled.');
    await say(page, 'Tell me a story');
    const session = new URL(page.url()).searchParams.get('session') ?? '';
    await expect
      .poll(() =>
        page.evaluate(
          async (id) => ((await (await fetch(`/agent/sessions/${id}`)).json()) as { status: string }).status,
          session,
        ),
      )
      .toBe('running');
    first.kill('SIGKILL');
    worker();
    await shows(page, 'Once upon a time');
    await expect.poll(() => page.getByRole('status').textContent()).toBe('');
    expect(await page.locator('li').count()).toBe(4);
  });
});
