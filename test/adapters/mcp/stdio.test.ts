import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolProgress } from '../../../src/actors/turn/tool.ts';
import { eventually, isRunning } from '../process-tree/system-processes.ts';
import { mcpSetup, namesOf, runTool } from './mcp-setup.ts';
import type { McpSetup } from './mcp-setup.ts';

let setup: McpSetup;

/** One for all: tests that use the same server share its process, as wakes do. */
beforeAll(async () => {
  setup = await mcpSetup({
    environment: { SECRET_KEY: 'correct-horse-battery', UNNAMED_SECRET: 'staple-staple-staple' },
  });
});
afterAll(async () => {
  await setup.close();
});

describe('a program as a server', () => {
  it('offers its tools under its name, runs them, and is started once for all who use it', async () => {
    const server = setup.fixtureServer();
    const [one, other] = await Promise.all([setup.tools(server), setup.tools(server)]);
    expect(namesOf(one)).toContain('s__echo');
    expect(namesOf(other)).toEqual(namesOf(one));
    expect(await Promise.all(['a', 'b', 'c'].map((text) => setup.call(server, 'echo', { text })))).toEqual([
      'a',
      'b',
      'c',
    ]);
    expect(setup.starts()).toHaveLength(1);
  });

  it('gets a few harmless variables and those that the agent file names, nothing else', async () => {
    const server = {
      ...setup.fixtureServer(),
      env: { ...setup.fixtureServer().env, KEY: { env: 'SECRET_KEY' }, PLAIN: 'as it is' },
    };
    const environment = JSON.parse(String(await setup.call(server, 'env'))) as Record<string, string>;
    expect(environment).toMatchObject({ PLAIN: 'as it is', PATH: process.env['PATH'], KEY: '[redacted SECRET_KEY]' });
    expect(environment).not.toHaveProperty('UNNAMED_SECRET');
    expect(environment).not.toHaveProperty('SECRET_KEY');
    expect(environment).not.toHaveProperty('VITEST');
  });

  it('whose variable is missing is refused by name, before anything is started', async () => {
    const before = setup.starts();
    const server = { ...setup.fixtureServer(), env: { KEY: { env: 'NO_SUCH_VARIABLE' } } };
    await expect(setup.tools(server)).rejects.toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      message: expect.stringContaining('the variable NO_SUCH_VARIABLE') as string,
    });
    expect(setup.starts()).toEqual(before);
  });

  it.each([
    ['no-such-program-anywhere', 'there is no such program'],
    ['/etc/passwd', 'it may not be executed'],
  ])('that is %s cannot be used, which is said at once', async (command, words) => {
    await expect(setup.tools({ command })).rejects.toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      message: expect.stringContaining(words) as string,
    });
  });

  it('whose folder is not there is refused with the folder', async () => {
    await expect(setup.tools({ ...setup.fixtureServer(), cwd: 'nowhere' })).rejects.toThrow(
      join(setup.directory, 'nowhere'),
    );
  });

  it('declines to answer what a server asks for', async () => {
    expect(await setup.call(setup.fixtureServer(), 'ask')).toBe('[-32601,-32601,-32601]');
  });
});

