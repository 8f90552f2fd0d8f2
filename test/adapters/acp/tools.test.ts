import { afterEach, describe, expect, it } from 'vitest';
import type { RunToolMeaning } from '../../../src/actors/run/agent-runtime.ts';
import { toolInput, toolMeaning, toolName } from '../../../src/adapters/acp/tool-meaning.ts';
import type { ToolCallFacts } from '../../../src/adapters/acp/tool-meaning.ts';
import type { Step } from '../../fixtures/acp-agents/agent.mjs';
import { acpSetup, answering, textOf, told } from './acp-setup.ts';
import type { AcpSetup } from './acp-setup.ts';

describe('what a tool comes to', () => {
  it.each<[string, ToolCallFacts, RunToolMeaning | undefined]>([
    [
      'a command',
      { kind: 'execute', rawInput: { command: 'npm test', cwd: '/w' } },
      { kind: 'command', command: 'npm test', cwd: '/w' },
    ],
    [
      'a command as words',
      { kind: 'execute', rawInput: { command: ['git', 'commit', '-m', "it's"] } },
      { kind: 'command', command: String.raw`git commit -m 'it'\''s'`, keepsShell: true },
    ],
    [
      'a script of a shell',
      { kind: 'execute', rawInput: { command: ['bash', '-lc', 'a && b'] } },
      { kind: 'command', command: 'a && b', keepsShell: true },
    ],
    [
      'a program and its arguments',
      { kind: 'execute', rawInput: { command: 'git', args: ['log', '-n 1'] } },
      { kind: 'command', command: "git log '-n 1'", keepsShell: true },
    ],
    [
      'a command that is not told',
      { kind: 'execute', title: '`rm -rf x`' },
      { kind: 'unclear', as: 'command', paths: [] },
    ],
    [
      'a command that is called reading',
      { kind: 'read', rawInput: { command: ['cat', '/etc/passwd'] }, locations: [{ path: '/w/a' }] },
      { kind: 'command', command: 'cat /etc/passwd', keepsShell: true },
    ],
    [
      'a command that is called editing',
      { kind: 'edit', rawInput: { command: 'sed -i s/a/b/ x' }, locations: [{ path: '/w/a' }] },
      { kind: 'command', command: 'sed -i s/a/b/ x', keepsShell: true },
    ],
    [
      'an editor whose command is a word',
      { kind: 'edit', rawInput: { command: 'create', path: '/w/a' } },
      { kind: 'write', path: '/w/a' },
    ],
    [
      'an edit',
      {
        kind: 'edit',
        rawInput: { file_path: '/w/a' },
        locations: [{ path: '/w/a' }],
        content: [{ type: 'diff', path: '/w/a' }],
      },
      { kind: 'write', path: '/w/a' },
    ],
    [
      'an edit of two files',
      { kind: 'edit', locations: [{ path: '/w/a' }, { path: '/w/b' }] },
      { kind: 'unclear', as: 'write', paths: ['/w/a', '/w/b'] },
    ],
    [
      'an edit that shows another file than it names',
      { kind: 'edit', locations: [{ path: '/w/a' }], rawInput: { path: '/w/b' } },
      { kind: 'unclear', as: 'write', paths: ['/w/a', '/w/b'] },
    ],
    [
      'a command with variables of its own',
      { kind: 'execute', rawInput: { command: 'ls', env: { LD_PRELOAD: '/w/x.so' } } },
      { kind: 'unclear', as: 'command', paths: [] },
    ],
    [
      'a deletion',
      { kind: 'delete', locations: [{ path: '/w/a' }] },
      { kind: 'unclear', as: 'write', paths: ['/w/a'] },
    ],
    [
      'a move of which only one end is told',
      { kind: 'move', locations: [{ path: '/w/a' }], rawInput: { source: '/w/a', destination: '/etc/profile' } },
      { kind: 'unclear', as: 'write', paths: ['/w/a', '/etc/profile'] },
    ],
    [
      'an edit with its words',
      {
        kind: 'edit',
        locations: [{ path: '/w/a' }],
        rawInput: {
          path: '/w/a',
          old_string: 'a/b',
          new_string: '/etc/x',
          edits: [{ oldText: '~/a', newText: '../b' }],
          replace_all: true,
        },
      },
      { kind: 'write', path: '/w/a' },
    ],
    [
      'an edit with a further address',
      { kind: 'edit', locations: [{ path: '/w/a' }], rawInput: { uri: 'file:///etc/profile' } },
      { kind: 'unclear', as: 'write', paths: ['/w/a', 'file:///etc/profile'] },
    ],
    [
      'an edit with a further place',
      { kind: 'edit', locations: [{ path: '/w/a' }], rawInput: { changes: [{ at: '/etc/profile' }] } },
      { kind: 'unclear', as: 'write', paths: ['/w/a', '/etc/profile'] },
    ],
    [
      'an edit by a patch of this one file',
      {
        kind: 'edit',
        locations: [{ path: '/w/a' }],
        rawInput: { filepath: '/w/a', diff: 'Index: /w/a\n===\n--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-x\n+../y\n' },
      },
      { kind: 'write', path: '/w/a' },
    ],
    [
      'an edit by a patch of another file besides',
      {
        kind: 'edit',
        locations: [{ path: '/w/a' }],
        rawInput: { diff: '--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-x\n+y\n--- /w/b\n+++ /w/b\n@@ -1 +1 @@\n' },
      },
      { kind: 'unclear', as: 'write', paths: ['/w/a'] },
    ],
    [
      'an edit by a patch',
      { kind: 'edit', locations: [{ path: '/w/a' }], rawInput: { patch: '*** Update File: x' } },
      { kind: 'unclear', as: 'write', paths: ['/w/a', '*** Update File: x'] },
    ],
    [
      'an edit that is a text',
      { kind: 'edit', locations: [{ path: '/w/a' }], rawInput: '*** Update File: ../x' },
      { kind: 'unclear', as: 'write', paths: ['/w/a', '*** Update File: ../x'] },
    ],
    [
      'a read with further files',
      { kind: 'read', locations: [{ path: '/w/a' }], rawInput: { files: ['b'] } },
      { kind: 'unclear', as: 'read', paths: ['/w/a', 'b'] },
    ],
    [
      'a search from elsewhere',
      { kind: 'search', rawInput: { query: '/etc/*' } },
      { kind: 'unclear', as: 'read', paths: ['/etc/*'] },
    ],
    [
      'a search for secrets',
      { kind: 'search', rawInput: { glob: '.env' } },
      { kind: 'unclear', as: 'read', paths: [] },
    ],
    ['a read', { kind: 'read', locations: [{ path: '/w/a' }] }, { kind: 'read', path: '/w/a' }],
    ['a read of who knows what', { kind: 'read' }, { kind: 'unclear', as: 'read', paths: [] }],
    [
      'a search',
      { kind: 'search', rawInput: { pattern: String.raw`NOTE:\s` } },
      { kind: 'read', path: '.', reachesBelow: true },
    ],
    [
      'an edit by a long patch whose file is told',
      { kind: 'edit', locations: [{ path: '/w/a' }], rawInput: { changes: { a: { unified_diff: '--- a\n+++ b' } } } },
      { kind: 'unclear', as: 'write', paths: ['/w/a'] },
    ],
    ['a thought', { kind: 'think', rawInput: { thought: 'hm' } }, undefined],
    ['a fetch', { kind: 'fetch', rawInput: { url: 'http://x/' } }, undefined],
    ['anything else', { rawInput: { issue: 1 } }, undefined],
  ])('%s', (_what, facts, means) => {
    expect(toolMeaning(facts)).toEqual(means);
  });

  it.each<[ToolCallFacts, string, unknown]>([
    [{ name: 'Bash', kind: 'execute', title: 'ls', rawInput: { command: 'ls' } }, 'Bash', { command: 'ls' }],
    [{ kind: 'edit', title: 'Edit a', locations: [{ path: '/w/a' }] }, 'edit', { title: 'Edit a', paths: ['/w/a'] }],
    [{ kind: 'other', title: 'search issues' }, 'search issues', { title: 'search issues' }],
    [{}, 'tool', {}],
  ])('%j is called %s', (facts, name, input) => {
    expect([toolName(facts), toolInput(facts)]).toEqual([name, input]);
  });
});

