/** The reference server "everything", as a program and over HTTP: whatever the protocol has, as it is done by others. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tool, ToolProgress } from '../../src/actors/turn/tool.ts';
import type { McpServerInput } from '../../src/machines/agent/mcp-server.ts';
import { imageReferencesIn } from '../../src/machines/turn/provider-message.ts';
import { mcpSetup, namesOf, published, runTool } from '../adapters/mcp/mcp-setup.ts';
import type { McpSetup } from '../adapters/mcp/mcp-setup.ts';
import { cutLineTo, listeningServer } from './mcp-servers.ts';
import type { ListeningServer } from './mcp-servers.ts';

const FILE = published('server-everything/dist/index.js');
const LONG = { duration: 60, steps: 600 };

let setup: McpSetup;

beforeEach(async () => {
  setup = await mcpSetup();
});
afterEach(() => setup.close());

/** With its pid in a file, which it says nowhere itself. */
const asProgram = (more: object = {}): McpServerInput => ({
  command: 'sh',
  args: ['-c', 'echo $$ > "$0"; exec "$@"', join(setup.directory, 'pid'), process.execPath, FILE, 'stdio'],
  ...more,
});

const pidOfProgram = async (): Promise<number> => Number(await readFile(join(setup.directory, 'pid'), 'utf8'));

const listening = (port?: number): Promise<ListeningServer> =>
  listeningServer({
    file: process.execPath,
    args: () => [FILE, 'streamableHttp'],
    environment: (free) => ({ PORT: String(free) }),
    port,
  });

const at = (port: number, more: object = {}): McpServerInput => ({ url: `http://127.0.0.1:${port}/mcp`, ...more });

const WAYS = ['as a program', 'over HTTP'] as const;

interface Served extends AsyncDisposable {
  at(more?: object): McpServerInput;
}

async function served(way: (typeof WAYS)[number]): Promise<Served> {
  if (way === 'as a program') return { at: asProgram, [Symbol.asyncDispose]: () => Promise.resolve() };
  const program = await listening();
  return {
    at: (more) => at(program.port, more),
    [Symbol.asyncDispose]: async () => {
      await setup.source.close();
      await program.kill();
    },
  };
}

const toolNamed = (tools: readonly Tool[], name: string): Tool | undefined =>
  tools.find(({ definition }) => definition.name === `s__${name}`);

/** Begins a call that takes long, and resolves when it has begun. */
async function begun(server: McpServerInput, signal?: AbortSignal): Promise<{ readonly result: Promise<unknown> }> {
  const tool = toolNamed(await setup.tools(server), 'trigger-long-running-operation');
  const seen: ToolProgress[] = [];
  const onProgress = (progress: ToolProgress): void => void seen.push(progress);
  const result = runTool(tool, LONG, { onProgress, ...(signal && { signal }) });
  result.catch(() => undefined);
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  return { result };
}

