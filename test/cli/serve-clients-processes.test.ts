import { createRequire } from 'node:module';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CAREFUL, ProtocolStage, asks, runs, says } from '../support/protocol-stage.ts';
import { program, run, start } from './command-line.ts';

const require = createRequire(import.meta.url);
let stage: ProtocolStage;
let project: string;

beforeAll(async () => {
  stage = await ProtocolStage.open({ worker: false });
  project = join(stage.home, 'project');
  await mkdir(project);
  await stage.agent('greeter', [runs('echo hello > here.txt', 'I greet.'), says('Greeted.')]);
  await stage.agent('careful', [runs('rm -f x'), says('Removed.')], CAREFUL);
  await stage.agent('curious', [asks('Which one?'), says('Thanks.')]);
});
afterAll(async () => {
  await stage.close();
});

/** A program of others. @param manifest of its package */
function others(manifest: string, file: string, words: readonly string[]): Promise<{ readonly stdout: string }> {
  const path = join(dirname(manifest), file);
  // It keeps what it remembers in the home of its user.
  return execa(process.execPath, [path, ...words], { cwd: project, env: { HOME: stage.home, TMPDIR: stage.home } });
}

const served = (protocol: string, ...words: readonly string[]): string[] => [
  process.execPath,
  program,
  'serve',
  protocol,
  '--home',
  stage.home,
  ...words,
];

describe('wakechart serve mcp', () => {
  it('serves the command line of the MCP inspector', async () => {
    const inspect = async (...words: readonly string[]): Promise<unknown> =>
      JSON.parse(
        (
          await others(require.resolve('@modelcontextprotocol/inspector-cli/package.json'), 'build/cli.js', [
            '--cli',
            ...served('mcp'),
            ...words,
          ])
        ).stdout,
      );
    const words = ['--method', 'tools/call', '--tool-name', 'session_start'];
    expect(await inspect(...words, '--tool-arg', 'agent=greeter', '--tool-arg', 'message=Hi')).toMatchObject({
      structuredContent: { state: 'completed', answer: 'Greeted.' },
    });
  });

  it('says at once what is wrong with its words', async () => {
    expect(await run(['serve', 'mcp', '--allow', '--home', stage.home])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('wakechart serve acp', () => {
  it('is driven by acpx, a client of others, which is asked for permissions', async () => {
    const agent = served('acp', '--agent', 'careful').join(' ');
    const { stdout } = await others(require.resolve('acpx/package.json'), 'dist/cli.js', [
      '--approve-all',
      '--format',
      'text',
      '--agent',
      agent,
      'exec',
      'Clean up',
    ]);
    expect(stdout).toContain('session/request_permission');
    expect(stdout).toContain('Removed.');
    expect(stdout).toContain('end_turn');
  });

  it('needs to be told which agent, where there are several', async () => {
    const ended = await run(['serve', 'acp', '--home', stage.home]);
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('--agent NAME') as string });
  });
});

describe('wakechart serve a2a', () => {
  it('tells its address and its token on standard error, and ends in good order', async () => {
    const server = start(['serve', 'a2a', '--agent', 'curious', '--home', stage.home]);
    await expect.poll(() => server.stderr()).toMatch(/token: \S+\n/);
    const [, card = ''] = /a2a: (\S+)/.exec(server.stderr()) ?? [];
    const [, token = ''] = /token: (\S+)/.exec(server.stderr()) ?? [];
    const { url } = (await (await fetch(card)).json()) as { readonly url: string };
    const message = { kind: 'message', messageId: '1', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] };
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }),
    });
    expect(await answer.json()).toMatchObject({ result: { status: { state: 'input-required' } } });
    server.process.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, stdout: '' });
  });

  it('refuses a token that can be guessed', async () => {
    const ended = await run(['serve', 'a2a', '--agent', 'curious', '--home', stage.home], {
      env: { WAKECHART_A2A_TOKEN: 'short' },
    });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('A2A_TOKEN_INVALID') as string });
  });
});