describe('what a server says of its tools', () => {
  it('is not believed, unless the agent file trusts the server', async () => {
    const definitionOf = async (trust: boolean): Promise<unknown> => {
      const tools = await setup.tools({ ...setup.fixtureServer(), trust });
      const { readOnly, destructive, idempotent, ownership, permissionPolicy } =
        tools.find(({ definition }) => definition.name === 's__echo')?.definition ?? {};
      return { readOnly, destructive, idempotent, ownership, permissionPolicy };
    };
    expect(await definitionOf(false)).toEqual({
      readOnly: false,
      destructive: true,
      idempotent: false,
      ownership: 'mcp',
      permissionPolicy: 'always_allow',
    });
    expect(await definitionOf(true)).toEqual({
      readOnly: true,
      destructive: false,
      idempotent: true,
      ownership: 'mcp',
      permissionPolicy: 'always_allow',
    });
  });

  it('about a change of them shows in the next list', async () => {
    const server = setup.fixtureServer();
    await setup.call(server, 'add_tool', { name: 'fresh' });
    await setup.heard('tools_changed');
    expect(namesOf(await setup.tools(server))).toContain('s__fresh');
  });

  it('shows in the next list even if it never speaks of changes', async () => {
    const server = setup.fixtureServer('--silent-changes');
    await setup.call(server, 'add_tool', { name: 'fresh', quietly: true });
    expect(namesOf(await setup.tools(server))).toContain('s__fresh');
  });

  it('is read page by page, up to a thousand tools', async () => {
    const tools = await setup.tools(setup.fixtureServer('--tools=3000'));
    expect(tools).toHaveLength(1_000);
    expect(await setup.heard('left_out', 'more than 1000 tools')).toBeDefined();
  });

  it('is filtered to those that the agent file names, and missing ones are news', async () => {
    const tools = await setup.tools(setup.fixtureServer(), { tools: ['echo', 'nothing'] });
    expect(namesOf(tools)).toEqual(['s__echo']);
    expect(await setup.heard('left_out', '"nothing"')).toBeDefined();
  });

  it('may hold any name: models see what they accept, and no two tools share one', async () => {
    const names = namesOf(await setup.tools(setup.fixtureServer('--odd-names')));
    expect(names).toHaveLength(8);
    expect(new Set(names).size).toBe(8);
    expect(names.filter((name) => !/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))).toEqual([]);
    expect(names).toContain('s__a_b');
    expect(names).toContain('s__plain');
    expect(
      await Promise.all([
        setup.heard('left_out', 'named like another: a_b'),
        setup.heard('left_out', 'not well-formed'),
      ]),
    ).toHaveLength(2);
  });
});

