import { describe, expect, it } from 'vitest';
import { claudeDialect } from '../../../src/adapters/cli-agent/claude-dialect.ts';
import { codexDialect } from '../../../src/adapters/cli-agent/codex-dialect.ts';
import { programEnvironment } from '../../../src/adapters/cli-agent/program-environment.ts';

describe('the environment of a program', () => {
  const host = {
    PATH: '/usr/bin:relative:/space/bin',
    HOME: '/srv/me',
    CLAUDECODE: '1',
    WAKECHART_HOME: '/w',
    AWS_SECRET: 'aws-secret-value',
    ANTHROPIC_API_KEY: 'the-owners-key',
    OTHER: 'o',
  };
  const of = (more: Partial<Parameters<typeof programEnvironment>[0]>) =>
    programEnvironment({
      host,
      dialect: claudeDialect,
      pass: [],
      set: {},
      credential: undefined,
      workspaceDir: '/space',
      ...more,
    });

  it('holds what programs need, and nothing else of ours', () => {
    expect(of({}).variables).toEqual({ PATH: '/usr/bin', HOME: '/srv/me', ...claudeDialect.defaultVariables });
  });

  it('leads to no program in the workspace, not even where there is no other place to check', () => {
    expect(of({ host: { PATH: '/space/bin' } }).variables['PATH']).toBe('/usr/local/bin:/usr/bin:/bin');
    expect(of({ credential: { profileId: 'p', environment: { PATH: 'bin::/opt' } } }).variables['PATH']).toBe('/opt');
  });

  it('holds what is passed on or set by name, but nothing of this runtime or of an agent around it', () => {
    const { variables, secrets } = of({
      pass: ['AWS_SECRET', 'CLAUDECODE', 'WAKECHART_HOME', 'OTHER'],
      set: { A: 'b', WAKECHART_X: 'y', DISABLE_AUTOUPDATER: '0' },
    });
    expect(variables).toEqual({
      PATH: '/usr/bin',
      HOME: '/srv/me',
      ...claudeDialect.defaultVariables,
      DISABLE_AUTOUPDATER: '0',
      AWS_SECRET: 'aws-secret-value',
      OTHER: 'o',
      A: 'b',
    });
    expect([...secrets]).toEqual([['AWS_SECRET', 'aws-secret-value']]);
  });

  it.each([
    ['sk-ant-api03-aaaaaaaa', claudeDialect, 'ANTHROPIC_API_KEY'],
    ['sk-ant-oat01-aaaaaaaa', claudeDialect, 'CLAUDE_CODE_OAUTH_TOKEN'],
    ['sk-proj-aaaaaaaa', codexDialect, 'CODEX_API_KEY'],
  ])('holds the one account that pays: %s', (secret, dialect, variable) => {
    const { variables, told, secrets } = of({
      dialect,
      pass: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
      set: { OPENAI_API_KEY: 'another' },
      credential: { profileId: 'p', secret, environment: { CLAUDE_CONFIG_DIR: '/c' } },
    });
    const account = Object.entries({ ...variables, ...told });
    expect(account.filter(([name]) => dialect.accountVariables.includes(name))).toEqual([[variable, secret]]);
    // What is told by message, the commands of the program do not see.
    expect(Object.keys(variables).includes(variable)).toBe(dialect !== codexDialect);
    expect([variables['CLAUDE_CONFIG_DIR'], secrets.get(variable)]).toEqual(['/c', secret]);
  });
});
