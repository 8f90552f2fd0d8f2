/**
 * From what an agent file names to what a model may call: what is not there is left out with the reason, and holds
 * nobody up.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTools, loadAgent, mapAgentTool } from '../../../src/actors/turn/agent-tools.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import type { ToolServerRequest, ToolSource } from '../../../src/actors/turn/tool-source.ts';
import { FileAgentCatalog } from '../../../src/adapters/agents/file-agent-catalog.ts';
import { agentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import type { AgentDefinition, AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { describeTool, readToolInput } from '../../../src/machines/turn/tool-schema.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { noteTools } from '../../support/turn-tools.ts';

const { tool } = noteTools();
let home: TemporaryHome;
let agents: FileAgentCatalog;

beforeAll(async () => {
  home = await temporaryHome();
  agents = new FileAgentCatalog({ agentsDirectory: join(home.path, 'agents') });
  await agents.create({
    agentId: 'helper',
    source: {
      frontmatter: { name: 'Helper', description: 'Helps.', model: 'm', provider: 'p' },
      instructions: 'Help.',
    },
  });
});
afterAll(() => home.remove());

function agentOf(changes: Partial<AgentFrontmatter>): AgentDefinition {
  return {
    agentId: 'worker',
    instructions: 'Work.',
    ...agentFrontmatter.parse({ name: 'Worker', model: 'm', provider: 'p', ...changes }),
  };
}

/** A source of tools whose servers are these; others are not to be had. */
function sourceOf(
  servers: Readonly<Record<string, readonly Tool[]>>,
): ToolSource & { readonly requests: ToolServerRequest[] } {
  const requests: ToolServerRequest[] = [];
  return {
    requests,
    async toolsOf(request) {
      requests.push(request);
      const tools = servers[request.name];
      if (tools === undefined) throw new Error(`the server ${request.name} does not answer`);
      return tools;
    },
    close: async () => undefined,
  };
}

const box = (changes: Partial<Parameters<typeof buildTools>[1]> = {}): Parameters<typeof buildTools>[1] => ({
  tools: [tool('check'), tool('write')],
  agents,
  agentDirectory: '/agents/worker',
  signal: new AbortController().signal,
  ...changes,
});
const names = ({ tools }: Awaited<ReturnType<typeof buildTools>>): string[] => [...tools.keys()];
const mcp = { docs: { command: 'docs-server' }, web: { url: 'https://example.org/mcp' } } as const;

