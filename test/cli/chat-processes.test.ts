/** What people see in a chat: on a terminal, from the program that is built. */
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { Tmux, hasTmux } from '../support/tmux.ts';
import type { TmuxOptions } from '../support/tmux.ts';
import { run, start } from './command-line.ts';

let home: TemporaryHome;
const terminals: Tmux[] = [];

beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  for (const opened of terminals.splice(0)) await opened.close();
  await home.remove();
});

const done = { directive: { outcome: 'sleep', summary: 'Done.' } };
const runs = (command: string): object => ({ toolCalls: [{ name: 'shell_run', input: { command } }] });

async function agent(steps: readonly object[], more = ''): Promise<void> {
  const folder = join(home.path, 'agents/guide');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'agent.md'),
    `---\nname: Guide\nprovider: script\nmodel: script.json\n${more}---\n\nYou guide.\n`,
  );
  await writeFile(join(folder, 'script.json'), JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'sleep' }));
}

async function terminal(options: TmuxOptions = {}): Promise<Tmux> {
  const opened = await Tmux.open(options);
  terminals.push(opened);
  return opened;
}

async function chat(options: TmuxOptions = {}, ...words: readonly string[]): Promise<Tmux> {
  const opened = await terminal(options);
  await opened.run('chat', '--home', home.path, ...words);
  await opened.shows(/^›/m);
  return opened;
}

/** Presses Enter once the key is there, not at once with it. */
async function chooses(shown: Tmux, key: string): Promise<void> {
  await shown.shows(/\[y\] yes[^›]*›$/m);
  await shown.keys(key);
  await shown.shows(/\[y\] yes[^›]*› .$/m);
  await shown.keys('Enter');
}

