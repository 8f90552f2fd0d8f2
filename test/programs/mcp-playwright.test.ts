/** The server that drives a browser, with the Chromium of the tests: the largest of the servers, and the slowest. */
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileKindOf } from '../../src/machines/turn/files/file-kind.ts';
import { imageReferencesIn } from '../../src/machines/turn/provider-message.ts';
import type { McpServerInput } from '../../src/machines/agent/mcp-server.ts';
import { mcpHouse, namesOf, runTool } from '../adapters/mcp/mcp-house.ts';
import type { McpHouse } from '../adapters/mcp/mcp-house.ts';
import { chromiumFile } from '../support/chromium-file.ts';
import { listeningServer } from './mcp-servers.ts';
import { describeProgram, programFile } from './programs.ts';

let house: McpHouse;
let args: readonly string[];
let environment: Readonly<Record<string, string>>;

beforeEach(async () => {
  house = await mcpHouse();
  const TMPDIR = join(house.directory, 'tmp');
  await mkdir(TMPDIR);
  environment = { TMPDIR, HOME: house.directory };
  const output = ['--output-dir', join(house.directory, 'pages')];
  args = ['--executable-path', await chromiumFile(), '--headless', '--no-sandbox', '--isolated', ...output];
});
afterEach(() => house.close());

const page = (title: string): string =>
  `data:text/html,<title>${title}</title><h1>Hello</h1><button onclick="document.title='clicked'">Go</button>`;

const asProgram = (): McpServerInput => ({
  command: programFile('mcp-playwright'),
  args: [...args],
  env: { ...environment },
  cwd: house.directory,
});

async function clicksAndShows(server: McpServerInput): Promise<void> {
  expect(namesOf(await house.tools(server))).toContain('s__browser_navigate');
  expect(await house.call(server, 'browser_navigate', { url: page('before') })).toContain('Page Title: before');
  const snapshot = String(await house.call(server, 'browser_snapshot'));
  const target = /button "Go" \[ref=(?<ref>\w+)\]/.exec(snapshot)?.groups?.['ref'];
  expect(await house.call(server, 'browser_click', { element: 'Go', target })).toContain('Page Title: clicked');
  // `scale` is required in its schema and has a default.
  const shown = await house.call(server, 'browser_take_screenshot');
  const [image] = imageReferencesIn(shown);
  const bytes = await readFile(join(house.directory, image?.path ?? ''));
  expect(fileKindOf(bytes)).toMatchObject({ kind: 'image', mediaType: 'image/png' });
  await expect(house.call(server, 'browser_navigate', { url: 'http://127.0.0.1:1/' })).rejects.toMatchObject({
    code: 'TOOL_CALL_FAILED',
    message: expect.stringContaining('ERR_UNSAFE_PORT') as string,
  });
}

const startedIn = (folder: string): Promise<boolean> => readdir(folder).then((names) => names.length > 0);

describeProgram('mcp-playwright', () => {
  it('clicks and shows a page, as a program', async () => {
    await clicksAndShows(asProgram());
  });

  it('clicks and shows a page over HTTP, to each of two agents its own', async () => {
    await using program = await listeningServer({
      file: programFile('mcp-playwright'),
      args: (port) => [...args, '--port', String(port)],
      environment: () => environment,
    });
    const server = { url: `http://localhost:${program.port}/mcp` };
    await clicksAndShows(server);
    const tools = await house.tools(server, { agentId: 'agent-2' });
    const ofOther = (name: string, input = {}): Promise<unknown> =>
      runTool(
        tools.find(({ definition }) => definition.name === `s__${name}`),
        input,
      );
    expect(await ofOther('browser_navigate', { url: page('other') })).toContain('Page Title: other');
    expect(await house.call(server, 'browser_navigate', { url: page('mine') })).toContain('Page Title: mine');
    expect(await ofOther('browser_snapshot')).toContain('Page Title: other');
    await house.source.close();
  });

  it('that waits for what does not come is stopped at once, and its page is still there', async () => {
    const server = asProgram();
    await house.call(server, 'browser_navigate', { url: page('waiting') });
    const stop = new AbortController();
    const call = house.call(server, 'browser_wait_for', { time: 25 }, { signal: stop.signal });
    const ended = expect(call).rejects.toThrow('enough');
    setTimeout(() => stop.abort(new Error('enough')), 300);
    await ended;
    expect(await house.call(server, 'browser_tabs', { action: 'list' })).toContain('waiting');
  });

  it('leaves no browser behind when it is killed, and begins with an empty one', async () => {
    const server = asProgram();
    await house.call(server, 'browser_navigate', { url: page('lost') });
    expect(await startedIn(environment['TMPDIR'] ?? '')).toBe(true);
    const pids = await browserPids(house.directory);
    expect(pids.length).toBeGreaterThan(1);
    const call = house.call(server, 'browser_wait_for', { time: 25 });
    const lost = expect(call).rejects.toMatchObject({ code: 'TOOL_SERVER_LOST' });
    process.kill(await serverPid(house.directory), 'SIGKILL');
    await lost;
    await expect.poll(async () => (await browserPids(house.directory)).filter((pid) => pids.includes(pid))).toEqual([]);
    expect(await house.call(server, 'browser_tabs', { action: 'list' })).not.toContain('lost');
  });
});

/** Processes that have the folder in their environment. */
async function processesOf(folder: string): Promise<{ readonly pid: number; readonly words: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string, file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const all = await Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      isOurs: (await read(pid, 'environ')).includes(`HOME=${folder}\0`),
      words: await read(pid, 'cmdline'),
    })),
  );
  return all.filter(({ isOurs }) => isOurs);
}

async function browserPids(folder: string): Promise<number[]> {
  return (await processesOf(folder)).filter(({ words }) => words.includes('chromium-')).map(({ pid }) => pid);
}

async function serverPid(folder: string): Promise<number> {
  const found = (await processesOf(folder)).find(
    ({ words }) => !words.startsWith('/') || words.includes('playwright-mcp'),
  );
  return found?.pid ?? 0;
}
