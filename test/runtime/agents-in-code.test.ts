import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgentRuntime, defineAgent, defineTool } from '../../src/index.ts';
import type { AgentOptions } from '../../src/index.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime, NodeRuntimeOptions } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let home: TemporaryHome;
const opened: NodeRuntime[] = [];
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((runtime) => runtime.shutdown()));
  await home.remove();
});

/** Calls the tool `deploy`, when it has one, and then says its instructions and what tools it had. */
const parrot = createAgentRuntime({
  id: 'parrot',
  answer: async ({ instructions = '', tools = [], modelStepsTaken }, voice) => {
    const names = tools.map(({ name }) => name).toSorted();
    if (modelStepsTaken === 0 && names.includes('deploy'))
      voice.call({ callId: 'call_1', name: 'deploy', input: { build: 'b7' } });
    else voice.say(`${instructions.split('\n')[0] ?? ''} [${names.join(', ')}]`);
    return { meta: { modelSteps: 1 } };
  },
});

const open = async (options: NodeRuntimeOptions): Promise<NodeRuntime> => {
  const runtime = await createNodeRuntime({ home: home.path, backends: [parrot], ...options });
  opened.push(runtime);
  return runtime;
};

const deployed: string[] = [];
const deploy = defineTool({
  name: 'deploy',
  input: z.object({ build: z.string() }),
  run: ({ build }) => {
    deployed.push(build);
    return { url: `https://test/${build}` };
  },
});

const reviewer = (more: Partial<AgentOptions> = {}): ReturnType<typeof defineAgent> =>
  defineAgent({ id: 'reviewer', model: 'parrot/loud', instructions: 'I review.', tools: [deploy], ...more });

async function woken(runtime: NodeRuntime, sessionId: string): Promise<string> {
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
  return (await runtime.wake(sessionId)).summary;
}

describe('agents in code', () => {
  it('work with the tools that they bring, and nothing of them is stored', async () => {
    const runtime = await open({ agents: [reviewer()] });
    const { sessionId } = await runtime.sessions.create({ agentId: 'reviewer' });
    expect(await woken(runtime, sessionId)).toBe('I review. [deploy]');
    expect(deployed.splice(0)).toEqual(['b7']);
    expect(await runtime.agents.list()).toMatchObject([{ agentId: 'reviewer', definition: { provider: 'parrot' } }]);
    expect(await readdir(join(home.path, 'agents/reviewer'))).not.toContain('agent.md');
  });

  it('are what the code says now', async () => {
    const first = await open({ agents: [reviewer()] });
    const { sessionId } = await first.sessions.create({ agentId: 'reviewer' });
    await first.shutdown();
    const second = await open({ agents: [reviewer({ instructions: 'I review twice.', tools: [] })] });
    expect(await woken(second, sessionId)).toBe('I review twice. []');
  });

  it('keep their tools for themselves; tools of the runtime are for all', async () => {
    const other = defineAgent({ id: 'other', model: 'parrot/loud', instructions: 'I have what all have.' });
    const named = defineAgent({ id: 'named', model: 'parrot/loud', instructions: 'I want it.', tools: ['deploy'] });
    const clock = defineTool({ name: 'clock', input: z.object({}), run: () => 'noon' });
    const runtime = await open({ agents: [reviewer(), other, named], tools: [clock] });
    const said = async (agentId: string): Promise<string> =>
      woken(runtime, (await runtime.sessions.create({ agentId })).sessionId);
    expect(await said('other')).toMatch(/^I have what all have\. \[.*\bclock\b.*\]$/);
    expect(await said('other')).not.toContain('deploy');
    expect(await said('named')).toBe('I want it. []');
  });

  it('may bring different tools of one name', async () => {
    const louder = defineTool({ name: 'deploy', input: z.object({ build: z.string() }), run: () => 'LOUD' });
    const runtime = await open({ agents: [reviewer(), reviewer({ id: 'louder', tools: [louder] })] });
    const { sessionId } = await runtime.sessions.create({ agentId: 'louder' });
    await woken(runtime, sessionId);
    expect(deployed).toEqual([]);
    const results = [];
    for await (const { type, data } of runtime.sessions.events(sessionId))
      if (type === 'agent.tool_result') results.push(data);
    expect(results).toMatchObject([{ output: 'LOUD' }]);
  });

  it('are not found by a process that is not given them, which says how it would be', async () => {
    const runtime = await open({});
    await expect(runtime.sessions.create({ agentId: 'reviewer' })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      hint: expect.stringContaining('wakechart.config') as unknown,
    });
  });
});

