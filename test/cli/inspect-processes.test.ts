/**
 * The inspector through the command line, as processes of their own: it is found, signed in to, answered through and
 * left.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  InspectedSession,
  InspectedSessions,
  InspectionAbout,
} from '../../src/actors/inspection/inspection-source.ts';
import { start, until } from './command-line.ts';
import type { RunningCommand } from './command-line.ts';
import { idOf } from '../support/session-events.ts';
import { isListening } from '../support/listening.ts';
import { addressesIn, signedIn, visit } from './inspector-visit.ts';
import type { Visit } from './inspector-visit.ts';
import { Stage, runs, sleeps } from './stage.ts';
import { hasTerminals, runOnTerminal } from './terminal.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

const begun: RunningCommand[] = [];
afterAll(() => {
  for (const { process: child } of begun) if (child.exitCode === null) child.kill('SIGKILL');
});

function command(...words: readonly string[]): RunningCommand {
  const running = start(words);
  begun.push(running);
  return running;
}

const atHome = (...words: readonly string[]): RunningCommand => command('--home', stage.home, ...words);

/** One that waits for a permission. */
async function askingSession(): Promise<string> {
  const sessionId = await askedSoon('asker');
  await stage.runtime.wake(sessionId);
  return sessionId;
}

/** One that will ask for a permission when it is woken. */
async function askedSoon(agentId = 'asks-soon'): Promise<string> {
  await stage.runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: 'Asker', provider: 'script', model: 'script.json', permission: { mode: 'ask' } },
      instructions: 'Play.',
    },
  });
  await writeFile(
    join(stage.home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps: [runs('rm -rf build'), sleeps('Cleaned.')] }),
  );
  const { sessionId } = await stage.runtime.sessions.create({ agentId });
  await stage.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  return sessionId;
}

const requestOf = async (browser: Visit, sessionId: string): Promise<string> => {
  const { pendingActions } = await browser.json<InspectedSession>(`/api/sessions/${sessionId}`);
  return pendingActions[0]?.requestId ?? '';
};

/** Interrupts it, and checks whether it has left. */
async function interrupted(
  running: RunningCommand,
  { port }: Pick<Visit, 'port'>,
): Promise<{ readonly code: number | null; readonly isListening: boolean }> {
  running.process.kill('SIGINT');
  const { code } = await running.ended;
  return { code, isListening: await isListening({ port }) };
}

const LEFT = { code: 0, isListening: false };