describe.each(WAYS)('the server "everything" %s', (way) => {
  it('tells what it can do; what needs a client that can do more is not there, or left out', async () => {
    await using program = await served(way);
    const server = program.at();
    // Over HTTP it says that its list has changed before there is a stream to say it on: the list is read again each time.
    await expect
      .poll(async () => {
        await setup.tools(server);
        return setup.news.filter((line) => line.startsWith('left_out:'));
      })
      .toEqual([
        'left_out: 1 left out, run only as tasks of the protocol, which are not supported: simulate-research-query',
      ]);
    const names = namesOf(await setup.tools(server));
    expect(names).toContain('s__get-resource-reference');
    // It has these for clients that say that they can sample, ask or list roots.
    expect(names.filter((name) => /sampling|elicitation|roots/.test(name))).toEqual([]);
  });

  it('answers with texts, images, resources, files and data', async () => {
    await using program = await served(way);
    const server = program.at();
    const annotated = await setup.call(server, 'get-annotated-message', { messageType: 'error', includeImage: true });
    expect(annotated).toMatchObject({
      content: [{ type: 'text', text: 'Error: Operation failed' }, { type: 'image' }],
    });
    expect(imageReferencesIn(annotated)).toMatchObject([{ mediaType: 'image/png' }]);
    expect(await setup.call(server, 'get-structured-content', { location: 'Chicago' })).toEqual({
      temperature: 36,
      conditions: 'Light rain / drizzle',
      humidity: 82,
    });
    const text = await setup.call(server, 'get-resource-reference', { resourceType: 'Text', resourceId: 2 });
    expect(text).toMatchObject({
      content: [
        {},
        {
          type: 'resource',
          uri: 'demo://resource/dynamic/text/2',
          text: expect.stringContaining('Resource 2') as string,
        },
        {},
      ],
    });
    const blob = await setup.call(server, 'get-resource-reference', { resourceType: 'Blob', resourceId: 2 });
    const kept = (blob as { content: { path?: string }[] }).content[1];
    expect(await readFile(join(setup.directory, kept?.path ?? ''), 'utf8')).toContain('Resource 2');
    const gzip = { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' };
    expect(await setup.call(server, 'gzip-file-as-resource', gzip)).toMatchObject({
      content: [{ type: 'resource', mediaType: 'application/gzip', path: expect.stringMatching(/\.gz$/) as string }],
    });
    expect(await setup.call(server, 'gzip-file-as-resource', { ...gzip, outputType: 'resourceLink' })).toMatchObject({
      content: [{ type: 'resource_link', uri: 'demo://resource/session/a.gz' }],
    });
    await expect(
      setup.call(server, 'get-resource-reference', { resourceType: 'Text', resourceId: -1 }),
    ).rejects.toThrow(/resourceId/);
  });

  it('gives its resources to agents that name them', async () => {
    await using program = await served(way);
    const tools = await setup.tools(program.at(), { tools: ['echo'], resources: true });
    expect(namesOf(tools)).toEqual(['s__echo', 's__list_resources', 's__read_resource']);
    const { resources } = (await runTool(toolNamed(tools, 'list_resources'))) as { resources: { uri: string }[] };
    const uri = resources.find((resource) => resource.uri.endsWith('/features.md'))?.uri;
    expect(await runTool(toolNamed(tools, 'read_resource'), { uri })).toMatchObject({
      content: [{ type: 'resource', uri, text: expect.stringContaining('Everything Server') as string }],
    });
  });

  it('ends a call that is stopped at once, and the next one finds the same connection', async () => {
    await using server = await served(way);
    const stop = new AbortController();
    const call = await begun(server.at(), stop.signal);
    stop.abort(new Error('no longer wanted'));
    await expect(call.result).rejects.toThrow('no longer wanted');
    expect(await setup.call(server.at(), 'echo', { message: 'still here' })).toBe('Echo: still here');
    expect(setup.news.filter((line) => /^(?:lost|noise)/.test(line))).toEqual([]);
  });

  it('is not waited for when it says nothing for too long, and is when it reports', async () => {
    await using program = await served(way);
    const hasty = program.at({ timeoutMs: 1_500 });
    const seen: ToolProgress[] = [];
    const onProgress = (progress: ToolProgress): void => void seen.push(progress);
    // With a sign of life in time it may take longer than that altogether.
    const steady = { duration: 2.4, steps: 24 };
    expect(await setup.call(hasty, 'trigger-long-running-operation', steady, { onProgress })).toContain('completed');
    expect(seen.at(-1)).toEqual({ done: 24, total: 24 });
    const silent = { duration: 60, steps: 1 };
    await expect(setup.call(hasty, 'trigger-long-running-operation', silent)).rejects.toMatchObject({
      code: 'TOOL_CALL_TIMEOUT',
    });
    expect(await setup.call(hasty, 'echo', { message: 'on' })).toBe('Echo: on');
  });

  it('gives each of twenty calls of two agents at once its own answer', async () => {
    await using program = await served(way);
    const agents = await Promise.all(['one', 'two'].map((agentId) => setup.tools(program.at(), { agentId })));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        runTool(toolNamed(agents[index % 2] ?? [], 'get-sum'), { a: index, b: 1 }),
      ),
    );
    expect(answers).toEqual(answers.map((_, index) => `The sum of ${index} and 1 is ${index + 1}.`));
    expect(setup.news.filter((line) => line.startsWith('connected'))).toHaveLength(2);
  });
});

describe('a call of the server "everything"', () => {
  it('goes with the program that is killed, and the next one starts it again', async () => {
    const call = await begun(asProgram());
    const first = await pidOfProgram();
    process.kill(first, 'SIGKILL');
    await expect(call.result).rejects.toMatchObject({ code: 'TOOL_SERVER_LOST' });
    expect(await setup.call(asProgram(), 'echo', { message: 'again' })).toBe('Echo: again');
    expect(await pidOfProgram()).not.toBe(first);
  });

  it('goes with the listening server that is killed; one that forgets its sessions is asked in a new one', async () => {
    await using first = await listening();
    const call = await begun(at(first.port));
    await first.kill();
    await expect(call.result).rejects.toMatchObject({ code: 'TOOL_SERVER_LOST' });
    await using second = await listening(first.port);
    expect(await setup.call(at(second.port), 'echo', { message: 'again' })).toBe('Echo: again');
    // Now while no call is open: the session is unknown to the one that comes after.
    await second.kill();
    await using third = await listening(first.port);
    expect(await setup.call(at(third.port), 'echo', { message: 'and again' })).toBe('Echo: and again');
    await setup.source.close();
  });

  it('whose line is cut again and again is resumed, and its answer arrives', async () => {
    await using program = await listening();
    await using line = await cutLineTo(program.port);
    const seen = new Set<number | undefined>();
    let answer: unknown;
    const steps = { duration: 3, steps: 10 };
    const onProgress = ({ done }: ToolProgress): void => void seen.add(done);
    const call = setup.call(at(line.port), 'trigger-long-running-operation', steps, { onProgress });
    const answered = call.then((result) => (answer = result));
    await expect.poll(() => seen.size).toBe(3);
    // What it says after a stream was resumed this server only gives to the next one that is resumed.
    const cutUntilAnswered = (): unknown => {
      if (answer === undefined) line.cut();
      return answer;
    };
    await expect.poll(cutUntilAnswered, { interval: 1_000 }).toContain('completed');
    await answered;
    expect([...seen]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await setup.source.close();
  });
});
