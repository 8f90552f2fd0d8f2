/**
 * The fleet on the page of the inspector: real workers as processes over one database, one of which is killed, and an
 * inspector whose home knows of none.
 */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { addressesIn } from '../cli/inspector-visit.ts';
import { start, until } from '../cli/command-line.ts';
import type { RunningCommand } from '../cli/command-line.ts';
import { browserOfFile } from '../support/browser.ts';
import { ask } from '../support/postgres-databases.ts';
import type { FreshDatabase } from '../support/postgres-databases.ts';
import { migratedDatabase } from '../support/postgres-server.ts';

const browser = await browserOfFile();
const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const PATIENCE = { timeout: 30_000 };

let folder = '';
let database: FreshDatabase;
let runtime: NodeRuntime;
const running: RunningCommand[] = [];

const home = (): string => join(folder, 'workers');

function begin(...words: readonly string[]): RunningCommand {
  const command = start([...words, '--store', database.url]);
  running.push(command);
  return command;
}

/** A session of an agent of its own, which has something to do. */
async function sessionOf(agentId: string, steps: readonly object[]): Promise<string> {
  await runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: agentId, provider: 'script', model: 'script.json', permission: 'preapproved' },
      instructions: 'Work.',
    },
  });
  await writeFile(
    join(home(), 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'sleep' }),
  );
  const { sessionId } = await runtime.sessions.create({ agentId });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  return sessionId;
}

/** As it is after too many failures. */
async function park(sessionId: string): Promise<void> {
  for (
    let failures = 0;
    (await runtime.sessions.status(sessionId)).parked === undefined && failures < 10;
    failures += 1
  )
    await runtime.wake(sessionId).catch(() => undefined);
  expect((await runtime.sessions.status(sessionId)).parked).toBeDefined();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-'));
  await mkdir(join(folder, 'viewer'));
  database = await migratedDatabase();
  runtime = await createNodeRuntime({ home: home(), store: { postgres: database.url } });
});

afterAll(async () => {
  // The command of the worker that was killed runs on until then.
  await writeFile(join(folder, 'stop'), '');
  for (const { process: child } of running) if (child.exitCode === null) child.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  await runtime.shutdown();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function faultsOf(view: Page): Promise<readonly string[]> {
  await view.evaluate(AXE);
  return view.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as {
        readonly axe: {
          run(): Promise<{
            readonly violations: readonly {
              readonly id: string;
              readonly nodes: readonly { readonly html: string }[];
            }[];
          }>;
        };
      }
    ).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
}

const rowsOf = (view: Page, name: string): Promise<readonly string[]> =>
  view.getByRole('region', { name, exact: true }).getByRole('row').allInnerTexts();

describe.skipIf(browser === undefined)('the fleet on the page of the inspector', { timeout: 120_000 }, () => {
  it('shows who works on what, what waits, what is parked, and who has died, in light and dark, wide and narrow', async () => {
    const busy = await sessionOf('builder', [
      {
        toolCalls: [
          { name: 'shell_run', input: { command: `until [ -e '${join(folder, 'stop')}' ]; do sleep 0.05; done` } },
        ],
      },
      { text: 'Built.' },
    ]);
    const parked = await sessionOf('clumsy', [{ error: { kind: 'invalid_request', message: 'It cannot be done.' } }]);
    await park(parked);
    await sessionOf('waiter', [{ text: 'At last.' }]);
    const builder = begin('worker', '--home', home(), '--agent', 'builder');
    begin('worker', '--home', home(), '--agent', 'none');
    const inspect = begin('inspect', '--home', join(folder, 'viewer'));
    const view = await browser!.open({ viewport: { width: 1440, height: 900 } });
    await view.goto(await until('the address', () => addressesIn(inspect.stdout() + inspect.stderr()).at(-1)));
    await view.getByRole('button', { name: 'Fleet', exact: true }).click();
    await expect
      .poll(() => rowsOf(view, 'Wakes'), PATIENCE)
      .toEqual([
        expect.any(String),
        expect.stringMatching(
          new RegExp(`^builder ${busy.slice(-6)}\\s.*:${builder.process.pid}\\s+runs\\s`),
        ) as string,
      ]);
    await expect
      .poll(() => rowsOf(view, 'Workers'), PATIENCE)
      .toEqual([
        expect.any(String),
        expect.stringMatching(/alive/) as string,
        expect.stringMatching(/alive/) as string,
      ]);
    await expect
      .poll(() => rowsOf(view, 'Lag'))
      .toEqual([expect.any(String), expect.stringMatching(/^default\s+normal\s+1\s/) as string]);
    await expect
      .poll(() => rowsOf(view, 'Parked'))
      .toEqual([expect.any(String), expect.stringMatching(new RegExp(`^clumsy ${parked.slice(-6)}\\s`)) as string]);
    builder.process.kill('SIGKILL');
    await builder.ended;
    // As it is when the time of its leases is over.
    await ask(database.url, 'UPDATE wakechart.worker SET alive_until = clock_timestamp() WHERE owner LIKE $1', [
      `%:${builder.process.pid}`,
    ]);
    await expect
      .poll(async () => [(await rowsOf(view, 'Workers')).at(-1), (await rowsOf(view, 'Wakes')).at(-1)], PATIENCE)
      .toEqual([expect.stringMatching(/silent/), expect.stringMatching(/abandoned/)]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await view.emulateMedia({ colorScheme });
      expect(await faultsOf(view)).toEqual([]);
    }
    await view.setViewportSize({ width: 390, height: 844 });
    await view.getByRole('tab', { name: 'Actors' }).click();
    await view.getByRole('button', { name: 'Fleet', exact: true }).click();
    await view.getByRole('region', { name: 'Workers', exact: true }).waitFor(PATIENCE);
    expect([await faultsOf(view), await view.evaluate('document.documentElement.scrollWidth')]).toEqual([[], 390]);
    // By keyboard: among the tabs, and from a row to its session.
    await view.getByRole('tab', { name: 'Fleet' }).focus();
    await view.keyboard.press('ArrowLeft');
    await view.keyboard.press('ArrowRight');
    await view.getByRole('button', { name: `clumsy ${parked.slice(-6)}` }).focus();
    await view.keyboard.press('Enter');
    await view
      .getByText(/^It is parked and does not wake by itself/)
      .first()
      .waitFor(PATIENCE);
    expect([...browser!.said, ...browser!.refused]).toEqual([]);
  });
});
