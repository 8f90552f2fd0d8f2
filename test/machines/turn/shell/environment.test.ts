import { describe, expect, it } from 'vitest';
import {
  checkedEnvironmentSettings,
  commandEnvironment,
  workspaceEnvironment,
} from '../../../../src/machines/turn/shell/environment.ts';

describe('the environment of commands', () => {
  it('has the usual variables of the host and nothing else', () => {
    const usual = {
      PATH: '/bin',
      HOME: '/h',
      LANG: 'C',
      LC_ALL: 'C',
      LC_CTYPE: 'C',
      TERM: 'xterm',
      TMPDIR: '/t',
      TZ: 'UTC',
      USER: 'u',
      LOGNAME: 'u',
      SHELL: '/bin/sh',
    };
    const secret = {
      NPM_TOKEN: '1',
      GITHUB_TOKEN: '2',
      OPENAI_API_KEY: '3',
      AWS_ACCESS_KEY_ID: '4',
      LD_PRELOAD: '5',
      BASH_ENV: '6',
      ENV: '7',
      NODE_OPTIONS: '8',
      LC_: '9',
      LC_x: '10',
      path: '11',
      GIT_DIR: '12',
    };
    expect(commandEnvironment({ ...usual, ...secret, GONE: undefined })).toEqual(usual);
  });

  it('has what was named, exactly, and what was set, which wins', () => {
    const host = { PATH: '/bin', NPM_TOKEN: '1', NPM_TOKEN_2: '2' };
    expect(commandEnvironment(host, { pass: ['NPM_TOKEN', 'NOT_THERE'], set: { PATH: '/own', MODE: '' } })).toEqual({
      PATH: '/own',
      NPM_TOKEN: '1',
      MODE: '',
    });
  });

  it('always has a PATH, so that every program searches the same places', () => {
    expect(commandEnvironment({})).toEqual({ PATH: '/usr/local/bin:/usr/bin:/bin' });
  });

  it.each([
    ['./node_modules/.bin:/usr/bin', '/usr/bin'],
    [':/usr/bin', '/usr/bin'],
    ['/usr/bin:', '/usr/bin'],
    ['/usr/bin::/bin', '/usr/bin:/bin'],
    ['bin:.:..:~/bin', '/usr/local/bin:/usr/bin:/bin'],
    ['', '/usr/local/bin:/usr/bin:/bin'],
  ])('has no place in its PATH that depends on where a command runs: %j', (PATH, left) => {
    expect(commandEnvironment({ PATH })).toEqual({ PATH: left });
    expect(commandEnvironment({ PATH: '/bin' }, { set: { PATH } })).toEqual({ PATH: left });
  });

  it('is not led astray by names of objects', () => {
    expect(
      Object.keys(commandEnvironment(JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>)),
    ).toEqual(['PATH']);
  });

  it.each([
    { pass: ['A*'] },
    { pass: ['1A'] },
    { pass: [''] },
    { set: { 'A=B': 'x' } },
    { set: { A: 'x\0y' } },
    { inherit: ['A'] },
    { pass: 'PATH' },
  ])('refuses the settings %j', (given) => {
    expect(() => checkedEnvironmentSettings(given as object)).toThrow(
      expect.objectContaining({ code: 'ENVIRONMENT_INVALID' }) as Error,
    );
  });

  it('says no value when it refuses one', () => {
    expect(() => checkedEnvironmentSettings({ set: { KEY: 'sec\0ret' } })).toThrow(/^(?!.*sec).*set\.KEY/);
  });
});

describe('the environment of commands in a workspace', () => {
  const inWorkspace = (environment: Record<string, string>, folder = '/data/w'): Readonly<Record<string, string>> =>
    workspaceEnvironment(environment, { folder, reaches: (path) => `${path}/`.startsWith(`${folder}/`) });

  it('has no place of the workspace in its PATH', () => {
    expect(inWorkspace({ PATH: '/usr/bin:/data/w/node_modules/.bin:/data/w:/data/w2/bin' })).toMatchObject({
      PATH: '/usr/bin:/data/w2/bin',
    });
    expect(inWorkspace({ PATH: '/data/w/bin' })).toMatchObject({ PATH: '/usr/local/bin:/usr/bin:/bin' });
  });

  it.each([
    ['/data/w', undefined, '/data'],
    ['/w', undefined, '/'],
    ['/data/w', '/mnt:/net', '/data:/mnt:/net'],
    ['/data/w', '', '/data'],
    ['/', undefined, undefined],
    ['/', '/mnt', '/mnt'],
  ])('keeps git from going above %s; with %s that is %s', (folder, given, ceilings) => {
    const environment = { PATH: '/usr/bin', ...(given === undefined ? {} : { GIT_CEILING_DIRECTORIES: given }) };
    expect(inWorkspace(environment, folder)['GIT_CEILING_DIRECTORIES']).toBe(ceilings);
  });
});