describe.skipIf(!hasTmux)('a chat', { timeout: 120_000 }, () => {
  it('shows who answers, what is said, and tool calls folded to a line', async () => {
    await agent([
      { text: 'I check **this**.', ...runs('echo one; echo two') },
      { text: 'All is `well`.\n\n- one\n- two', ...done },
    ]);
    const shown = await chat();
    expect(await shown.screen()).toMatchInlineSnapshot(`
      "guide  script/script.json
      works in host (sandbox: off)
      /help says what can be typed; Ctrl-D leaves, and the session stays.

      ›"
    `);
    await shown.line('Please check.');
    await shown.shows('2 steps');
    expect(await shown.screen()).toMatchInlineSnapshot(`
      "guide  script/script.json
      works in host (sandbox: off)
      /help says what can be typed; Ctrl-D leaves, and the session stays.

      you
        Please check.

      guide
        I check this.
        ✓ shell_run echo one; echo two TIME [1]
        All is well.

        - one
        - two
      ── 2 steps · TIME

      ›"
    `);
    await shown.line('/expand 1');
    await shown.shows(/one\n {4}two/);
  });

  it('shows words before they are in the log, and keeps what was printed of them', async () => {
    await agent([{ text: 'First line.\nSecond, which is not whole', pauseMs: 100_000, ...done }]);
    const shown = await chat();
    await shown.line('Go.');
    await shown.shows('Second, which is not whole');
    expect(await shown.screen()).toMatchInlineSnapshot(`
      "guide  script/script.json
      works in host (sandbox: off)
      /help says what can be typed; Ctrl-D leaves, and the session stays.

      you
        Go.

      guide
        First line.
        Second, which is not whole

      * guide is at work TIME · Ctrl-C interrupts
      ›"
    `);
    await shown.resize({ columns: 40, rows: 20 });
    // Drawn anew: what has no room beside it is gone.
    await shown.shows(/^\* guide is at work [^·]*\n›/m);
    await shown.keys('C-c');
    await shown.shows('── 1 step');
    expect(await shown.screen()).toMatchInlineSnapshot(`
      "works in host (sandbox: off)
      /help says what can be typed; Ctrl-D lea
      ves, and the session stays.

      you
        Go.

      guide
        First line.

      you
        Interrupted.

      guide
        Second, which is not whole …
      ── 1 step · TIME

      Ctrl-C again leaves
      ›"
    `);
  });

  it('names the agent above its first words while they come', async () => {
    await agent([{ text: 'Words that are not whole', pauseMs: 100_000, ...done }]);
    const shown = await chat();
    await shown.line('Go.');
    await shown.shows('Words that are not whole');
    expect(await shown.screen()).toMatch(/you\n {2}Go\.\n\nguide\n {2}Words that are not whole\n\n\* guide is at work/);
    await shown.keys('C-c');
    await shown.shows('── 1 step');
  });

  it('opens in no environment that is not there', async () => {
    await agent([{ text: 'Here.', ...done }]);
    const shown = await terminal({ columns: 100 });
    await shown.run('chat', '--home', home.path, '--environment', 'hots');
    await shown.shows('ENVIRONMENT_NOT_FOUND');
    expect(await shown.screen()).not.toContain('/help says');
    await shown.shows(/\$ *$/);
  });

  it('asks for permission with a key and Enter, says what each means, and goes on', async () => {
    await agent(
      [{ ...runs('touch one.txt') }, { ...runs('touch two.txt') }, { text: 'Both asked.', ...done }],
      'permission: ask\n',
    );
    const shown = await chat({ columns: 100, rows: 40 });
    await shown.line('Touch them.');
    await shown.shows('[?] help');
    await chooses(shown, '?');
    await shown.shows(/Esc {2}nothing is answered[^]*\[y\] yes/);
    expect(await shown.screen()).toMatch(
      /^\? guide asks to run shell_run:\n {4}│ touch one\.txt\n {4}in \/[^]*\n {4}y {4}it runs this once[^]*\[y\] yes {2}\[s\] session {2}\[a\] always {2}\[n\] no {2}\[\?\] help ›$/m,
    );
    await chooses(shown, 'y');
    await shown.shows('│ touch two.txt');
    await chooses(shown, 'n');
    await shown.shows('Why, for the agent?');
    await shown.line('Not that one.');
    await shown.shows('Both asked.');
    expect(await shown.screen()).toMatch(
      /Allowed: shell_run\.[^]*✓ shell_run touch one\.txt[^]*Denied: shell_run\. Not that one\.[^]*✗ shell_run touch two\.txt denied/,
    );
  });

  it('takes no key for an answer that was typed for something else', async () => {
    await agent(
      [
        { delayMs: 1_500, ...runs('touch one.txt') },
        { text: 'Done.', ...done },
      ],
      'permission: ask\n',
    );
    const shown = await chat();
    await shown.line('Touch it.');
    // Keys are pressed until after the question is there.
    await expect
      .poll(
        async () => {
          await shown.text('y');
          return shown.screen();
        },
        { interval: 200 },
      )
      .toContain('asks to run shell_run');
    await shown.shows(/^Esc: answer what is asked\n› y+$/m);
    expect(await shown.screen()).not.toContain('Allowed');
    await shown.keys('Escape');
    await chooses(shown, 'n');
    await shown.shows('Why, for the agent?');
    await shown.keys('Enter');
    // What was begun is there again.
    await shown.shows(/^› y+$/m);
  });

  it('asks questions whose choices have numbers, and puts off what is not answered now', async () => {
    const question = { name: 'ask_human', input: { question: 'Which color?', choices: ['red', 'blue'] } };
    await agent([{ toolCalls: [question] }, { text: 'Blue it is.', ...done }]);
    const shown = await chat();
    await shown.line('Paint.');
    await shown.shows('Your answer, or its number');
    expect(await shown.screen()).toMatchInlineSnapshot(`
      "guide  script/script.json
      works in host (sandbox: off)
      /help says what can be typed; Ctrl-D leaves, and the session stays.

      you
        Paint.

      ? guide asks:
          Which color?
          1. red
          2. blue

      Your answer, or its number (Esc: later, ?: help)
      ›"
    `);
    await shown.keys('Escape');
    await shown.shows('put off');
    await shown.line('/answer');
    await shown.shows(/put off[^]*Your answer, or its number/);
    await shown.line('2');
    await shown.shows('Blue it is.');
  });

  it('that is killed leaves a session that goes on', async () => {
    await agent([
      { text: 'It runs.', ...runs('sleep 100') },
      { text: 'It was cut off.', ...done },
    ]);
    const shown = await chat();
    await shown.line('Run it.');
    await shown.shows('* shell_run sleep 100');
    for (const pid of await shown.processIds()) process.kill(pid, 'SIGKILL');
    await shown.shows('Killed');
    await shown.keys('Enter');
    await shown.line(`stty sane`);
    await shown.run('chat', '--home', home.path, '--resume');
    await shown.shows('It was cut off.');
    expect(await shown.screen()).toMatch(
      /you\n {2}Run it\.\n\nguide\n {2}It runs\.\n {2}✗ shell_run sleep 100 unknown/,
    );
    await shown.keys('C-d');
    await shown.shows('The session sleeps, on disk. To go on:');
  });

  it('follows and steers a session that a worker has in hand', async () => {
    await agent([
      { text: 'The worker begins.', ...runs('until test -e go; do sleep 0.1; done') },
      { text: 'It goes on.', ...done },
    ]);
    const runtime = await createNodeRuntime({ home: home.path });
    const { sessionId } = await runtime.sessions.create({ agentId: 'guide' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
    await runtime.shutdown();
    const worker = start(['worker', '--home', home.path]);
    try {
      // Else the chat may be the first to wake it.
      await expect.poll(() => worker.stdout()).toMatch(/wakes/);
      const shown = await chat({}, '--resume', sessionId.slice(0, 13));
      await shown.shows('* shell_run until test -e go');
      await shown.line('And be quick.');
      await shown.shows(/you\n {2}And be quick\./);
      await writeFile(join(home.path, 'agents/guide/sessions', sessionId, 'workspace/go'), '');
      await shown.shows('It goes on.');
    } finally {
      worker.process.kill('SIGTERM');
      await worker.ended;
    }
  });

  it('shows the words of a worker in another process, and cuts it short', async () => {
    await agent([{ text: 'First line.\nWords of the worker', pauseMs: 100_000, ...done }]);
    const runtime = await createNodeRuntime({ home: home.path });
    const { sessionId } = await runtime.sessions.create({ agentId: 'guide' });
    await runtime.shutdown();
    const worker = start(['worker', '--home', home.path]);
    try {
      const shown = await chat({}, '--resume', sessionId);
      await run(['session', 'send', '--home', home.path, '--session', sessionId, '--message', 'Speak.']);
      await shown.shows(/guide\n {2}First line\.\n {2}Words of the worker\n\n\* guide is at work/);
      await shown.keys('C-c');
      await shown.shows('── 1 step');
      expect(await shown.screen()).toMatch(/First line\.\n[^]*Interrupted\./);
    } finally {
      worker.process.kill('SIGTERM');
      await worker.ended;
    }
  });

  it('takes a question back that another chat has answered, and says what is read first', async () => {
    await agent([{ ...runs('touch one.txt') }, { text: 'It is there.', ...done }], 'permission: ask\n');
    const one = await chat();
    await one.line('Touch it.');
    await one.shows(/\[y\] yes/);
    const other = await chat({}, '--resume');
    await other.shows(/\[y\] yes/);
    await one.keys('Escape');
    await one.shows('put off');
    await one.line('Are you there?');
    await one.shows('/answer puts it again');
    await one.line('/why');
    const all = (): Promise<string> => one.screen({ history: true });
    await expect.poll(all, { timeout: 25_000 }).toContain('→ a person answers it here: /answer');
    await one.shows('By the clock');
    expect(await all()).not.toContain('--verbose');
    await chooses(other, 'y');
    await one.shows('It is there.');
    await other.shows('It is there.');
    expect(await one.screen()).toContain('Allowed: shell_run.');
  });

  it('tells a newcomer how to begin', async () => {
    const shown = await terminal({ columns: 100 });
    await shown.run('chat', '--home', home.path);
    await shown.shows('AGENT_MISSING');
    expect(await readdir(home.path)).toEqual([]);
    expect(await shown.screen()).toMatch(/ init --provider anthropic [^]* init --home /);
    await shown.run('init', '--home', home.path);
    await shown.shows('its number or name');
    await shown.keys('Enter');
    await shown.shows(/chat --agent helper/);
    await shown.run('chat', '--home', home.path);
    await shown.shows(/^›/m);
    await shown.line('Hello.');
    await shown.shows('This is my workspace.');
  });

  it('goes on by itself when a wake that the agent queued is due', async () => {
    const again = { queuedWakes: [{ reason: 'check again', delaySeconds: 1 }] };
    await agent([
      { text: 'Not yet.', directive: { ...done.directive, ...again } },
      { text: 'Now it is.', ...done },
    ]);
    const shown = await chat();
    await shown.line('Is it done?');
    await shown.shows('Now it is.');
    expect(await shown.screen()).toMatch(/Not yet\.\n {2}⏲ wakes again at DATE: check again\n/);
  });

  it('takes what is pasted as one message of many lines, and brings back what was typed before', async () => {
    await agent([{ text: 'Read.', ...done }]);
    const shown = await chat({ columns: 40 });
    await shown.paste('one\ntwo 日本 🦊\nthree');
    await shown.shows(/› one\n {2}two 日本 🦊\n {2}three/);
    await shown.keys('M-Enter');
    await shown.text('four\\');
    await shown.keys('Enter');
    await shown.line('five');
    await shown.shows('Read.');
    expect(await shown.screen()).toMatch(/you\n {2}one\n {2}two 日本 🦊\n {2}three\n {2}four\n {2}five\n/);
    const history = join(home.path, 'chat-history.jsonl');
    await expect
      .poll(() => readFile(history, 'utf8'))
      .toBe(`${JSON.stringify('one\ntwo 日本 🦊\nthree\nfour\nfive')}\n`);
    expect((await stat(history)).mode & 0o777).toBe(0o600);
    await shown.keys('C-d');
    await shown.shows('To go on');
    await shown.run('chat', '--home', home.path, '--agent', 'guide');
    await shown.shows(/^›/m);
    await shown.keys('Up');
    await shown.shows(/› one\n/);
  });

  it('shows what a model says instead of obeying it', async () => {
    await agent([{ text: 'Before \u001B[2J\u001B]0;title\u0007 after', ...done }]);
    const shown = await chat();
    await shown.line('Say it.');
    await shown.shows('after');
    expect(await shown.screen()).toContain('Before ␛[2J␛]0;title␇ after');
  });

  it('leaves the terminal as it was, when it is suspended and when a signal ends it', async () => {
    await agent([{ text: 'Here.', ...done }]);
    const shown = await chat();
    await shown.keys('C-z');
    await shown.shows('Stopped');
    await shown.line('echo it is "$((1+1))" the shell; fg');
    await shown.shows(/it is 2 the shell[^]*› *$/);
    await shown.line('Are you there?');
    await shown.shows('Here.');
    for (const pid of await shown.processIds()) process.kill(pid, 'SIGTERM');
    await shown.shows('To go on');
    await shown.line('echo "code $?"');
    await shown.shows(/code \d/);
    expect(await shown.screen()).toMatch(/code 143/);
  });
});

describe('a chat that cannot be', () => {
  it('without a terminal says what there is instead', async () => {
    const { code, stderr } = await run(['chat', '--home', home.path]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: expected a terminal to talk at.*\n {2}hint: [^]* session send --session ID /);
  });
});
