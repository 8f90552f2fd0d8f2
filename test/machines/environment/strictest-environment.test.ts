import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  HOST_ENVIRONMENT,
  SANDBOXED_ENVIRONMENT,
  environmentFile,
} from '../../../src/machines/environment/environment-definition.ts';
import type { EnvironmentDefinition } from '../../../src/machines/environment/environment-definition.ts';
import { agentWithin, strictestEnvironment } from '../../../src/machines/environment/strictest-environment.ts';
import { anyEnvironment, environment } from './definitions.ts';

const MODES = ['preapproved', 'ask', 'deny'];

/**
 * Whether everything that `bound` forbids is forbidden by `held`, and everything that `held` gives is given by `bound`.
 */
function isWithin(held: EnvironmentDefinition, bound: EnvironmentDefinition): boolean {
  const lower = (
    one: Readonly<Record<string, number | undefined>>,
    other: Readonly<Record<string, number | undefined>>,
  ): boolean => Object.entries(other).every(([name, value]) => value === undefined || (one[name] ?? Infinity) <= value);
  return (
    (bound.sandbox === 'off' || held.sandbox === 'required') &&
    (bound.network === 'open' || held.network === 'disabled') &&
    held.mounts.every(({ path, source, access }) =>
      bound.mounts.some(
        (mount) => mount.path === path && mount.source === source && (access === 'ro' || mount.access === 'rw'),
      ),
    ) &&
    held.vaults.every((name) => bound.vaults.includes(name)) &&
    MODES.indexOf(held.permission.mode) >= MODES.indexOf(bound.permission.mode) &&
    bound.permission.ask.every((rule) => held.permission.ask.includes(rule)) &&
    bound.permission.deny.every((rule) => held.permission.deny.includes(rule)) &&
    lower(held.budget, bound.budget) &&
    lower(held.quota, bound.quota) &&
    held.variables.pass.every((name) => bound.variables.pass.includes(name)) &&
    Object.entries(held.variables.set).every(([name, value]) => bound.variables.set[name] === value) &&
    (bound.evaluation.check === undefined || held.evaluation.check !== undefined) &&
    (bound.evaluation.judge === undefined || held.evaluation.judge !== undefined)
  );
}

describe('several environments that hold at once', () => {
  it('bind as each of them does', () => {
    fc.assert(
      fc.property(anyEnvironment, fc.array(anyEnvironment, { maxLength: 4 }), (own, others) => {
        const merged = strictestEnvironment(own, others);
        expect([own, ...others].every((each) => isWithin(merged, each))).toBe(true);
      }),
    );
  });

  it('are an environment that could have been written, but for how long its check is', () => {
    fc.assert(
      fc.property(anyEnvironment, fc.array(anyEnvironment, { maxLength: 4 }), (own, others) => {
        const { environmentId: _, ...merged } = strictestEnvironment(own, others);
        expect(environmentFile.parse(merged)).toEqual(merged);
      }),
    );
  });

  it('are the same in any order, but for the judge', () => {
    const withoutJudge = ({ evaluation: { judge: _, ...evaluation }, ...rest }: EnvironmentDefinition): object => ({
      ...rest,
      evaluation,
    });
    fc.assert(
      fc.property(anyEnvironment, fc.array(anyEnvironment, { maxLength: 4 }), (own, others) => {
        expect(withoutJudge(strictestEnvironment(own, others))).toEqual(
          withoutJudge(strictestEnvironment(own, others.toReversed())),
        );
      }),
    );
  });

  it('change nothing about one that is bound by itself', () => {
    fc.assert(
      fc.property(anyEnvironment, (own) => {
        expect(strictestEnvironment(own, [own, own])).toEqual(own);
      }),
    );
  });

  it('keep the name and the description of the one that the session works in', () => {
    expect(strictestEnvironment({ ...HOST_ENVIRONMENT, environmentId: 'mine' }, [SANDBOXED_ENVIRONMENT])).toMatchObject(
      { environmentId: 'mine', description: HOST_ENVIRONMENT.description, sandbox: 'required', network: 'disabled' },
    );
  });

  it('ask the judge of the last one, for whom everything else is done', () => {
    const judged = (id: string): EnvironmentDefinition =>
      environment(id, { evaluation: { judge: { provider: id, model: 'm' } } });
    expect(
      strictestEnvironment(judged('own'), [judged('caller'), judged('first'), environment('silent')]).evaluation.judge
        ?.provider,
    ).toBe('first');
  });
});

describe('the checks of several environments', () => {
  const checked = (id: string, command: string, timeoutSeconds = 5): EnvironmentDefinition =>
    environment(id, { evaluation: { check: { command, timeoutSeconds } } });
  const exitCode = (...commands: readonly string[]): number => {
    const [own, ...others] = commands.map((command, index) => checked(`e${index}`, command));
    const check = own === undefined ? undefined : strictestEnvironment(own, others).evaluation.check;
    try {
      execFileSync('/bin/sh', ['-c', check?.command ?? 'exit 99'], { stdio: 'ignore' });
      return 0;
    } catch (error) {
      return (error as { readonly status: number }).status;
    }
  };

  it.each<[readonly string[], boolean]>([
    [['true', 'true'], true],
    [['true', 'false'], false],
    [['false', 'true'], false],
    [['exit 0', 'false'], false],
    [['true # a comment', 'false'], false],
    [["test 'it''s' = its", 'test "a\'b" = "a\'b"'], true],
    [['true) || (true', 'true'], false],
    [["' || true '", 'true'], false],
    [['true || ', 'false'], false],
  ])('%j hold together: %s', (commands, hold) => {
    expect(exitCode(...commands) === 0).toBe(hold);
  });

  it('share the time that all of them may take, an hour at most, and are run once each', () => {
    expect(
      strictestEnvironment(checked('a', 'x', 30), [checked('b', 'y', 20), checked('c', 'x', 10)]).evaluation.check
        ?.timeoutSeconds,
    ).toBe(30);
    expect(
      strictestEnvironment(checked('a', 'x', 3_000), [checked('b', 'y', 3_000)]).evaluation.check?.timeoutSeconds,
    ).toBe(3_600);
    expect(strictestEnvironment(checked('a', 'x', 30), [checked('b', 'x', 20)]).evaluation.check).toEqual({
      command: 'x',
      timeoutSeconds: 20,
    });
  });
});

describe('an agent in an environment', () => {
  const agent = {
    permission: { mode: 'preapproved' as const, allow: ['read'], ask: ['write'], deny: [] },
    budget: { maxTokensPerWake: 100, maxIdenticalCalls: 3 },
  };

  it('has the stricter mode, the rules of both and the lower bounds', () => {
    const { permission, budget } = environment('strict', {
      permission: { mode: 'ask', ask: ['write', 'edit'], deny: ['shell_run(rm)'] },
      budget: { maxTokensPerWake: 50, maxCostPerWake: 2 },
    });
    expect(agentWithin(agent, { permission, budget })).toEqual({
      permission: { mode: 'ask', allow: ['read'], ask: ['write', 'edit'], deny: ['shell_run(rm)'] },
      budget: { maxTokensPerWake: 50, maxIdenticalCalls: 3, maxCostPerWake: 2 },
    });
  });

  it('keeps what is stricter of its own', () => {
    const { permission, budget } = environment('loose', { budget: { maxTokensPerWake: 500 } });
    expect(
      agentWithin({ ...agent, permission: { ...agent.permission, mode: 'deny' } }, { permission, budget }),
    ).toMatchObject({ permission: { mode: 'deny' }, budget: { maxTokensPerWake: 100 } });
  });
});