// A limit for what hangs: programs that start beside seven others.
describe.concurrent('wakechart inspect', { timeout: 60_000 }, () => {
  it('prints one address, which signs one browser in at that session, takes its answers and ends well when interrupted', async () => {
    const id = await askingSession();
    const running = atHome('inspect', '--session', id);
    const browser = await visit(running);
    expect([
      addressesIn(running.stdout()).length,
      running.stdout().split('\n').length,
      running.stderr(),
      browser.shown,
    ]).toEqual([1, 2, '', id]);
    await expect(signedIn(addressesIn(running.stdout())[0] ?? '')).rejects.toThrow('401');

    expect((await browser.ask('/')).text).toContain('<!doctype html>');
    const about = await browser.json<InspectionAbout>('/api/about');
    expect(about).toMatchObject({ kind: 'store', title: stage.home, hasSessions: true, canAnswer: true });
    expect(about.notes.join(' ')).toMatch(/This inspector wakes nothing: .* worker/);
    expect(
      (await browser.json<InspectedSessions>('/api/sessions')).sessions.map(({ sessionId }) => sessionId),
    ).toContain(id);

    expect(await browser.answer(id, { type: 'allow', requestId: await requestOf(browser, id) })).toBe(200);
    expect((await stage.runtime.sessions.status(id)).pendingActions).toEqual([]);
    expect(await stage.wakeEndings(id)).toEqual(['requires_action']);
    expect(await interrupted(running, browser)).toEqual(LEFT);
  });

  it('tells programs where it is, in a line of JSON', async () => {
    const running = atHome('inspect', '--json');
    const { origin, port } = await visit(running);
    const told = JSON.parse(running.stdout()) as {
      readonly inspector: { readonly origin: string; readonly address: string };
    };
    expect([told.inspector.origin, addressesIn(told.inspector.address)]).toEqual([origin, [told.inspector.address]]);
    expect(await interrupted(running, { port })).toEqual(LEFT);
  });

  it('comes back to its port after it was killed', async () => {
    const killed = atHome('inspect');
    const { port } = await visit(killed);
    killed.process.kill('SIGKILL');
    await killed.ended;
    const again = atHome('inspect', '--port', String(port));
    expect((await visit(again)).port).toBe(port);
    expect(await interrupted(again, { port })).toEqual(LEFT);
  });

  it.skipIf(process.platform === 'win32')('opens the page in the browser with an address of its own', async () => {
    const folder = join(stage.home, 'programs');
    await mkdir(folder);
    const seen = join(folder, 'seen');
    for (const name of ['xdg-open', 'open'])
      await writeFile(
        join(folder, name),
        `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${seen}.part' && /bin/mv '${seen}.part' '${seen}'\n`,
        { mode: 0o755 },
      );
    const running = start(['inspect', '--open', '--home', stage.home], { env: { PATH: folder } });
    begun.push(running);
    const text = await until('the browser', () => readFile(seen, 'utf8').catch(() => undefined));
    const [count, file = ''] = text.split('\n');
    expect([count, running.stderr()]).toEqual(['1', '']);
    // Every user of the machine can read the command line, and only its owner the file.
    expect([text.includes('token='), ...[file, dirname(file)].map((path) => statSync(path).mode & 0o777)]).toEqual([
      false,
      0o600,
      0o700,
    ]);
    const [opened = ''] = addressesIn(readFileSync(file, 'utf8'));
    const printed = addressesIn(running.stdout());
    const placeOf = (address: string): string => new URL('.', address).href;
    expect([printed.length, printed.includes(opened), placeOf(opened)]).toEqual([1, false, placeOf(printed[0] ?? '')]);
    // Both are good, each once.
    const browser = await signedIn(opened);
    expect((await (await visit(running)).ask('/')).status).toBe(200);
    await expect(signedIn(opened)).rejects.toThrow('401');
    expect(await interrupted(running, browser)).toEqual(LEFT);
    expect(existsSync(dirname(file))).toBe(false);
  });

  it('opens no page where there is no browser, and says why', async () => {
    const running = start(['inspect', '--open', '--home', stage.home], { env: { PATH: stage.home } });
    begun.push(running);
    const browser = await visit(running);
    await until('the note', () => running.stderr().includes('no browser could be opened'));
    expect(await interrupted(running, browser)).toEqual(LEFT);
  });

  it.skipIf(!hasTerminals)('gives another address for each line that is typed at a terminal', async () => {
    const { code, text } = await runOnTerminal(['inspect', '--home', stage.home], {
      columns: 200,
      typed: [
        { at: /Enter gives another address/, text: '' },
        { at: /token=/, text: '\u0003' },
      ],
    });
    expect(code).toBe(0);
    expect(new Set(addressesIn(text)).size).toBeGreaterThan(1);
  });
});

