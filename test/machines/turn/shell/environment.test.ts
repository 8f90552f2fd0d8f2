import { describe, expect, it } from 'vitest';
import { checkedEnvironmentSettings, commandEnvironment } from '../../../../src/machines/turn/shell/environment.ts';

describe('the environment of commands', () => {
  it('has the usual variables of the host and nothing else', () => {
    const usual = { PATH: '/bin', HOME: '/h', LANG: 'C', LC_ALL: 'C', LC_CTYPE: 'C', TERM: 'xterm', TMPDIR: '/t', TZ: 'UTC', USER: 'u', LOGNAME: 'u', SHELL: '/bin/sh' };
    const secret = { NPM_TOKEN: '1', GITHUB_TOKEN: '2', OPENAI_API_KEY: '3', AWS_ACCESS_KEY_ID: '4', LD_PRELOAD: '5', BASH_ENV: '6', ENV: '7', NODE_OPTIONS: '8', LC_: '9', LC_x: '10', path: '11', GIT_DIR: '12' };
    expect(commandEnvironment({ ...usual, ...secret, GONE: undefined })).toEqual(usual);
  });

  it('has what was named, exactly, and what was set, which wins', () => {
    const host = { PATH: '/bin', NPM_TOKEN: '1', NPM_TOKEN_2: '2' };
    expect(commandEnvironment(host, { pass: ['NPM_TOKEN', 'NOT_THERE'], set: { PATH: '/own', MODE: '' } })).toEqual({ PATH: '/own', NPM_TOKEN: '1', MODE: '' });
  });

  it('always has a PATH, so that every program looks in the same places', () => {
    expect(commandEnvironment({})).toEqual({ PATH: '/usr/local/bin:/usr/bin:/bin' });
  });

  it('is not led astray by names of objects', () => {
    expect(Object.keys(commandEnvironment(JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>))).toEqual(['PATH']);
  });

  it.each([{ pass: ['A*'] }, { pass: ['1A'] }, { pass: [''] }, { set: { 'A=B': 'x' } }, { set: { A: 'x\0y' } }, { inherit: ['A'] }, { pass: 'PATH' }])('refuses the settings %j', (given) => {
    expect(() => checkedEnvironmentSettings(given as object)).toThrow(expect.objectContaining({ code: 'ENVIRONMENT_INVALID' }) as Error);
  });

  it('says no value when it refuses one', () => {
    expect(() => checkedEnvironmentSettings({ set: { KEY: 'sec\0ret' } })).toThrow(/^(?!.*sec).*set\.KEY/);
  });
});