describe('a call', () => {
  it('with input that does not follow the schema is refused before it is sent', async () => {
    await expect(setup.call(setup.fixtureServer(), 'echo', { text: 3 })).rejects.toThrow(/expected string/);
  });

  it('reports its progress, which keeps it alive beyond its time limit', async () => {
    const seen: ToolProgress[] = [];
    const server = { ...setup.fixtureServer(), timeoutMs: 400 };
    const result = await setup.call(
      server,
      'progress',
      { steps: 6, gapMs: 100 },
      { onProgress: (progress) => seen.push(progress) },
    );
    expect(result).toBe('done');
    expect(seen.map(({ done, total, message }) => [done, total, message])).toEqual(
      [1, 2, 3, 4, 5, 6].map((step) => [step, 6, `step ${step}`]),
    );
  });

  it('survives a listener of its progress that throws', async () => {
    const onProgress = (): never => {
      throw new Error('no');
    };
    expect(await setup.call(setup.fixtureServer(), 'progress', { steps: 2, gapMs: 1 }, { onProgress })).toBe('done');
  });

  it('that hangs ends with the signal, and the server is told to stop', async () => {
    const file = join(setup.directory, 'told');
    const stop = new AbortController();
    const call = setup.call(setup.fixtureServer(), 'hang', { file }, { signal: stop.signal });
    call.catch(() => undefined);
    await eventually(() => existsSync(`${file}.started`), 'the call runs');
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await eventually(() => existsSync(file) && readFileSync(file, 'utf8') !== '', 'the server has heard');
    expect(await setup.call(setup.fixtureServer(), 'echo', { text: 'still there' })).toBe('still there');
  });

  it('that hangs times out, and the server is told to stop', async () => {
    const file = join(setup.directory, 'told in time');
    const server = { ...setup.fixtureServer(), timeoutMs: 100 };
    await expect(setup.call(server, 'hang', { file })).rejects.toMatchObject({
      code: 'TOOL_CALL_TIMEOUT',
      category: 'timeout',
      details: { limitMs: 100 },
    });
    await eventually(() => existsSync(file) && readFileSync(file, 'utf8') !== '', 'the server has heard');
  });

  it('that is answered after it was stopped harms nobody', async () => {
    const before = [...setup.news];
    const file = join(setup.directory, 'deaf');
    const stop = new AbortController();
    const call = setup.call(setup.fixtureServer(), 'deaf', { file }, { signal: stop.signal });
    call.catch(() => undefined);
    await eventually(() => existsSync(`${file}.started`), 'the call runs');
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await eventually(() => existsSync(file), 'the server has answered');
    expect(await setup.call(setup.fixtureServer(), 'echo', { text: 'next' })).toBe('next');
    expect(setup.news).toEqual(before);
  });

  it('with a signal that has aborted is not sent', async () => {
    const tools = await setup.tools(setup.fixtureServer());
    const hang = tools.find(({ definition }) => definition.name === 's__hang');
    await expect(runTool(hang, {}, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
  });

  it('in which the tool fails, or the server refuses, says what they said', async () => {
    const server = setup.fixtureServer();
    await expect(setup.call(server, 'fail')).rejects.toMatchObject({
      code: 'TOOL_CALL_FAILED',
      message: 'the disk is full',
    });
    await expect(setup.call(server, 'fail_silently')).rejects.toThrow('did not say why');
    await expect(setup.call(server, 'refuse')).rejects.toMatchObject({
      code: 'TOOL_CALL_FAILED',
      message: expect.stringContaining('no such thing') as string,
    });
    await expect(setup.call(server, 'sign_in')).rejects.toMatchObject({
      code: 'TOOL_CALL_FAILED',
      message: expect.stringMatching(
        /not signed in: .* open https:\/\/id\.example\.com\/x \(Sign in\) first/,
      ) as string,
    });
  });

  it('whose result is twenty megabytes fails, and harms no other', async () => {
    const server = setup.fixtureServer();
    await setup.tools(server);
    const before = setup.starts();
    const [large, small] = await Promise.allSettled([
      setup.call(server, 'large', { bytes: 20 * 1024 * 1024 }),
      setup.call(server, 'echo', { text: 'small' }),
    ]);
    expect(large).toMatchObject({ status: 'rejected', reason: { code: 'TOOL_RESULT_TOO_LARGE' } });
    expect(small).toEqual({ status: 'fulfilled', value: 'small' });
    expect(setup.starts()).toEqual(before);
  });

  it('that makes the server crash fails with what the server said last, without its secrets; the next call starts it again', async () => {
    const before = setup.starts().length;
    const server = { ...setup.fixtureServer(), env: { ...setup.fixtureServer().env, KEY: { env: 'SECRET_KEY' } } };
    const failure = await setup.call(server, 'crash').catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'TOOL_SERVER_LOST',
      message: expect.stringMatching(/exit code 3.*about to crash; the key is \[redacted SECRET_KEY\]/s) as string,
    });
    expect(JSON.stringify([failure, setup.news])).not.toContain('correct-horse');
    expect(await setup.call(server, 'echo', { text: 'again' })).toBe('again');
    expect(setup.starts()).toHaveLength(before + 2);
  });

  it.each(['close_output', 'stop_reading'])(
    'to a server that will %s ends in an error, not in silence',
    async (tool) => {
      const server = { ...setup.fixtureServer(), timeoutMs: 20_000 };
      const first = await setup.call(server, tool).catch((error: unknown) => error);
      const then =
        tool === 'stop_reading'
          ? await setup.call(server, 'echo', { text: 'x'.repeat(200_000) }).catch((error: unknown) => error)
          : first;
      expect(then).toMatchObject({ code: 'TOOL_SERVER_LOST' });
      const pid = setup.starts().at(-1) ?? 0;
      await eventually(() => !isRunning(pid), 'the server is gone');
    },
  );

  it('goes through garbage on the output of the server, which is reported', async () => {
    expect(await setup.call(setup.fixtureServer('--of-its-own'), 'garbage')).toBe('and yet it answers');
    expect(await setup.heard('noise', 'this is no JSON')).toBeDefined();
  });

  it('goes through a hundred megabytes on the error output of the server', async () => {
    const server = { ...setup.fixtureServer(), timeoutMs: 30_000 };
    expect(await setup.call(server, 'shout', { megabytes: 100 })).toBe('shouted');
    await expect(setup.call(server, 'crash')).rejects.toThrow(/the last words/);
  });
});
