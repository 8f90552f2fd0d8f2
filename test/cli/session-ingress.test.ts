/** What somebody outside tells a session through the command line. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PendingAction } from '../../src/machines/session/session-state.ts';
import { run, start, until } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

/** A session whose agent asks before it changes anything. */
async function askingSession(...steps: readonly object[]): Promise<string> {
  const agentId = `asker-${Math.random().toString(36).slice(2, 8)}`;
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

const pending = async (sessionId: string): Promise<readonly PendingAction[]> =>
  (await stage.runtime.sessions.status(sessionId)).pendingActions;

const about = (command: string, session: string, ...words: readonly string[]): Promise<Ended> =>
  stage.run('session', command, '--session', session, ...words);

describe.concurrent('through the command line', () => {
  it('a tool call is allowed, and runs in the next wake', async () => {
    const id = await askingSession(runs('touch made; echo ran'), {
      text: 'Done.',
      expect: { lastToolResultIncludes: 'ran' },
    });
    const first = await stage.run('wake', '--session', id);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toMatch(/asks +to run shell_run \(request .*\)\n +│ touch made; echo ran\n/);
    const [action] = await pending(id);
    const status = await about('status', id);
    expect(status.stdout).toContain(`permission to run shell_run (request ${action?.requestId})`);
    expect(await about('confirm-tool', id, '--request', action?.requestId ?? '', '--allow')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const second = await stage.run('wake', '--session', id);
    expect(second.stdout).toMatch(/runs +touch made; echo ran → exit 0\n[\s\S]*says +Done\./);
  });

  it('a tool call is denied with a note that the agent reads, and a second answer is refused', async () => {
    const id = await askingSession(runs('touch made'), {
      text: 'I see.',
      expect: { lastToolResultOutcome: 'denied', lastToolResultIncludes: 'Not on main.' },
    });
    await stage.run('wake', '--session', id);
    const [action] = await pending(id);
    const deny = (): Promise<Ended> =>
      about('confirm-tool', id, '--request', action?.requestId ?? '', '--deny', '--note', 'Not on main.');
    expect(await deny()).toMatchObject({ code: 0 });
    const again = await deny();
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(
      /has no request .* that waits for an answer \[REQUEST_NOT_PENDING\]\n {2}hint: Waiting: none\./,
    );
    expect((await stage.run('wake', '--session', id)).stdout).toContain('I see.');
  });

  it('a tool call is allowed for the session, which says what that covers, and what is like it runs by itself', async () => {
    const id = await askingSession(runs('touch made'), runs('touch made'), { text: 'Done.' });
    await stage.run('wake', '--session', id);
    const [action] = await pending(id);
    const confirmed = await about(
      'confirm-tool',
      id,
      '--request',
      action?.requestId ?? '',
      '--allow',
      '--scope',
      'session',
    );
    expect(confirmed).toMatchObject({ code: 0, stderr: '' });
    expect(confirmed.stdout).toMatch(
      /^Stored as event \d+ .*\nAllowed this once: shell_run\n {2}│ touch made\n {2}in .*\nAllowed in this session from now on: shell_run\(touch made \$\)\nA worker goes on with it, or: .* wake --session /,
    );
    expect((await stage.run('wake', '--session', id)).stdout).toMatch(/says +Done\.\n/);
  });

  it('a tool call that no rule covers is allowed once only, and says so', async () => {
    const id = await askingSession(runs('rm -f made'), { text: 'Done.' });
    await stage.run('wake', '--session', id);
    const [action] = await pending(id);
    const refused = await about(
      'confirm-tool',
      id,
      '--request',
      action?.requestId ?? '',
      '--allow',
      '--scope',
      'always',
    );
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /can be allowed once only.*\[REQUEST_SCOPE_REFUSED\]\n {2}hint: Allow it with the scope "once"/,
      ) as string,
    });
    expect(await pending(id)).toHaveLength(1);
  });

  it('nobody is asked with --no-human: the call is denied', async () => {
    const id = await askingSession(runs('touch made'), { text: 'I see.', expect: { lastToolResultOutcome: 'denied' } });
    expect((await stage.run('wake', '--session', id, '--no-human')).stdout).toMatch(
      /touch made → denied[\s\S]*says +I see\./,
    );
  });

  it('why a session waits is said with the command that moves it on, which works', async () => {
    const id = await askingSession(runs('touch made'), { text: 'Done.' });
    await stage.run('wake', '--session', id);
    const why = await about('why', id);
    expect(why).toMatchObject({ code: 0, stderr: '' });
    expect(why.stdout).toMatch(
      /It waits for permission to run shell_run[\s\S]*a person allows it this once \(user\.tool_confirmation\)\n +.* confirm-tool .* --allow --home/,
    );
    expect(JSON.parse((await about('why', id, '--json')).stdout)).toMatchObject({
      sessionId: id,
      reasons: [{ kind: 'permission' }],
    });
  });

  it('a message goes with a file, which the agent finds in its workspace', async () => {
    const { id, workspace } = await stage.session();
    const file = join(stage.home, 'notes to send.md');
    await writeFile(file, '# Notes');
    expect(await about('send', id, '--message', 'See.', '--attach', file)).toMatchObject({ code: 0, stderr: '' });
    const [sent] = (await stage.eventsOf(id)).flatMap((event) => (event.type === 'user.message' ? [event.data] : []));
    expect(sent?.attachments).toMatchObject([{ name: 'notes to send.md', mediaType: 'text/markdown', bytes: 7 }]);
    expect(await readFile(join(workspace, sent?.attachments?.[0]?.path ?? ''), 'utf8')).toBe('# Notes');
    expect((await about('send', id, '--message', 'See.', '--attach', join(stage.home, 'nowhere'))).stderr).toContain(
      '[ATTACHMENT_INVALID]',
    );
  });

  it('a question is answered', async () => {
    const id = await askingSession(
      { toolCalls: [{ name: 'ask_human', input: { question: 'Which one?' } }] },
      { text: 'The blue one.', expect: { lastToolResultIncludes: 'blue' } },
    );
    expect((await stage.run('wake', '--session', id)).stdout).toContain('Which one?');
    const [action] = await pending(id);
    const wrong = await about('confirm-tool', id, '--request', action?.requestId ?? '', '--allow');
    expect(wrong.stderr).toContain('[REQUEST_KIND_MISMATCH]');
    expect(await about('answer', id, '--request', action?.requestId ?? '', '--text', 'blue')).toMatchObject({
      code: 0,
    });
    expect((await stage.run('wake', '--session', id)).stdout).toContain('The blue one.');
  });

  it('a custom tool request gets its result, as JSON or as a word', async () => {
    const { id } = await stage.sessionToWake(sleeps('asked', { customToolRequest: { name: 'deploy', input: {} } }), {
      text: 'Deployed.',
    });
    await stage.run('wake', '--session', id);
    const [action] = await pending(id);
    expect(
      await about('custom-tool-result', id, '--request', action?.requestId ?? '', '--output', '{"ok":true}'),
    ).toMatchObject({ code: 0 });
    expect(await stage.eventsOf(id)).toContainEqual(
      expect.objectContaining({
        type: 'user.custom_tool_result',
        data: expect.objectContaining({ toolName: 'deploy', output: { ok: true } }),
      }),
    );
  });

  it('the result of a custom tool may be piped in', async () => {
    const { id } = await stage.sessionToWake(sleeps('asked', { customToolRequest: { name: 'deploy', input: {} } }), {
      text: 'Deployed.',
    });
    await stage.run('wake', '--session', id);
    const [action] = await pending(id);
    const words = [
      'session',
      'custom-tool-result',
      '--session',
      id,
      '--request',
      action?.requestId ?? '',
      '--output',
      '-',
      '--home',
      stage.home,
    ];
    expect(await run(words, { input: new Uint8Array([0xff]) })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('[INPUT_UNREADABLE]') as string,
    });
    expect(await run(words, { input: '{"piped":[1,2]}\n' })).toMatchObject({ code: 0, stderr: '' });
    expect(await stage.eventsOf(id)).toContainEqual(
      expect.objectContaining({
        type: 'user.custom_tool_result',
        data: expect.objectContaining({ output: { piped: [1, 2] } }),
      }),
    );
  });

  it('the turn that runs in another process is cut short, and the message that did so is read next', async () => {
    const { id } = await stage.sessionToWake(runs('sleep 300'), { text: 'Stopped.' });
    const waking = start(['wake', '--session', id, '--home', stage.home]);
    await until('the call', async () => (await stage.eventsOf(id)).some(({ type }) => type === 'agent.tool_started'));
    const sent = await stage.runProgram(
      'session',
      'send',
      '--session',
      id,
      '--message',
      'Stop.',
      '--delivery',
      'interrupt',
      '--json',
    );
    expect(JSON.parse(sent.stdout)).toMatchObject({ acceptedAs: 'interrupt' });
    const ended = await waking.ended;
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/hears +interrupted/);
    expect((await stage.run('wake', '--session', id)).stdout).toMatch(/Stopped\./);
  });

  it('an interruption cancels what was queued', async () => {
    const { id } = await stage.sessionToWake(
      sleeps('later', { queuedWakes: [{ reason: 'check', delaySeconds: 600 }] }),
    );
    await stage.run('wake', '--session', id);
    expect(await about('interrupt', id, '--reason', 'no need')).toMatchObject({ code: 0 });
    expect((await stage.runtime.sessions.status(id)).queuedWakes).toEqual([]);
  });

  it('a busy session refuses what may not wait', async () => {
    const { id } = await stage.sessionToWake({ text: 'x' });
    const refused = await about('send', id, '--message', 'Now or never.', '--delivery', 'reject-if-busy');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('[SESSION_BUSY]');
  });

  it('an outcome is defined, and the session is terminated', async () => {
    const { id } = await stage.session();
    expect(
      await about('define-outcome', id, '--title', 'Green.', '--criterion', 'npm test', '--criterion', 'lint'),
    ).toMatchObject({ code: 0 });
    expect((await stage.runtime.sessions.status(id)).outcome).toMatchObject({
      by: 'person',
      title: 'Green.',
      criteria: ['npm test', 'lint'],
    });
    expect((await about('status', id)).stdout).toMatch(/^outcome +Green\.$/m);
    expect((await about('terminate', id, '--reason', 'enough')).stdout).toContain('enough');
    expect((await about('send', id, '--message', 'x')).stderr).toContain('[SESSION_TERMINATED]');
  });

  it.each([
    [['send', '--message', 'x', '--delivery', 'soon'], 'delivery'],
    [['confirm-tool', '--request', 'r'], '--allow or --deny'],
    [['confirm-tool', '--request', 'r', '--allow', '--deny'], 'cannot be used with'],
    [['confirm-tool', '--request', 'r', '--deny', '--scope', 'session'], 'expected no --scope with --deny'],
    [['confirm-tool', '--request', 'r', '--allow', '--scope', 'ever'], 'Allowed choices are once, session, always'],
    [['answer', '--text', 'x'], '--request'],
    [['delete'], '--yes'],
  ])('wrong usage is answered with 2 and says what is wrong: %j', async (words, expected) => {
    const { id } = await stage.session();
    const [command = '', ...rest] = words;
    const ended = await about(command, id, ...rest);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(expected);
  });
});
