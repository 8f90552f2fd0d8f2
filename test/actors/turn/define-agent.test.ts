import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.ts';
import type { AgentOptions } from '../../../src/index.ts';
import { parseAgentFile } from '../../../src/adapters/agents/agent-file.ts';

const deploy = defineTool({ name: 'deploy', input: z.object({ build: z.string() }), run: ({ build }) => build });
const least = { id: 'reviewer', model: 'anthropic/claude-sonnet-4-5', instructions: 'You review changes.' };

const wrong = (options: object): unknown => {
  try {
    return defineAgent(options as AgentOptions);
  } catch (error) {
    return error;
  }
};

describe('an agent in code', () => {
  it('is what a file of the same words says', () => {
    const { definition } = defineAgent({
      ...least,
      name: 'Reviewer',
      version: '1.4.0',
      tools: ['read', { agent: 'fixer', run: 'process' }],
      permission: { mode: 'ask', allow: ['shell_run(npm test)'] },
      budget: { maxCostPerSession: 2 },
      fallbacks: ['openai/gpt-5'],
    });
    const source = `---
name: Reviewer
version: 1.4.0
provider: anthropic
model: claude-sonnet-4-5
tools: [read, { agent: fixer, run: process }]
permission: { mode: ask, allow: ["shell_run(npm test)"] }
budget: { maxCostPerSession: 2 }
fallbacks: [openai/gpt-5]
---

You review changes.
`;
    expect(definition).toEqual(parseAgentFile({ agentId: 'reviewer', source, fileName: 'agent.md' }));
  });

  it('needs an id, a model and instructions', () => {
    expect(defineAgent(least).definition).toMatchObject({
      agentId: 'reviewer',
      name: 'reviewer',
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      permission: { mode: 'preapproved' },
    });
  });

  it('may name its provider beside a model with a slash in it', () => {
    expect(defineAgent({ ...least, provider: 'openrouter', model: 'meta/llama' }).definition).toMatchObject({
      provider: 'openrouter',
      model: 'meta/llama',
    });
  });

  it('brings the tools that it is given, and names them', () => {
    const agent = defineAgent({ ...least, tools: ['read', deploy] });
    expect(agent.tools).toEqual([deploy]);
    expect(agent.definition.tools).toEqual([
      { type: 'builtin', name: 'read' },
      { type: 'builtin', name: 'deploy' },
    ]);
  });

  it.each<[string, object, string, string]>([
    [
      'with a misspelt key',
      { ...least, budjet: {} },
      'AGENT_INVALID',
      'agent "reviewer" is not valid: budjet: unknown key; did you mean "budget"?',
    ],
    ['with a misspelt key of its own', { ...least, instruction: 'x' }, 'AGENT_INVALID', 'did you mean "instructions"?'],
    [
      'with a misspelt bound',
      { ...least, budget: { maxCostPerSesion: 1 } },
      'AGENT_INVALID',
      'budget.maxCostPerSesion: unknown key; did you mean "maxCostPerSession"?',
    ],
    [
      'without a provider',
      { ...least, model: 'gpt-5' },
      'AGENT_INVALID',
      'agent "reviewer" is not valid: model: expected provider/model, such as openai/gpt-5-mini, received "gpt-5"',
    ],
    [
      'without instructions',
      { id: 'reviewer', model: 'a/b' },
      'AGENT_INVALID',
      'agent "reviewer" is not valid: instructions: ',
    ],
    ['without an id', { model: 'a/b', instructions: '' }, 'AGENT_INVALID', 'an agent in code is not valid: id: '],
    ['that is none', { ...least, id: 'Not A Name' }, 'AGENT_INVALID', 'agent "Not A Name" is not valid: id: '],
    [
      'with one tool twice',
      { ...least, tools: [deploy, 'deploy'] },
      'AGENT_INVALID',
      'tools[1]: expected each tool once',
    ],
    [
      'with two tools of one name',
      { ...least, tools: [deploy, { ...deploy }] },
      'TOOL_EXISTS',
      'there are two tools "deploy"',
    ],
    [
      'with half a tool',
      { ...least, tools: [{ definition: { name: 'deploy' } }] },
      'TOOL_INVALID',
      'tool "deploy" is not valid: definition.',
    ],
    [
      'with a tool that defineTool has not made',
      { ...least, tools: [{ name: 'note', input: z.object({}), run: () => 1 }] },
      'AGENT_INVALID',
      'agent "reviewer" is not valid: tools[0]: expected a tool as defineTool makes it',
    ],
    [
      'with the name of a tool as a key',
      { ...least, tools: ['read', { name: 'x' }] },
      'AGENT_INVALID',
      'tools[1]: expected a tool as defineTool makes it',
    ],
    [
      'with a misspelt agent',
      { ...least, tools: [{ agnt: 'x' }] },
      'AGENT_INVALID',
      'tools[0].agnt: unknown key; did you mean "agent"?',
    ],
    [
      'with a function for a mode',
      { ...least, permission: () => true },
      'AGENT_INVALID',
      'permission: expected one of "preapproved"|"ask"|"deny", received a function',
    ],
    ['with what is no tool', { ...least, tools: ['read', 7] }, 'AGENT_INVALID', 'tools[1]: '],
    ['with tools that are no list', { ...least, tools: 'read' }, 'AGENT_INVALID', 'tools: '],
  ])('is refused %s', (_what, options, code, message) => {
    expect(wrong(options)).toMatchObject({ code, message: expect.stringContaining(message) as unknown });
  });

  it.each([undefined, null, 'reviewer', []])('is refused as %j', (options) => {
    expect(wrong(options as never)).toMatchObject({ code: 'AGENT_INVALID' });
  });
});
