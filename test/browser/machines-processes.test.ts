/** `wakechart/machines` in a browser: a small program of a user's, bundled by esbuild, with nothing put in for Node. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldSession, initialSessionState } from '../../src/machines.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { checkout } from '../docs/pages.ts';
import { readersFolder, removeFolders } from '../docs/running-pages.ts';
import { browserOfFile } from '../support/browser.ts';
import { openSetup } from '../support/session-setup.ts';

/** Follows a task's chart, and shows a session from the events that a server gives. */
const PROGRAM = `
import { charts, foldSession, initialSessionState, placeEvent, readStoredEvent } from 'wakechart/machines';
import { createActor } from 'xstate';

const { machine } = charts.find((chart) => chart.machine.id === 'task');
const task = createActor(machine).start();
const states = [task.getSnapshot().value];
task.subscribe(({ value }) => states.push(value));
for (const type of ['START', 'STARTED', 'REQUEST_PERMISSION', 'PERMISSION_ALLOWED', 'COMPLETE']) task.send({ type });

const events = await (await fetch('/events.json')).json();
const [{ sessionId, data: { agentId } }] = events;
let session = initialSessionState({ sessionId, agentId });
for (const { seq, ...stored } of events) {
  const read = readStoredEvent(stored);
  if (read === undefined) throw new Error('event ' + seq + ' is damaged');
  session = foldSession(session, placeEvent(read, sessionId, seq));
}
const damaged = readStoredEvent({ ...events.find(({ type }) => type === 'user.message'), data: { text: 7 } });

globalThis.told = { states, status: task.getSnapshot().status, session, isDamageSeen: damaged === undefined };
`;

const PAGE =
  '<!doctype html><html lang="en"><title>A session</title><link rel="icon" href="data:,"><script type="module" src="/program.js"></script>';

const browser = await browserOfFile();

/** As most servers of others have it: nothing of other sites. */
const RULES = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:";

async function bundled(folder: string): Promise<string> {
  const [entry, outfile] = [join(folder, 'program.mjs'), join(folder, 'program.js')];
  await writeFile(entry, PROGRAM);
  const esbuild = join(checkout, 'node_modules/.bin/esbuild');
  execFileSync(esbuild, [entry, `--outfile=${outfile}`, '--bundle', '--minify', '--format=esm', '--log-level=warning']);
  return readFile(outfile, 'utf8');
}

/** The log of a session that has said something. */
async function eventsOfSession(): Promise<readonly SessionEvent[]> {
  await using setup = await openSetup();
  const sessionId = await setup.session([{ text: 'Here I am.' }], { message: 'Are you there?' });
  await setup.runtime.wake(sessionId);
  return await setup.log(sessionId);
}

describe.skipIf(browser === undefined)('a program of wakechart/machines in a browser', () => {
  let files: Readonly<Record<string, readonly [type: string, text: string]>> = {};
  let events: readonly SessionEvent[] = [];
  const server = createServer(({ url = '' }, response) => {
    const [type, text] = files[url] ?? ['text/plain', ''];
    response.writeHead(text === '' ? 404 : 200, { 'content-type': type, 'content-security-policy': RULES }).end(text);
  });

  beforeAll(async () => {
    events = await eventsOfSession();
    files = {
      '/': ['text/html; charset=utf-8', PAGE],
      '/program.js': ['text/javascript', await bundled(await readersFolder())],
      '/events.json': ['application/json', JSON.stringify(events)],
    };
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    removeFolders();
  });

  it('runs a chart, checks what a server gives, and folds the session as the runtime does', async () => {
    const page = await browser!.open();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const told = (): Promise<unknown> => page.evaluate('globalThis.told');
    await expect.poll(told).toBeDefined();
    const [first] = events;
    if (first?.type !== 'session.created') throw new Error('expected a log from its beginning');
    const { sessionId, data } = first;
    const session = events.reduce(foldSession, initialSessionState({ sessionId, agentId: data.agentId }));
    expect(await told()).toEqual({
      states: [
        'queued',
        { running: 'starting' },
        { running: 'active' },
        { waiting_permission: 'pending' },
        { running: 'active' },
        'completed',
      ],
      status: 'done',
      session: JSON.parse(JSON.stringify(session)),
      isDamageSeen: true,
    });
    expect(browser!.said).toEqual([]);
    expect(await page.evaluate('typeof process')).toBe('undefined');
    await page.context().close();
  });
});