describe('environments in code', () => {
  const tight = { sandbox: 'off', permission: { mode: 'deny' } } as const;

  it('bind the agents that name them', async () => {
    const runtime = await open({ agents: [reviewer({ environment: 'tight' })], environments: { tight } });
    const { sessionId } = await runtime.sessions.create({ agentId: 'reviewer' });
    expect(await woken(runtime, sessionId)).toBe('I review. []');
    expect((await runtime.environments.list()).map(({ environmentId }) => environmentId)).toContain('tight');
  });

  it('are refused with what is wrong, and when there is a file of that name', async () => {
    await expect(open({ environments: { tight: { ...tight, netwrk: 'open' } as never } })).rejects.toThrow(
      'environment "tight" in code is not valid: netwrk: unknown key; did you mean "network"?',
    );
    const runtime = await open({ agents: [reviewer({ environment: 'tight' })], environments: { tight } });
    await mkdir(join(home.path, 'environments'));
    await writeFile(join(home.path, 'environments/tight.yaml'), 'sandbox: off\n', { mode: 0o600 });
    await expect(runtime.environments.get('tight')).rejects.toMatchObject({ code: 'ENVIRONMENT_DEFINED_TWICE' });
    expect((await runtime.environments.list()).find(({ environmentId }) => environmentId === 'tight')).toMatchObject({
      error: { code: 'ENVIRONMENT_DEFINED_TWICE' },
    });
    await expect(runtime.environments.create('tight', 'sandbox: off\n')).rejects.toMatchObject({
      code: 'ENVIRONMENT_DEFINED_TWICE',
    });
  });
});

describe('the log says under which definition each wake ran', () => {
  async function marks(runtime: NodeRuntime, sessionId: string): Promise<unknown[]> {
    const found: unknown[] = [];
    for await (const { type, data } of runtime.sessions.events(sessionId))
      if (type === 'wake.started') found.push(data.definition);
    return found;
  }

  it('of before a program was changed, and of after', async () => {
    const first = await open({ agents: [reviewer({ version: '1.0.0' })] });
    const { sessionId } = await first.sessions.create({ agentId: 'reviewer' });
    await woken(first, sessionId);
    await woken(first, sessionId);
    await first.shutdown();
    const second = await open({ agents: [reviewer({ version: '2.0.0', instructions: 'I review twice.' })] });
    expect(await woken(second, sessionId)).toBe('I review twice. [deploy]');
    const [one, again, two] = await marks(second, sessionId);
    expect(one).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{12}$/) as unknown, version: '1.0.0' });
    expect(again).toEqual(one);
    expect(two).toMatchObject({ version: '2.0.0' });
    expect(two).not.toMatchObject({ hash: (one as { readonly hash: string }).hash });
    expect((await second.sessions.status(sessionId)).lastWake?.definition).toEqual(two);
  });

  it('in both of two programs over one home, each with its own', async () => {
    const one = await open({ agents: [reviewer({ version: 'one' })] });
    const two = await open({ agents: [reviewer({ version: 'two', instructions: 'I am the other one.' })] });
    const { sessionId } = await one.sessions.create({ agentId: 'reviewer' });
    await woken(one, sessionId);
    expect(await woken(two, sessionId)).toBe('I am the other one. [deploy]');
    expect(await woken(one, sessionId)).toBe('I review. [deploy]');
    expect(await marks(two, sessionId)).toMatchObject([{ version: 'one' }, { version: 'two' }, { version: 'one' }]);
  });

  it('which is another one with other input of its tool, and the same one with another label alone', async () => {
    const hashOf = async (agent: ReturnType<typeof reviewer>): Promise<unknown> => {
      const runtime = await open({ agents: [agent] });
      const { sessionId } = await runtime.sessions.create({ agentId: 'reviewer' });
      await woken(runtime, sessionId);
      const [mark] = await marks(runtime, sessionId);
      return (mark as { readonly hash: string }).hash;
    };
    const wider = defineTool({ name: 'deploy', input: z.object({ build: z.string(), to: z.string() }), run: () => 1 });
    const hash = await hashOf(reviewer());
    expect(await hashOf(reviewer({ version: '9' }))).toBe(hash);
    expect(await hashOf(reviewer({ tools: [wider] }))).not.toBe(hash);
  });

  it('of a file, too', async () => {
    const runtime = await open({});
    const source = { frontmatter: { name: 'F', provider: 'parrot', model: 'm', version: '7' }, instructions: 'Say.' };
    await runtime.agents.create({ agentId: 'filed', source });
    const { sessionId } = await runtime.sessions.create({ agentId: 'filed' });
    await woken(runtime, sessionId);
    expect(await marks(runtime, sessionId)).toMatchObject([{ version: '7' }]);
  });
});

