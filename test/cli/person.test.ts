/** Whoever sits at a terminal is asked there what a wake waits for, and the wake goes on. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { displayWidth } from '../../src/cli/terminal/text-width.ts';
import { Stage, runs } from './stage.ts';
import { hasTerminals, runOnTerminal } from './terminal.ts';
import type { Shown, Typed } from './terminal.ts';

let stage: Stage;
let agents = 0;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

async function askingSession(...steps: readonly object[]): Promise<string> {
  agents += 1;
  const agentId = `asker-${agents}`;
  await stage.runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: agentId, provider: 'script', model: 'script.json', permission: 'ask' },
      instructions: 'Ask.',
    },
  });
  await writeFile(
    join(stage.home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps }),
  );
  const { sessionId } = await stage.runtime.sessions.create({ agentId });
  await stage.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  return sessionId;
}

const wake = (id: string, typed: readonly Typed[], columns = 80): Promise<Shown> =>
  runOnTerminal(['wake', '--session', id, '--home', stage.home], { columns, typed });
const CHOICE = /\[l\] later {2}\[f\] full {2}\[\?\] help › $/;

describe.skipIf(!hasTerminals)('at a terminal', () => {
  it('a permission is given for once, after keys that mean nothing, and the wake goes on', async () => {
    const id = await askingSession(runs("touch made\nprintf '\u200Bраypal' "), {
      text: 'Done.',
      expect: { lastToolResultOutcome: 'completed' },
    });
    const { code, text } = await wake(id, [
      { at: CHOICE, text: '' },
      { at: CHOICE, text: 'x' },
      { at: CHOICE, text: 's' },
      { at: CHOICE, text: 'y' },
    ]);
    expect(code).toBe(0);
    // What hides is written out, and there is no rule to offer.
    expect(text).toContain(String.raw`printf '\u{200B}раypal'·`);
    expect(text).toContain('р (U+0440)');
    expect(text).toContain('[y] yes  [n] no  [l] later  [f] full  [?] help');
    expect(text).toMatch(/✓ .*exit 0[\s\S]*Done\.\n/);
    expect(await stage.wakeEndings(id)).toEqual(['requires_action', 'sleep']);
  });

  it('a permission is given for the session, and the same is not asked about again', async () => {
    const id = await askingSession(runs('touch made'), runs('touch made'), { text: 'Done.' });
    const { text } = await wake(id, [{ at: CHOICE, text: 's' }]);
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(
      /"session" \(in this session\) and "always" \(in every session of asker-\d+\) would allow from then on: shell_run\(touch made \$\)/,
    );
    expect((await stage.runtime.sessions.status(id)).sessionRules).toEqual(['shell_run(touch made $)']);
    expect(text).toMatch(/Done\.\n/);
  });

  it('a call is denied with a note, and a question answered by the number of a choice', async () => {
    const ask = { toolCalls: [{ name: 'ask_human', input: { question: 'Which color?', choices: ['red', 'blue'] } }] };
    const id = await askingSession(
      runs('touch made'),
      { ...ask, expect: { lastToolResultIncludes: 'Not now.' } },
      { text: 'It is blue.', expect: { lastToolResultIncludes: 'blue' } },
    );
    const { text } = await wake(id, [
      { at: CHOICE, text: 'n' },
      { at: /may stay empty\. › $/, text: 'Not now.' },
      { at: /empty: later, \?: help\) › $/, text: '2' },
    ]);
    expect(text).toMatch(/✗ .*denied[\s\S]*It is blue\./);
  });

  it('what is put off stays as it is', async () => {
    const id = await askingSession(runs('touch made'), { text: 'Done.' });
    const { code, text } = await wake(id, [{ at: CHOICE, text: 'l' }]);
    expect({ code, isWaiting: /Waits for an answer[.:]/.test(text) }).toEqual({ code: 0, isWaiting: true });
    expect((await stage.runtime.sessions.status(id)).pendingActions).toHaveLength(1);
    const unattended = await stage.run('wake', '--session', id);
    expect(unattended.stdout).toMatch(
      /^Nothing is unread .*\nWhat it waits for, and how to answer: .* session why --session /,
    );
    // The key that it had before.
    const again = await wake(id, [{ at: CHOICE, text: 'o' }]);
    expect(again.text).toMatch(/Done\.\n/);
  });

  it('Ctrl-D at the question of init makes nothing', async () => {
    const home = join(stage.home, 'never-made');
    const { code, text } = await runOnTerminal(['init', '--home', home], {
      columns: 80,
      typed: [{ at: /number or name › $/, text: '\u0004' }],
    });
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('Nothing was made.') as string });
    expect(existsSync(home)).toBe(false);
  });

  it('Ctrl-C at the question answers nothing: the request waits on, and no wake is left open', async () => {
    const id = await askingSession(runs('touch made'), { text: 'Done.' });
    const { code, text } = await wake(id, [{ at: CHOICE, text: '\u0003' }]);
    expect(code).toBe(130);
    expect(text).not.toContain('error:');
    expect(await stage.wakeEndings(id)).toEqual(['requires_action']);
    const state = await stage.runtime.sessions.status(id);
    expect(state.pendingActions).toHaveLength(1);
    expect(state.openWake).toBeUndefined();
  });

  it('of what is too long to be seen at once both ends are shown, and all of it on demand', async () => {
    const id = await askingSession(runs(`${'true\n'.repeat(60)}rm -rf the/end`), { text: 'Done.' });
    const { text } = await wake(id, [
      { at: CHOICE, text: 'f' },
      { at: CHOICE, text: 'l' },
    ]);
    const [first = '', full = ''] = text.split('[y] yes').map((part) => part.replaceAll('│ ', ''));
    expect(first).toMatch(/true\n +… 31 more lines, not shown; \[f\] shows them …\n[\s\S]* rm -rf the\/end\n/);
    expect(full.match(/ true$/gm)).toHaveLength(60);
  });

  it('what is typed before a question is no answer to it', async () => {
    const id = await askingSession(runs('touch made'), { text: 'Done.' });
    const { text } = await wake(id, [
      { at: /\? asks for permission/, text: 'o' },
      { at: CHOICE, text: 'l' },
    ]);
    expect(text).toMatch(/Waits for an answer[.:]/);
    expect((await stage.runtime.sessions.status(id)).pendingActions).toHaveLength(1);
  });

  it.each([40, 200])('a transcript fits into %d columns', async (columns) => {
    const id = await askingSession(
      {
        text: `日本語のテキストも折り返される。 ${'A long sentence. '.repeat(12)}`,
        ...runs(`echo ${'word '.repeat(30)}`),
      },
      { text: 'x'.repeat(150) },
    );
    const { text } = await wake(id, [], columns);
    expect(text).toContain('asker');
    for (const line of text.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
  });

  it('shows what the model says while it says it, and takes it back when all of it is told', async () => {
    const said = `It begins so.\n${'A long sentence. '.repeat(12)}\nIt ends so.\n\`\`\`wakechart-directive\n{ "outcome": "sleep", "summary": "Said." }\n\`\`\``;
    const id = await askingSession({ reasoning: 'A secret doubt.', text: said, pauseMs: 1 });
    const { raw, text } = await wake(id, [], 60);
    const counts = ['It begins so.', 'It ends so.'].map((words) => [
      raw.split(words).length > 2,
      text.split(words).length - 1,
    ]);
    expect(counts).toEqual([
      [true, 1],
      [true, 1],
    ]);
    expect(raw).not.toContain('wakechart-directive');
    expect(text).not.toContain('is at work');
  });

  it('a terminal without colors gets none', async () => {
    const id = await askingSession({ text: 'Hello.' });
    const { raw } = await runOnTerminal(['wake', '--session', id, '--home', stage.home], {
      columns: 80,
      env: { NO_COLOR: '1' },
    });
    expect(raw).toContain('Hello.');
    expect(raw).not.toContain('\u001B[3');
  });
});