describe.concurrent('a command with --inspect', { timeout: 60_000 }, () => {
  it('shows a task while it runs, exits as it does, and does not stay where nobody sits at a terminal', async () => {
    const gate = join(stage.home, 'gate-of-task');
    const running = atHome('task', 'run', '--inspect', '--', `while [ ! -e '${gate}' ]; do sleep 0.02; done; exit 3`);
    const browser = await visit(running);
    expect(await browser.json<InspectionAbout>('/api/about')).toMatchObject({
      kind: 'runtime',
      title: 'wakechart task run',
      hasSessions: false,
      canAnswer: false,
    });
    await until('the task', async () =>
      (await browser.ask('/api/records?from=1')).text.includes('"label":"while [ ! -e'),
    );
    await mkdir(gate);
    expect(await running.ended).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/^inspect: http:[^\n]*\n$/) as string,
    });
    expect(await isListening(browser)).toBe(false);
  });

  it('stays after the end when it is told to, and then exits as the work did', async () => {
    const { id } = await stage.sessionToWake(sleeps('Nothing to do.'));
    const running = atHome('wake', '--session', id, '--inspect', '--inspect-hold');
    const browser = await visit(running);
    expect(browser.shown).toBe(id);
    await until('the end of the wake', () => running.stdout().includes('Nothing to do.'));
    expect((await browser.json<InspectedSession>(`/api/sessions/${id}`)).state.status).toBe('idle');
    expect((await browser.ask('/api/records?from=1')).text).toContain(`wake_`);
    expect(await interrupted(running, browser)).toEqual(LEFT);
  });

  it('says when its work is over that what is answered wakes nobody, and what does', async () => {
    const id = await askedSoon();
    const running = atHome('wake', '--session', id, '--inspect', '--inspect-hold');
    const browser = await visit(running);
    const goesOn = new RegExp(
      `what is answered is stored, and wakes no session. It goes on with: .*wake --session ${id} --home ${stage.home}$`,
    );
    await until('the note', async () =>
      (await browser.json<InspectionAbout>('/api/about')).notes.some((note) => goesOn.test(note)),
    );
    expect(await browser.answer(id, { type: 'allow', requestId: await requestOf(browser, id) })).toBe(200);
    const { why, state } = await browser.json<InspectedSession>(`/api/sessions/${id}`);
    expect([state.pendingActions, state.openWake, why.reasons.length > 0]).toEqual([[], undefined, true]);
    expect(JSON.stringify(why)).toContain('wake');
    expect(await stage.wakeEndings(id)).toEqual(['requires_action']);
    expect(await interrupted(running, browser)).toEqual(LEFT);
  });

  it.skipIf(!hasTerminals)('says so at the terminal too', async () => {
    const { id } = await stage.sessionToWake(sleeps('Nothing more.'));
    const { code, text } = await runOnTerminal(['wake', '--session', id, '--inspect', '--home', stage.home], {
      columns: 400,
      typed: [{ at: /It goes on with: /, text: '\u0003' }],
    });
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          `It is over, and the inspector stays until Ctrl-C\\.[^]*what is answered is stored, and wakes no session\\. It goes on with: .*wake --session ${id}`,
        ),
      ),
    ]);
  });

  it('tells a failure before it stays', async () => {
    const running = atHome('task', 'run', '--inspect', '--inspect-hold', '--timeout-ms', '50', '--', 'sleep 60');
    const browser = await visit(running);
    await until('the failure', () => running.stderr().includes('[TASK_TIMED_OUT]'));
    expect((await browser.ask('/')).status).toBe(200);
    expect(await interrupted(running, browser)).toEqual({ code: 1, isListening: false });
    expect(running.stderr().match(/\[TASK_TIMED_OUT\]/g)).toHaveLength(1);
  });

  it.each(['killed.ndjson', 'killed.ndjson.gz'])(
    'that is killed leaves a recording of what it saw until then: %s',
    async (name) => {
      const path = join(stage.home, name);
      const running = command('--home', stage.home, 'task', 'run', '--inspect', '--record', path, '--', 'sleep 60');
      const browser = await visit(running);
      await until('the task', async () =>
        (await browser.ask('/api/records?from=1')).text.includes('"label":"sleep 60"'),
      );
      running.process.kill('SIGKILL');
      await running.ended;
      const reading = command('inspect', path);
      const reader = await visit(reading);
      await until('what was recorded', async () =>
        (await reader.ask('/api/records?from=1')).text.includes('"label":"sleep 60"'),
      );
      expect(await interrupted(reading, reader)).toEqual(LEFT);
      const again = await command('--home', stage.home, 'task', 'run', '--record', path, '--', 'true').ended;
      expect([again.code, again.stderr.includes('INSPECTION_LOG_EXISTS')]).toEqual([1, true]);
    },
  );

  it('lets a worker be watched, whose wakes show', async () => {
    const { id } = await stage.session(sleeps('Seen.'));
    const running = atHome('worker', '--inspect');
    const browser = await visit(running);
    await stage.runtime.sessions.send(id, { type: 'user.message', text: 'Begin.' });
    await until('the wake', async () => (await browser.ask('/api/records?from=1')).text.includes(id));
    await until('the rest', async () => (await stage.wakeEndings(id)).includes('sleep'));
    running.process.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(await isListening(browser)).toBe(false);
  });
});

