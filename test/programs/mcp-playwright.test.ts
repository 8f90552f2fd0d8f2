/** The server that drives a browser, with the Chromium of the tests: the largest of the servers, and the slowest. */
import { once } from 'node:events';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileKindOf } from '../../src/machines/turn/files/file-kind.ts';
import { imageReferencesIn } from '../../src/machines/turn/provider-message.ts';
import type { McpServerInput } from '../../src/machines/agent/mcp-server.ts';
import { mcpSetup, namesOf, runTool } from '../adapters/mcp/mcp-setup.ts';
import type { McpSetup } from '../adapters/mcp/mcp-setup.ts';
import { chromiumFile } from '../support/chromium-file.ts';
import { listeningServer } from './mcp-servers.ts';
import { describeProgram, programFile } from './programs.ts';

let setup: McpSetup;
let args: readonly string[];
let environment: Readonly<Record<string, string>>;

beforeEach(async () => {
  setup = await mcpSetup();
  const TMPDIR = join(setup.directory, 'tmp');
  await mkdir(TMPDIR);
  environment = { TMPDIR, HOME: setup.directory };
  const output = ['--output-dir', join(setup.directory, 'pages')];
  args = ['--executable-path', await chromiumFile(), '--headless', '--no-sandbox', '--isolated', ...output];
});
afterEach(() => setup.close());

const page = (title: string): string =>
  `data:text/html,<title>${title}</title><h1>Hello</h1><button onclick="document.title='clicked'">Go</button>`;

const asProgram = (): McpServerInput => ({
  command: programFile('mcp-playwright'),
  args: [...args],
  env: { ...environment },
  cwd: setup.directory,
});

async function expectClicksAndPictures(server: McpServerInput): Promise<void> {
  expect(namesOf(await setup.tools(server))).toContain('s__browser_navigate');
  expect(await setup.call(server, 'browser_navigate', { url: page('before') })).toContain('Page Title: before');
  const snapshot = String(await setup.call(server, 'browser_snapshot'));
  const target = /button "Go" \[ref=(?<ref>\w+)\]/.exec(snapshot)?.groups?.['ref'];
  expect(await setup.call(server, 'browser_click', { element: 'Go', target })).toContain('Page Title: clicked');
  // `scale` is required in its schema and has a default.
  const shown = await setup.call(server, 'browser_take_screenshot');
  const [image] = imageReferencesIn(shown);
  const bytes = await readFile(join(setup.directory, image?.path ?? ''));
  expect(fileKindOf(bytes)).toMatchObject({ kind: 'image', mediaType: 'image/png' });
  await expect(setup.call(server, 'browser_navigate', { url: 'http://127.0.0.1:1/' })).rejects.toMatchObject({
    code: 'TOOL_CALL_FAILED',
    message: expect.stringContaining('ERR_UNSAFE_PORT') as string,
  });
}

describeProgram('mcp-playwright', () => {
  it('clicks and shows a page, as a program', async () => {
    await expectClicksAndPictures(asProgram());
  });

  it('clicks and shows a page over HTTP, to each of two agents its own', async () => {
    await using program = await listeningServer({
      file: programFile('mcp-playwright'),
      args: (port) => [...args, '--port', String(port)],
      environment: () => environment,
    });
    const server = { url: `http://localhost:${program.port}/mcp` };
    await expectClicksAndPictures(server);
    const tools = await setup.tools(server, { agentId: 'agent-2' });
    const ofOther = (name: string, input = {}): Promise<unknown> =>
      runTool(
        tools.find(({ definition }) => definition.name === `s__${name}`),
        input,
      );
    expect(await ofOther('browser_navigate', { url: page('other') })).toContain('Page Title: other');
    expect(await setup.call(server, 'browser_navigate', { url: page('mine') })).toContain('Page Title: mine');
    expect(await ofOther('browser_snapshot')).toContain('Page Title: other');
    await setup.source.close();
  });

  it('that waits for a page that does not come is stopped at once, and goes on', async () => {
    await using silent = await silentSite();
    const server = asProgram();
    const stop = new AbortController();
    const call = setup.call(server, 'browser_navigate', { url: silent.url }, { signal: stop.signal });
    call.catch(() => undefined);
    await silent.asked;
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(await setup.call(server, 'browser_navigate', { url: page('next') })).toContain('Page Title: next');
    expect(setup.news.filter((line) => line.startsWith('connected'))).toHaveLength(1);
  });

  it('leaves no browser behind when it is killed, and begins with an empty one', async () => {
    await using silent = await silentSite();
    const server = asProgram();
    const call = setup.call(server, 'browser_navigate', { url: silent.url });
    call.catch(() => undefined);
    await silent.asked;
    const browsers = await browserPids(setup.directory);
    expect(browsers.length).toBeGreaterThan(1);
    process.kill(await serverPid(setup.directory), 'SIGKILL');
    await expect(call).rejects.toMatchObject({ code: 'TOOL_SERVER_LOST' });
    expect(await setup.call(server, 'browser_tabs', { action: 'list' })).toContain('about:blank');
    await expect
      .poll(async () => (await browserPids(setup.directory)).filter((pid) => browsers.includes(pid)))
      .toEqual([]);
  });
});

interface SilentSite extends AsyncDisposable {
  readonly url: string;
  /** Resolves with the first request, which is never answered. */
  readonly asked: Promise<unknown>;
}

async function silentSite(): Promise<SilentSite> {
  const site = createServer();
  const asked = once(site, 'request');
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  return {
    url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/`,
    asked,
    [Symbol.asyncDispose]: async () => {
      site.closeAllConnections();
      site.close();
      await once(site, 'close');
    },
  };
}

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