describe('the tools of an agent', () => {
  let setup: AcpSetup;

  afterEach(async () => {
    expect(await setup.left()).toEqual([]);
    await setup.close();
  });

  async function toolsTold(...steps: readonly Step[]): Promise<readonly string[]> {
    setup = await acpSetup();
    const run = setup.start({ model: await setup.scenario(...steps, { say: 'x' }), ...answering() });
    await run.result;
    return told(run.events).filter((each) => !each.startsWith('lifecycle'));
  }

  const call = (more: object): Step => ({
    update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T', kind: 'read', ...more },
  });
  const change = (more: object): Step => ({ update: { sessionUpdate: 'tool_call_update', toolCallId: 't', ...more } });

  it.each<[string, readonly Step[], readonly string[]]>([
    [
      'are told once and end once, however often the agent tells it',
      [
        call({ rawInput: { a: 1 } }),
        call({ status: 'in_progress' }),
        change({ status: 'completed' }),
        change({ status: 'failed' }),
        call({ status: 'pending' }),
      ],
      ['tool requested read', 'tool started', 'tool ended completed', 'assistant text x'],
    ],
    [
      'are told from the change of one that was never told of',
      [change({ title: 'T', status: 'in_progress' }), change({ status: 'failed' })],
      ['tool requested T', 'tool started', 'tool ended failed', 'assistant text x'],
    ],
    [
      'wait for their input until they start',
      [
        call({ status: 'pending', rawInput: {} }),
        change({ rawInput: { path: '/a' }, name: 'Read' }),
        change({ status: 'completed' }),
      ],
      ['tool requested Read', 'tool started', 'tool ended completed', 'assistant text x'],
    ],
    [
      'are told before what is said after them',
      [call({ status: 'pending' })],
      ['tool requested read', 'assistant text x', 'tool ended unknown'],
    ],
    [
      'are passed over where nobody can read what is told of them',
      [
        call({ toolCallId: '' }),
        call({ toolCallId: 7 }),
        { update: { sessionUpdate: 'of_another_age' } },
        { update: { sessionUpdate: 'plan', entries: [] } },
        { update: { sessionUpdate: 'agent_message_chunk', content: 'x' } },
      ],
      ['assistant text x'],
    ],
    [
      'of another session are none of ours',
      [
        { stray: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'stray' } } },
        { stray: { sessionUpdate: 'tool_call', toolCallId: 's', title: 'S', status: 'completed' } },
      ],
      ['assistant text x'],
    ],
  ])('%s', async (_what, steps, expected) => {
    expect(await toolsTold(...steps)).toEqual(expected);
  });

  it('give back their texts, or what they gave besides', async () => {
    setup = await acpSetup();
    const content = [
      { type: 'content', content: { type: 'text', text: 'one' } },
      { type: 'diff', path: '/w/a', newText: 'x' },
      { type: 'terminal', terminalId: 'T' },
    ];
    const run = setup.start({
      model: await setup.scenario(call({ content, rawOutput: { raw: true } }), change({ status: 'completed' }), {
        update: {
          sessionUpdate: 'tool_call',
          toolCallId: 'u',
          title: 'U',
          status: 'completed',
          rawOutput: { raw: true },
        },
      }),
    });
    await run.result;
    const outputs = run.events.flatMap(({ stream, data }) =>
      stream === 'tool' && data.phase === 'ended' ? [data.output] : [],
    );
    expect(outputs).toEqual(['one\n[It changed /w/a.]\n[It ran in the terminal T.]', { raw: true }]);
  });

  it.each<[string, readonly string[], 'allow' | 'deny' | undefined, string, string]>([
    ['is allowed for once', ['allow_always', 'allow_once', 'reject_once'], 'allow', 'option-allow_once', 'completed'],
    ['is denied for once', ['reject_always', 'reject_once', 'allow_once'], 'deny', 'option-reject_once', 'denied'],
    ['is not allowed for good', ['allow_always'], 'allow', 'cancelled', 'denied'],
    ['is not denied for good', ['allow_once', 'reject_always'], 'deny', 'cancelled', 'denied'],
    ['is denied when nobody can be asked', ['allow_once', 'reject_once'], undefined, 'option-reject_once', 'denied'],
    ['is not run when there is nothing to choose from', [], 'allow', 'cancelled', 'denied'],
  ])('one that asks %s', async (_what, ask, decision, chosen, outcome) => {
    setup = await acpSetup();
    const run = setup.start({
      model: await setup.scenario(
        { use: { name: 'Bash', input: { command: 'ls -l' }, kind: 'execute' }, ask },
        { say: 'x' },
      ),
      ...(decision === undefined ? {} : answering(() => decision)),
    });
    expect(textOf(await run.result)).toBe('x');
    const [{ result } = { result: {} }] = setup.answersTo('session/request_permission');
    const { outcome: answer } = result as {
      readonly outcome: { readonly outcome: string; readonly optionId?: string };
    };
    expect(answer.optionId ?? answer.outcome).toBe(chosen);
    expect(told(run.events).findLast((each) => each.startsWith('tool'))).toBe(`tool ended ${outcome}`);
  });

  it('are asked for with what they come to, by the id of their events', async () => {
    setup = await acpSetup();
    const person = answering();
    const run = setup.start({
      model: await setup.scenario({
        use: { name: 'Bash', input: { command: 'ls -l' }, kind: 'execute' },
        ask: ['allow_once'],
      }),
      ...person,
    });
    await run.result;
    expect(person.asked).toMatchObject([
      {
        callId: 'tool-0',
        name: 'Bash',
        input: { command: 'ls -l' },
        means: { kind: 'command', command: 'ls -l', keepsShell: true },
      },
    ]);
  });

  it('that have ended get no permission any more, and those of another session none at all', async () => {
    setup = await acpSetup();
    const person = answering();
    const options = [{ optionId: 'a', name: 'a', kind: 'allow_once' }];
    const ask = (params: object): Step => ({
      request: { method: 'session/request_permission', params: { options, ...params } },
    });
    await setup.run({
      model: await setup.scenario(
        call({ status: 'completed' }),
        ask({ toolCall: { toolCallId: 't' } }),
        ask({ sessionId: 'another', toolCall: { toolCallId: 'v' } }),
      ),
      ...person,
    });
    expect(setup.answersTo('session/request_permission')).toMatchObject([
      { result: { outcome: { outcome: 'cancelled' } } },
      { error: { code: -32602 } },
    ]);
    expect(person.asked).toEqual([]);
  });

  it('one whose input is nested too deeply to be judged is not asked for, and not allowed', async () => {
    setup = await acpSetup();
    let input: object = {};
    for (let depth = 0; depth < 2_000; depth += 1) input = { input };
    let count = 0;
    const run = setup.start({
      model: await setup.scenario({ use: { name: 'x', input }, ask: ['allow_once', 'reject_once'] }, { say: 'x' }),
      requestPermission: () => {
        count += 1;
        return Promise.resolve({ decision: 'allow' });
      },
    });
    expect([textOf(await run.result), count]).toEqual(['x', 0]);
    expect(told(run.events)).toContain('tool ended denied');
  });

  it('are asked for until the turn is over', async () => {
    setup = await acpSetup();
    let signal: AbortSignal | undefined;
    const run = setup.start({
      model: await setup.scenario({ use: { name: 'x', input: {} }, ask: ['allow_once'] }),
      requestPermission: (request) => {
        ({ signal } = request);
        void setup.runtime.abort('run_1');
        return new Promise(() => undefined);
      },
    });
    expect((await run.result).meta?.error?.kind).toBe('aborted');
    expect(signal?.aborted).toBe(true);
  });

  it('one for which nobody could be asked is denied, and the turn goes on', async () => {
    setup = await acpSetup();
    const run = setup.start({
      model: await setup.scenario({ use: { name: 'x', input: {} }, ask: ['allow_once', 'reject_once'] }, { say: 'x' }),
      requestPermission: () => Promise.reject(new Error('the log is full')),
    });
    expect(textOf(await run.result)).toBe('x');
    expect(told(run.events)).toContain('tool ended denied');
  });
});