describe('the tools of an agent', () => {
  it('are all that the program brings, when its file names none', async () => {
    expect(names(await buildTools(agentOf({}), box()))).toEqual(['check', 'write']);
  });

  it('are those that its file names, in that order, and no others', async () => {
    expect(names(await buildTools(agentOf({ tools: ['write'] }), box()))).toEqual(['write']);
    expect(names(await buildTools(agentOf({ tools: [] }), box()))).toEqual([]);
  });

  it('are none when it may not run any', async () => {
    expect(names(await buildTools(agentOf({ permission: 'deny', tools: ['check'] }), box()))).toEqual([]);
  });

  it('that are not there are left out one by one, each with its reason', async () => {
    const broken: Tool = { ...tool('broken'), unavailable: () => Promise.reject(new Error('no idea')) };
    const off: Tool = { ...tool('off'), unavailable: async () => 'git is not installed' };
    const built = await buildTools(
      agentOf({
        tools: ['check', 'missing', 'off', 'broken', { agent: 'nobody' }, { mcp: 'docs' }, { mcp: 'unnamed' }, 'write'],
        mcp,
      }),
      box({ tools: [tool('check'), tool('write'), off, broken], source: sourceOf({}) }),
    );
    expect(names(built)).toEqual(['check', 'write']);
    expect(built.skipped.map(({ name }) => name)).toEqual(['missing', 'off', 'broken', 'nobody', 'docs', 'unnamed']);
    const reasons = built.skipped.map(({ reason }) => reason);
    for (const [index, part] of [
      'no tool of this name',
      'git is not installed',
      'no idea',
      'nobody',
      'does not answer',
      'names no MCP server',
    ].entries())
      expect(reasons[index]).toContain(part);
  });

  it('of the same name are offered once: the first that the file names', async () => {
    const first = tool('docs__search');
    const built = await buildTools(
      agentOf({ tools: ['docs__search', { mcp: 'docs' }], mcp }),
      box({ tools: [first], source: sourceOf({ docs: [tool('docs__search')] }) }),
    );
    expect(built.tools.get('docs__search')).toBe(first);
    expect(built.skipped).toEqual([{ name: 'docs__search', reason: 'another tool has the same name' }]);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty'])(
    'are not found under %s, which every object has',
    async (name) => {
      const built = await buildTools(
        { ...agentOf({}), tools: [{ type: 'mcp', name, server: name, tools: undefined }] },
        box({ source: sourceOf({}) }),
      );
      expect(names(built)).toEqual([]);
      expect(built.skipped[0]?.reason).toContain('names no MCP server');
      expect(built.tools.get(name)).toBeUndefined();
    },
  );
});

describe('tools of an MCP server', () => {
  const source = sourceOf({ docs: [tool('docs__search'), tool('docs__read')] });

  it('are all of them, or those that are listed; what the server does not have is said', async () => {
    expect(names(await buildTools(agentOf({ tools: [{ mcp: 'docs' }], mcp }), box({ source })))).toEqual([
      'docs__search',
      'docs__read',
    ]);
    const some = await buildTools(
      agentOf({ tools: [{ mcp: 'docs', tools: ['read', 'delete'] }], mcp }),
      box({ source }),
    );
    expect(names(some)).toEqual(['docs__read']);
    expect(some.skipped).toEqual([{ name: 'docs__delete', reason: 'the server "docs" has no tool of this name' }]);
  });

  it('are those for its resources too where the file says so; that it has none is said', async () => {
    const attachment = { mcp: 'docs', tools: ['search'], resources: true };
    const resourceful = sourceOf({
      docs: ['search', 'list_resources', 'read_resource'].map((n) => tool(`docs__${n}`)),
    });
    const built = await buildTools(agentOf({ tools: [attachment], mcp }), box({ source: resourceful }));
    expect(names(built)).toEqual(['docs__search', 'docs__list_resources', 'docs__read_resource']);
    expect(resourceful.requests).toMatchObject([{ tools: ['search'], resources: true }]);
    const without = await buildTools(agentOf({ tools: [{ mcp: 'docs', resources: true }], mcp }), box({ source }));
    expect(names(without)).toEqual(['docs__search', 'docs__read']);
    expect(without.skipped).toEqual(
      ['docs__list_resources', 'docs__read_resource'].map((name) => ({
        name,
        reason: 'the server "docs" has no resources',
      })),
    );
  });

  it('are asked for with what the file says of the server, and with the signal that ends the wait', async () => {
    const { signal } = new AbortController();
    await buildTools(agentOf({ tools: [{ mcp: 'docs' }], mcp }), box({ source, signal }));
    expect(source.requests.at(-1)).toMatchObject({ agentId: 'worker', agentDirectory: '/agents/worker', name: 'docs' });
    expect(source.requests.at(-1)?.signal).toBe(signal);
  });

  it('are left out where the runtime connects to none', async () => {
    expect((await buildTools(agentOf({ tools: [{ mcp: 'docs' }], mcp }), box())).skipped).toMatchObject([
      { name: 'docs', reason: expect.stringContaining('connects to no MCP servers') },
    ]);
  });
});

describe('another agent as a tool', () => {
  it('takes a message, and says whom to tell', async () => {
    const [helper] = await mapAgentTool(
      { type: 'agent', name: 'helper', agentId: 'helper', description: undefined },
      agentOf({}),
      box(),
    );
    expect(helper?.definition).toMatchObject({ name: 'helper', readOnly: true, permissionPolicy: 'always_allow' });
    expect(helper?.definition.description).toContain('Helps.');
    expect(helper?.run).toBeUndefined();
    expect(helper?.subflow?.({ message: 'Do it.' })).toEqual({ agentId: 'helper', message: 'Do it.' });
    expect(helper === undefined ? undefined : readToolInput(helper.definition, { message: 'x', more: 1 }).ok).toBe(
      false,
    );
  });

  it.each([{ message: '' }, {}, { message: 7 }, null, 'x'])('takes nothing else: %j', async (input) => {
    const [helper] = await mapAgentTool(
      { type: 'agent', name: 'helper', agentId: 'helper', description: 'd' },
      agentOf({}),
      box(),
    );
    expect(helper === undefined ? undefined : readToolInput(helper.definition, input).ok).toBe(false);
  });
});

describe('a tool that somebody outside runs', () => {
  it('is described to the model by the schema of its file, and checked by it', async () => {
    const input = {
      type: 'object',
      properties: { to: { type: 'string', enum: ['test', 'production'] } },
      required: ['to'],
      additionalProperties: false,
    } as const;
    const [deploy] = await mapAgentTool(
      { type: 'custom', name: 'deploy', description: 'Deploys.', input },
      agentOf({}),
      box(),
    );
    if (deploy === undefined) throw new Error('there is no tool');
    expect(describeTool(deploy.definition)).toEqual({ name: 'deploy', description: 'Deploys.', inputSchema: input });
    expect(
      [{ to: 'test' }, { to: 'nowhere' }, {}, { to: 'test', more: 1 }].map(
        (each) => readToolInput(deploy.definition, each).ok,
      ),
    ).toEqual([true, false, false, false]);
    expect(deploy.definition).toMatchObject({ ownership: 'custom', permissionPolicy: 'always_allow', readOnly: false });
  });

  it('runs no pattern of its file over what a model sends: some would take for ever', async () => {
    const input = {
      type: 'object',
      properties: { to: { type: 'string', pattern: String.raw`^(\w+\s?)*$` }, count: { type: 'integer' } },
    } as const;
    const [deploy] = await mapAgentTool(
      { type: 'custom', name: 'deploy', description: 'Deploys.', input },
      agentOf({}),
      box(),
    );
    if (deploy === undefined) throw new Error('there is no tool');
    // With the pattern these 40 letters would take a day.
    expect(
      [{ to: `${'a'.repeat(40)}!` }, { to: 7 }, { to: 'x', count: 'many' }].map(
        (each) => readToolInput(deploy.definition, each).ok,
      ),
    ).toEqual([true, false, false]);
    expect(describeTool(deploy.definition).inputSchema).toEqual(input);
  });

  it('takes any object where its file says nothing', async () => {
    const [deploy] = await mapAgentTool(
      { type: 'custom', name: 'deploy', description: 'Deploys.' },
      agentOf({}),
      box(),
    );
    if (deploy === undefined) throw new Error('there is no tool');
    expect([{}, { a: [1] }, [], 'x', null].map((each) => readToolInput(deploy.definition, each).ok)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('an agent', () => {
  it('that is not there is an error that says so', async () => {
    expect(await codeOf(loadAgent('nobody', agents))).toBe('AGENT_NOT_FOUND');
  });
});