describe.concurrent('the demo with --inspect', { timeout: 120_000 }, () => {
  /** Until it asks, with a browser at the session. */
  async function asked(
    name: string,
    ...words: readonly string[]
  ): Promise<{ readonly running: RunningCommand; readonly browser: Visit; readonly requestId: string }> {
    const running = command('demo', '--inspect', '--dir', join(stage.home, name), ...words);
    const browser = await visit(running, /answer it on the page: http\S+\n/);
    return { running, browser, requestId: await requestOf(browser, browser.shown) };
  }

  it('waits until somebody allows on the page what it asks, goes on as ever, and leaves a recording that can be opened', async () => {
    const path = join(stage.home, 'demo.ndjson.gz');
    const { running, browser, requestId } = await asked('allowed', '--record', path);
    expect(running.stdout()).toMatch(/^5 It asked, and sleeps until a person answers$/m);
    expect(await browser.answer(browser.shown, { type: 'allow', requestId })).toBe(200);
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(/a person has allowed it\n\n6 It wakes again[\s\S]*^9 What came of it$[\s\S]*^Done in /m);
    expect([code, await isListening(browser), (await stat(path)).mode & 0o777]).toEqual([0, false, 0o600]);

    const reading = command('inspect', path);
    const reader = await visit(reading);
    await until('all of it', async () => (await reader.json<InspectionAbout>('/api/about')).hasEnded);
    expect(await reader.json<InspectionAbout>('/api/about')).toMatchObject({
      kind: 'log',
      title: 'demo.ndjson.gz',
      hasSessions: true,
      notes: [],
    });
    expect((await reader.ask('/api/records?from=1')).text).toContain('"wakechart demo"');
    expect(await interrupted(reading, reader)).toEqual(LEFT);
  });

  it('goes on when somebody answers elsewhere', async () => {
    const { running, browser, requestId } = await asked('elsewhere', '--json');
    const home = join(stage.home, 'elsewhere');
    expect(running.stderr()).toContain(
      `session confirm-tool --session ${browser.shown} --request ${requestId} --allow --home ${home}`,
    );
    expect(
      (
        await command(
          'session',
          'confirm-tool',
          '--session',
          browser.shown,
          '--request',
          requestId,
          '--allow',
          '--home',
          home,
        ).ended
      ).code,
    ).toBe(0);
    const { code, stdout } = await running.ended;
    expect([code, (JSON.parse(stdout) as { readonly permission: object }).permission]).toEqual([
      0,
      expect.objectContaining({ decision: 'allowed', scope: 'once' }),
    ]);
  });

  it('ends in good order when it is denied, with nothing committed', async () => {
    const { running, browser, requestId } = await asked('denied');
    expect(await browser.answer(browser.shown, { type: 'deny', requestId, note: 'Not today.' })).toBe(200);
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(
      /a person has denied it: nothing is committed[\s\S]*^6 What came of it\n {2}The fix is in the workspace, and not committed\.$[\s\S]*^Ended after /m,
    );
    expect([code, stdout.includes('Done in')]).toEqual([0, false]);
    const [workspace = ''] = /(?<=workspace {2}).*/.exec(stdout) ?? [];
    expect(await readFile(join(workspace, 'cart.mjs'), 'utf8')).toContain('line.cents * line.quantity');
  });

  it('stops when it is interrupted while it waits', async () => {
    const { running, browser } = await asked('stopped');
    running.process.kill('SIGINT');
    expect(await running.ended).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('The demo was stopped; what there is of it lies in') as string,
    });
    expect(await isListening(browser)).toBe(false);
  });
});

describe('what a living program pipes in', () => {
  it('is shown with --session, although the session may come later', async () => {
    const header = '{"format":"inspection-log/1","boot":"b","startedAt":1000}\n';
    const running = start(['inspect', '-', '--session', idOf(7)], { input: header, keepsInput: true });
    begun.push(running);
    await until('the address', () => running.stdout().includes(idOf(7)));
    running.process.kill('SIGINT');
    await running.ended;
  });
});