describe('a runtime refuses', () => {
  const file = '---\nname: Old\nprovider: script\nmodel: a.json\n---\n\nOld.\n';
  const keepFile = async (text: string): Promise<void> => {
    await mkdir(join(home.path, 'agents/reviewer'), { recursive: true });
    await writeFile(join(home.path, 'agents/reviewer/agent.md'), text);
  };

  it.each([
    ['can be read', file],
    ['cannot be read', '?'],
  ])('an agent in code whose file %s', async (_what, text) => {
    await keepFile(text);
    await expect(open({ agents: [reviewer()] })).rejects.toMatchObject({
      code: 'AGENT_DEFINED_TWICE',
      message: 'the agent "reviewer" is defined in code and by a file of the home',
      hint: expect.stringContaining('agents/reviewer/agent.md') as unknown,
    });
  });

  it('to store an agent that is in code', async () => {
    const runtime = await open({ agents: [reviewer()] });
    await expect(runtime.agents.create({ agentId: 'reviewer', source: file })).rejects.toMatchObject({
      code: 'AGENT_DEFINED_TWICE',
    });
  });

  it('an agent in code that another one runs in a process, which would not know it', async () => {
    const lead = defineAgent({
      id: 'lead',
      model: 'parrot/loud',
      instructions: 'I ask.',
      tools: [{ agent: 'reviewer', run: 'process' }],
    });
    await expect(open({ agents: [lead, reviewer()] })).rejects.toMatchObject({
      code: 'RUNTIME_OPTIONS_INVALID',
      message: expect.stringContaining('the agent "lead" runs the agent "reviewer" in a process of its own') as unknown,
      hint: expect.stringContaining('createNodeRuntime({ config })') as unknown,
    });
    expect(await (await open({ agents: [lead] })).agents.list()).toHaveLength(1);
  });

  it('two agents of one id; the same one twice is one', async () => {
    await expect(open({ agents: [reviewer(), reviewer()] })).rejects.toMatchObject({ code: 'AGENT_DEFINED_TWICE' });
    const one = reviewer();
    expect(await (await open({ agents: [one, one] })).agents.list()).toHaveLength(1);
  });

  it('a tool of an agent that has the name of another one', async () => {
    const read = defineTool({ name: 'read', input: z.object({}), run: () => 'mine' });
    await expect(open({ agents: [reviewer({ tools: [read] })] })).rejects.toMatchObject({
      code: 'TOOL_EXISTS',
      message: 'the agent "reviewer" brings a tool "read", and there is one',
    });
    await expect(open({ agents: [reviewer()], tools: [deploy] })).resolves.toBeDefined();
  });

  it.each<[string, object, string]>([
    ['an agent that was not defined', { agents: [{ id: 'reviewer' }] }, 'agents[0]: expected an agent as defineAgent('],
    [
      'a tool that was not defined',
      { tools: [{ name: 'deploy', run: () => 1 }] },
      'tool "deploy" is not valid: definition: ',
    ],
    ['a tool without a name', { tools: [deploy, 7] }, 'tools[1] is not valid: '],
    ['the option of another time', { runtimes: [] }, 'unknown options: runtimes; '],
  ])('%s', async (_what, options, message) => {
    await expect(open(options)).rejects.toThrow(message);
  });
});
