/** The tools of Codex: what our log says of each call, its permission and its result. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RecordedRequest } from '../support/http-models/model-server.ts';
import { says, use } from '../support/http-models/conversation.ts';
import { answersItems, mcpSettings, openCodex, patches, usesIn } from './codex-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';
import { callsOf, storyOf } from './story.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const call = (name: string, end = 'completed'): readonly string[] => [`use ${name} by backend`, 'started', end];
/** Nothing binds such an agent: the sandbox of the program decides. */
const UNBOUND = { permission: { mode: 'preapproved' } } as const;
const run = async (stage: Stage, message = 'Go on.'): Promise<string> => {
  const id = await stage.session(message);
  await stage.wake(id);
  return id;
};

describeProgram('codex', () => {
  it('answers with the key of its account, and its turn counts as one step', async () => {
    await using stage = await openCodex();
    stage.conversation().script(says('Hello.'));
    const id = await stage.session('Say hello.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Hello.', modelSteps: 1 });
    expect(stage.server.request.headers.authorization).toBe('Bearer sk-fixture');
    expect(stage.server.request.text).toContain('You work as you are told.');
  });

  it('runs commands and patches in its sandbox where nothing binds it', async () => {
    // The folders for what is temporary, where the tests are, are open to it else.
    const config = {
      'sandbox_workspace_write.exclude_slash_tmp': true,
      'sandbox_workspace_write.exclude_tmpdir_env_var': true,
    };
    await using stage = await openCodex({ agent: UNBOUND, options: { config } });
    stage
      .conversation()
      .script(
        use('exec_command', { cmd: 'echo made > made.txt && cat made.txt' }),
        patches('*** Update File: made.txt\n@@\n-made\n+changed'),
        use('exec_command', { cmd: 'echo x > ../outside.txt' }),
        patches('*** Add File: ../outside.txt\n+x'),
        use('exec_command', { cmd: 'exit 3' }),
        says('Made.'),
      );
    const id = await run(stage);
    const calls = callsOf(await stage.log(id));
    expect(calls.slice(0, 6)).toEqual([...call('command_execution'), ...call('file_change')]);
    // What leads out of its sandbox fails: a patch before it is an item, of which only its model is told, and a command
    // at times so fast that the program tells nothing of it.
    const failed = call('command_execution', 'failed');
    expect([failed, [...failed, ...failed]]).toContainEqual(calls.slice(6));
    expect(storyOf(await stage.log(id))).toEqual(
      expect.arrayContaining([
        'command_execution completed: {"output":"made\\n","exitCode":0}',
        'file_change completed: completed',
        'command_execution failed: {"output":"","exitCode":3}',
      ]),
    );
    expect(await stage.file('made.txt')).toBe('changed\n');
    await expect(stage.file('../outside.txt')).rejects.toThrow('ENOENT');
  });

  it('types into a command that runs, and waits for it', async () => {
    await using stage = await openCodex({ agent: UNBOUND });
    const conversation = stage.conversation();
    const typing = (chars: string) => (exchange: Parameters<ReturnType<typeof use>>[0]) => {
      const session_id = Number(/session ID (\d+)/.exec(conversation.results()[0]?.text ?? '')?.[1]);
      return use('write_stdin', { session_id, chars, yield_time_ms: 1_000 })(exchange);
    };
    conversation.script(
      use('exec_command', { cmd: 'read line; echo "read $line"', tty: true, yield_time_ms: 300 }),
      typing('words\n'),
      says('Typed.'),
    );
    const id = await run(stage);
    expect(callsOf(await stage.log(id)).toSorted()).toEqual(
      [...call('command_execution'), ...call('write_stdin')].toSorted(),
    );
    expect(storyOf(await stage.log(id)).join('\n')).toContain('read words');
  });

  it('is shown an image, and told of a search of its provider', async () => {
    await using stage = await openCodex({ agent: UNBOUND });
    await writeFile(join(stage.workspace, 'pixel.png'), Buffer.from(PIXEL, 'base64'));
    stage
      .conversation()
      .script(
        use('view_image', { path: 'pixel.png' }),
        answersItems(
          { type: 'web_search_call', action: { type: 'search', query: 'trees' }, call_id: undefined },
          { type: 'function_call', name: 'exec_command', arguments: JSON.stringify({ cmd: 'true' }) },
        ),
        says('Seen.'),
      );
    const id = await run(stage);
    expect(callsOf(await stage.log(id))).toEqual([
      ...call('view_image'),
      ...call('web_search'),
      ...call('command_execution'),
    ]);
  });

  it('calls a tool of its own MCP servers once a person has allowed it', async () => {
    await using stage = await openCodex({ config: mcpSettings() });
    await stage.put('seen.txt', '');
    stage.conversation().script(usesIn('mcp__fixture', 'list', { path: stage.workspace }), says('Listed.'));
    const id = await stage.session('What is there?');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true }, 'mcp__fixture__list');
    await waking;
    expect(storyOf(await stage.log(id))).toEqual(
      expect.arrayContaining([
        'asked',
        'started, allowed by person',
        expect.stringMatching(/^mcp__fixture__list completed: .*seen\.txt/),
      ]),
    );
  });

  it('tells what its subagents do, and asks for it', async () => {
    // A model that it does not know gets tools for subagents from it.
    await using stage = await openCodex({ agent: { model: 'model-1' } });
    const isChild = ({ text }: RecordedRequest): boolean => text.includes('CHILD') && !text.includes('"spawn_agent\\"');
    const ofParent = ({ body }: RecordedRequest): boolean => JSON.stringify(body['input']).includes('spawn_agent');
    const childOf = (text: string): string => /agent_id\\*":\\*"([^"\\]+)/.exec(text)?.[1] ?? '';
    await mkdir(join(stage.workspace, 'made'));
    stage.conversation().script(
      usesIn('multi_agent_v1', 'spawn_agent', { message: 'CHILD' }),
      {
        when: (request) => !ofParent(request) && isChild(request),
        answer: use('exec_command', { cmd: 'touch made/by-child.txt' }),
      },
      { when: (request) => !ofParent(request) && isChild(request), answer: says('Child done.') },
      {
        when: ofParent,
        answer: (exchange) =>
          usesIn('multi_agent_v1', 'wait_agent', { targets: [childOf(exchange.request.text)], timeout_ms: 30_000 })(
            exchange,
          ),
      },
      { when: ofParent, answer: says('All done.') },
    );
    const id = await stage.session('Let another make it.');
    const waking = stage.wake(id);
    await stage.confirm(id, { allowed: true }, 'command_execution');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'All done.' });
    const story = storyOf(await stage.log(id));
    expect(story.filter((line) => line.startsWith('use ')).toSorted()).toEqual([
      'use command_execution by backend',
      'use spawn_agent by backend',
      'use wait by backend',
    ]);
    expect(story).not.toContain('says Child done.');
    expect(await stage.file('made/by-child.txt')).toBe('');
  });
});
