/** What keeps a machine from waking a session that other machines can wake. */
import { expect, it } from 'vitest';
import { lackedHere } from '../../../src/actors/workspace-copy/lacked-here.ts';
import type { CopyBoundsPorts } from '../../../src/actors/workspace-copy/copy-bounds.ts';
import { environmentNames } from '../../../src/actors/environment/environment-names.ts';
import { HOST_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import { agentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';

function refused(code: string): Promise<never> {
  return Promise.reject(new RuntimeError(code, 'so it is', { category: 'not_found' }));
}

/**
 * A home with the agent `coder`, who works in `lab`, and `broken`, whose file is wrong; and with these environments.
 */
function home(...environments: readonly string[]): CopyBoundsPorts {
  const definition = {
    ...agentFrontmatter.parse({ name: 'coder', provider: 'p', model: 'm', environment: 'lab' }),
    agentId: 'coder',
    instructions: 'Work.',
  };
  const catalog: CopyBoundsPorts['catalog'] = {
    get: async (environmentId) =>
      environments.includes(environmentId) ? { ...HOST_ENVIRONMENT, environmentId } : refused('ENVIRONMENT_NOT_FOUND'),
  };
  return {
    agents: {
      get: async (agentId) =>
        agentId === 'coder' ? definition : refused(agentId === 'broken' ? 'AGENT_INVALID' : 'AGENT_NOT_FOUND'),
    },
    environments: environmentNames({ catalog }),
    catalog,
  };
}

it.each([
  ['its agent', { agentId: 'absent' }, { what: 'agent', id: 'absent' }],
  ['the environment of its agent', { agentId: 'coder' }, { what: 'environment', id: 'lab' }],
  [
    'an environment of its parent',
    {
      agentId: 'coder',
      environmentId: 'host',
      restriction: { mode: 'ask' as const, deny: [], ask: [], environments: ['shut'] },
    },
    { what: 'environment', id: 'shut' },
  ],
  ['nothing', { agentId: 'coder', environmentId: 'host' }, undefined],
  ['nothing, as far as can be told: the wake says what is wrong with the file', { agentId: 'broken' }, undefined],
])('is that it lacks %s', async (_what, session, lacks) => {
  expect(await lackedHere(home('host'))(session)).toEqual(lacks);
});
