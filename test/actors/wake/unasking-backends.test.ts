/** An agent whose permissions nobody would ask about: it is refused before anything runs. */
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { answered, openBackendSetup } from '../../support/backend-setup.ts';
import type { BackendSetup } from '../../support/backend-setup.ts';
import { says, toldRuntime } from '../../support/told-runtime.ts';

let open: BackendSetup | undefined;

afterEach(async () => {
  await open?.setup[Symbol.asyncDispose]();
  open = undefined;
});

const asksNobody = { asksPermission: () => false };
const asksWhereBound = { asksPermission: () => 'where_bound' as const };

async function woken(
  agent: Partial<AgentFrontmatter>,
  prepare: (setup: BackendSetup) => Promise<unknown> = async () => undefined,
  traits: Partial<AgentRuntime> = asksNobody,
): Promise<{ readonly asked: number; readonly result: unknown }> {
  open = await openBackendSetup([() => Promise.resolve(answered('Done.'))], {
    agent,
    traits,
    others: [toldRuntime('other', [says('Else.')])],
  });
  await prepare(open);
  const result = await open.setup.runtime.wake(open.id);
  return { asked: open.backend.asked.length, result };
}

describe('a program that asks nobody', () => {
  it.each<[string, Partial<AgentFrontmatter>]>([
    ['the mode ask', { permission: 'ask' }],
    ['the mode deny', { permission: 'deny' }],
    ['a rule that denies', { permission: { mode: 'preapproved', deny: ['read(keys/**)'] } as never }],
    ['a rule that asks', { permission: { mode: 'preapproved', ask: ['write'] } as never }],
    ['it as a fallback', { provider: 'other', fallbacks: ['told/m'], permission: 'ask' } as never],
  ])('is not run for an agent with %s', async (_what, agent) => {
    const { asked, result } = await woken(agent);
    expect([asked, result]).toMatchObject([
      0,
      {
        outcome: 'failed',
        error: { code: 'BACKEND_NEVER_ASKS', message: expect.stringContaining('"told" asks no person') as string },
      },
    ]);
  });

  it('is not run against the policy', async () => {
    const { asked, result } = await woken({ permission: 'preapproved' }, ({ setup }) =>
      setup.policy.keep('worker', parseRule('deny shell_run(git push)'), { by: 'person' } as never),
    );
    expect([asked, result]).toMatchObject([0, { error: { code: 'BACKEND_NEVER_ASKS' } }]);
  });

  it('is run where all is allowed', async () => {
    expect(await woken({ permission: 'preapproved' })).toMatchObject({
      asked: 1,
      result: { outcome: 'sleep', summary: 'Done.' },
    });
  });
});

describe('a program that asks where it is told that permissions bind it', () => {
  it.each<[boolean, string, Partial<AgentFrontmatter>]>([
    [true, 'the mode ask', { permission: 'ask' }],
    [true, 'a rule that denies', { permission: { mode: 'preapproved', deny: ['read(keys/**)'] } as never }],
    [false, 'nothing that binds it', { permission: 'preapproved' }],
  ])('is told so (%s) for an agent with %s', async (isBound, _what, agent) => {
    expect(await woken(agent, undefined, asksWhereBound)).toMatchObject({ asked: 1, result: { outcome: 'sleep' } });
    expect(open?.backend.asked[0]?.permissionsBind).toBe(isBound);
  });
});
