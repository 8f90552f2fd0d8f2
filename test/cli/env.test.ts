import { chmod, mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkEnvironments, unconfinedAgents } from '../../src/cli/doctor/check-environments.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { SANDBOXED_ENVIRONMENT } from '../../src/machines/environment/environment-definition.ts';
import { openEnvironmentSetup } from '../actors/environment/environment-setup.ts';
import type { EnvironmentSetup } from '../actors/environment/environment-setup.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';

let folder: TemporaryHome;
let home = '';

const cli = (...words: readonly string[]): Promise<Ended> => runInProcess([...words, '--home', home]);
const json = async (...words: readonly string[]): Promise<unknown> =>
  JSON.parse((await cli(...words, '--json')).stdout) as unknown;

beforeAll(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  await writeFile(
    join(folder.path, 'good.yaml'),
    'description: For builds.\nsandbox: required\nnetwork: open\nvaults: [github]\nvariables: { set: { TOKEN: hunter22222 } }\n',
  );
  await writeFile(join(folder.path, 'bad.yaml'), 'sandbox: required\nmount: []\n');
  await writeFile(join(folder.path, 'gone.yaml'), 'sandbox: off\nmounts: [{ path: /data, source: /nowhere/at/all }]\n');
});

afterAll(() => folder.remove());

describe('wakechart env', () => {
  it('lists what is built in before there is a home, and makes none', async () => {
    const { code, stdout } = await cli('env', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ENVIRONMENT\s+SANDBOX\s+NETWORK\s+DESCRIPTION\nhost\s+off\s+open\s+Commands run on the host.*\(built in\)\nsandboxed\s+required\s+disabled/,
    );
    await expect(stat(home)).rejects.toThrow('ENOENT');
  });

  it('refuses a bad file with its line, and keeps nothing', async () => {
    for (const words of [
      ['validate', join(folder.path, 'bad.yaml')],
      ['create', 'bad', '--from', join(folder.path, 'bad.yaml')],
    ]) {
      const { code, stderr } = await cli('env', ...words);
      expect(code).not.toBe(0);
      expect(stderr).toMatch(/line 2: mount: unknown key; did you mean "mounts"\?.*\[ENVIRONMENT_INVALID\]/s);
    }
    await expect(stat(home)).rejects.toThrow('ENOENT');
  });

  it('says that a file is valid, and what would keep a wake from beginning', async () => {
    await mkdir(join(home, 'vaults'), { recursive: true, mode: 0o700 });
    await writeFile(join(home, 'vaults', 'github.yaml'), 'secrets: {}\n', { mode: 0o600 });
    expect(await cli('env', 'validate', join(folder.path, 'good.yaml'))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^Valid: .*good.yaml \(sandbox: required, network: open, the host's own with its loopback\)\n$/,
      ) as unknown,
      stderr: '',
    });
    expect(await cli('env', 'validate', join(folder.path, 'gone.yaml'))).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('it is not there') as unknown,
    });
    expect(await json('env', 'validate', join(folder.path, 'good.yaml'))).toMatchObject({
      valid: true,
      definition: { sandbox: 'required' },
      problems: [],
    });
  });

  it('says that a vault which it names is not there, and names mounts as the file is called', async () => {
    await writeFile(
      join(folder.path, 'keys.yaml'),
      'sandbox: off\nvaults: [nowhere]\nmounts: [{ path: /data, source: /nowhere/at/all }]\n',
    );
    const { code, stderr } = await cli('env', 'validate', join(folder.path, 'keys.yaml'));
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /warning: the environment "keys".*mounts \/nowhere\/at\/all as \/data.*\nwarning: no wake begins with its vaults: there is no vault "nowhere"/,
    );
  });

  it('makes one that shuts commands in, or one from a file, and never replaces one', async () => {
    const made = await cli('env', 'create', 'builds');
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Created environment builds \(sandbox: required, network: disabled\)/) as unknown,
    });
    expect(await readFile(join(home, 'environments/builds.yaml'), 'utf8')).toContain('"environment: builds"');
    expect(await json('env', 'create', 'open', '--from', join(folder.path, 'good.yaml'))).toMatchObject({
      environmentId: 'open',
      vaults: ['github'],
    });
    expect(await cli('env', 'create', 'open')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENVIRONMENT_EXISTS') as unknown,
    });
    expect((await cli('env', 'create', '../x')).code).toBe(2);
    expect((await readdir(join(home, 'environments'))).toSorted()).toEqual(['builds.yaml', 'open.yaml']);
  });

  it('shows one, without the values of variables to people', async () => {
    const shown = await cli('env', 'show', 'open');
    expect(shown.stdout).toMatch(
      /sandbox\s+required\nnetwork\s+open\nvaults\s+github\npermission\s+preapproved\nsets\s+TOKEN\nfile\s+\S*open.yaml/,
    );
    expect(shown.stdout).not.toContain('hunter');
    expect(await json('env', 'show', 'host')).toMatchObject({ environmentId: 'host', isBuiltIn: true });
    expect(await cli('env', 'show', 'opne')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Did you mean "open"?') as unknown,
    });
  });

  it('shows one that cannot be read among the others', async () => {
    await writeFile(join(home, 'environments/torn.yaml'), 'sandbox: [', { mode: 0o600 });
    const listed = await cli('env', 'list');
    expect(listed.stdout).toMatch(/^torn\s+invalid\s/m);
    expect(listed.stdout).toMatch(/^open\s+required\s+open\s+For builds\./m);
    await writeFile(join(home, 'environments/torn.yaml'), 'sandbox: off\n');
  });
});

const isolationd = z.object({ isolation: z.object({ environmentId: z.string(), sandbox: z.string() }) });

describe('every status says whether anything is shut in:', () => {
  it('of an agent, whose file says it too', async () => {
    const created = await cli('agent', 'create', 'starter');
    expect(created.stdout).toContain('works in host (sandbox: off)');
    expect(await readFile(join(home, 'agents/starter/agent.md'), 'utf8')).toMatch(/^environment: host$/m);
    expect((await cli('agent', 'show', 'starter')).stdout).toMatch(/environment\s+host \(sandbox: off\)/);
    expect(isolationd.parse(await json('agent', 'show', 'starter')).isolation).toEqual({
      environmentId: 'host',
      sandbox: 'off',
    });
  });

  it('of a session, in the list of sessions, and of one that is made', async () => {
    const created = await cli('session', 'create', '--agent', 'starter', '--environment', 'builds');
    expect(created.stdout).toContain('works in builds (sandbox: required, network: disabled)');
    const { sessionId } = z
      .object({ sessionId: z.string() })
      .parse(await json('session', 'create', '--agent', 'starter'));
    expect((await cli('session', 'status', '--session', sessionId)).stdout).toMatch(
      /environment\s+host \(sandbox: off\)/,
    );
    expect(isolationd.parse(await json('session', 'status', '--session', sessionId)).isolation.sandbox).toBe('off');
    const { sessions } = z.object({ sessions: z.array(isolationd) }).parse(await json('session', 'list'));
    expect(sessions.map(({ isolation }) => isolation.sandbox).toSorted()).toEqual(['off', 'required']);
    const listed = (await cli('session', 'list')).stdout;
    expect(listed).toMatch(/^SESSION +AGENT +STATUS +ENVIRONMENT +UPDATED +SUMMARY$/m);
    expect(listed).toMatch(new RegExp(`^${sessionId} +starter +idle +host, no sandbox +\\d`, 'm'));
    expect(listed).toMatch(/^\S+ +starter +idle +builds +\d/m);
  });

  it('of a session whose environment is gone', async () => {
    await writeFile(join(home, 'environments/fleeting.yaml'), 'sandbox: off\n', { mode: 0o600 });
    const { sessionId } = z
      .object({ sessionId: z.string() })
      .parse(await json('session', 'create', '--agent', 'starter', '--environment', 'fleeting'));
    await writeFile(join(home, 'environments/fleeting.yaml'), 'sandbox: sometimes\n');
    expect((await cli('session', 'status', '--session', sessionId)).stdout).toMatch(
      /environment\s+fleeting \(no wake can begin: .*line 1: sandbox/,
    );
    expect((await cli('session', 'list')).stdout).toMatch(
      new RegExp(`^${sessionId} +starter +idle +fleeting, cannot be read `, 'm'),
    );
    await writeFile(join(home, 'environments/fleeting.yaml'), 'sandbox: off\n');
  });

  it('and no session is made in one that is not there', async () => {
    const before = await json('session', 'list');
    expect(await cli('session', 'create', '--agent', 'starter', '--environment', 'ghost')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is no environment "ghost".*builds/s) as unknown,
    });
    expect(await cli('session', 'create', '--agent', 'starter', '--environment', 'No Name')).toMatchObject({ code: 2 });
    expect(await json('session', 'list')).toEqual(before);
  });

  it('of what the worker wakes', async () => {
    const { sessionId } = z
      .object({ sessionId: z.string() })
      .parse(await json('session', 'create', '--agent', 'starter'));
    await cli('session', 'send', '--session', sessionId, '--message', 'Go.');
    const { stdout } = await cli('worker', '--until-idle');
    const lines = stdout.split('\n').filter((line) => line.includes(sessionId));
    expect(lines[0]).toMatch(/Z wakes .*a message.*, in host \(sandbox: off\)$/);
    expect(lines[1]).toMatch(/Z sleep /);
    await cli('session', 'send', '--session', sessionId, '--message', 'Again.');
    const records = (await cli('worker', '--until-idle', '--json')).stdout
      .split('\n')
      .filter((line) => line.includes('"woke"'));
    expect(records.map((line) => isolationd.parse(JSON.parse(line)).isolation.sandbox)).toEqual(['off']);
  });
});

describe('the doctor', () => {
  const findings = async (kind: 'available' | 'missing' = 'missing'): Promise<readonly string[]> => {
    const { catalog, agents } = {
      catalog: open.catalog,
      agents: new FileAgentCatalog({ agentsDirectory: open.setup.layout.agents }),
    };
    const availability = async (): Promise<
      | { readonly kind: 'available'; readonly version: string }
      | { readonly kind: 'missing'; readonly reason: string; readonly hint: string }
    > =>
      kind === 'available'
        ? { kind, version: '1' }
        : { kind, reason: 'bwrap is not installed', hint: 'apt install bubblewrap' };
    return (
      await checkEnvironments({
        catalog,
        agents,
        home: open.setup.layout.home,
        vaults: join(open.setup.layout.home, 'vaults'),
        sandboxes: { availability },
      })
    ).map(({ severity, where, what, remedy }) => `${severity} ${where}: ${what} / ${remedy}`);
  };
  let open: EnvironmentSetup;
  beforeAll(async () => {
    open = await openEnvironmentSetup();
  });
  afterAll(() => open.setup[Symbol.asyncDispose]());

  it('says who is not shut in, and finds no fault in that', async () => {
    expect((await cli('doctor')).stdout).toContain('sandbox: off for starter: their commands run with all your rights');
    expect(await json('doctor')).toMatchObject({ unconfined: ['starter'] });
  });

  it('removes what a crash left half-written', async () => {
    const draft = join(home, 'environments/.builds.yaml.0192f0c1-2345-4abc-8def-0123456789ab.tmp');
    await writeFile(draft, 'sandb');
    await utimes(draft, new Date(0), new Date(0));
    expect((await json('env', 'list')) as object).not.toHaveProperty('environments.0.error');
    expect(await json('doctor')).toMatchObject({
      findings: [{ area: 'environments', severity: 'note', where: draft, isRepairable: true }],
    });
    await cli('doctor', '--repair');
    await expect(stat(draft)).rejects.toThrow('ENOENT');
  });

  it('finds what keeps wakes from beginning, and knows who is not shut in', async () => {
    expect(await findings()).toEqual([]);
    await open.setup.agent('shut', [], { environment: 'sandboxed' });
    await open.setup.agent('lost', [], { environment: 'ghost' });
    await open.setup.agent('free', []);
    await open.put('torn', 'sandbox: [');
    await open.put('gone', 'sandbox: off\nmounts: [{ path: /data, source: /nowhere/at/all }]\n');
    await open.put('keys', 'sandbox: off\nvaults: [nowhere]\n');
    const found = await findings();
    expect(found).toEqual([
      expect.stringMatching(/^problem torn: environment file torn.yaml is not valid: line 1/),
      expect.stringMatching(
        /^problem lost: the agent works in the environment "ghost", and there is none.*gone, host, keys, sandboxed/,
      ),
      expect.stringMatching(/^problem gone: .*it is not there/),
      expect.stringMatching(
        /^problem keys: there is no vault "nowhere", and the environment names it: no session in it will wake \/ .*vaults\/nowhere\.yaml/,
      ),
      expect.stringMatching(
        /^problem sandboxed: a sandbox is required, and there is none: bwrap is not installed \/ apt install bubblewrap$/,
      ),
    ]);
    expect(
      await unconfinedAgents({
        catalog: open.catalog,
        agents: new FileAgentCatalog({ agentsDirectory: open.setup.layout.agents }),
      }),
    ).toEqual(['free']);
    expect((await findings('available')).some((line) => line.includes('sandbox is required'))).toBe(false);
  });
});

describe('the comparison of the environments of wakes', () => {
  let open: EnvironmentSetup;
  let id = '';
  const compare = (...words: readonly string[]): Promise<Ended> =>
    runInProcess(['env', 'compare', '--session', id, ...words, '--home', open.setup.layout.home]);
  const wake = async (): Promise<void> => {
    await open.setup.runtime.sessions.send(id, { type: 'user.message', text: 'Go' });
    await open.setup.runtime.wake(id);
  };

  beforeAll(async () => {
    open = await openEnvironmentSetup();
    const { layout } = open.setup;
    open.setup.open({
      environments: open.environments,
      store: new FileEventStore({ home: layout.home, clock: createSystemClock() }),
      clock: createSystemClock(),
    });
    await open.put('builds', 'sandbox: required\nvaults: [github]\n');
    await open.setup.agent('builder', [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }], {
      environment: 'builds',
    });
    id = (await open.setup.runtime.sessions.create({ agentId: 'builder' })).sessionId;
    expect(await compare()).toMatchObject({ code: 1, stderr: expect.stringContaining('WAKE_NOT_FOUND') as unknown });
    await wake();
    await open.put('builds', 'sandbox: required\nvaults: [github]\nnetwork: open\n');
    await wake();
    await open.put('builds', 'sandbox: required\n');
    await wake();
  });
  afterAll(() => open.setup[Symbol.asyncDispose]());

  it('is of the last two, unless others are named', async () => {
    expect((await compare()).stdout).toBe(
      'wake 2, in builds  →  wake 3, in builds\n~ network was open and is disabled  stricter\n- the vault github cannot be used any more  stricter\nMore is shut in.\n',
    );
    expect((await compare('--wake', '1', '--wake', '2')).stdout).toBe(
      'wake 1, in builds  →  wake 2, in builds\n~ network was disabled and is open  looser\nLess is shut in.\n',
    );
    expect((await compare('--wake', '1')).stdout).toContain('wake 1, in builds  →  wake 3, in builds');
    expect((await compare('--wake', '2', '--wake', '2')).stdout).toContain('They say the same.');
  });

  it('is with an environment as it is now', async () => {
    expect((await compare('--with', 'host')).stdout).toMatch(
      /wake 3, in builds {2}→ {2}host as it is now\n~ the environment was "builds" and is "host"\n[\s\S]*~ sandbox was required and is off {2}looser\n[\s\S]*Less is shut in\./,
    );
    const document = z
      .object({
        isolation: z.string(),
        before: z.object({ fingerprint: z.string() }),
        changes: z.array(z.object({ key: z.string() })),
      })
      .parse(JSON.parse((await compare('--with', 'sandboxed', '--json')).stdout));
    expect(document).toMatchObject({
      isolation: 'neither',
      changes: [{ key: 'environmentId' }, { key: 'description' }],
    });
    expect(SANDBOXED_ENVIRONMENT.environmentId).toBe('sandboxed');
  });

  it('refuses what cannot be compared', async () => {
    expect(await compare('--wake', '9')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Wakes that did: 1, 2, 3.') as unknown,
    });
    expect(await compare('--wake', '1', '--wake', '2', '--wake', '3')).toMatchObject({ code: 2 });
    expect(await compare('--wake', '0')).toMatchObject({ code: 2 });
    expect(await compare('--with', 'ghost')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENVIRONMENT_NOT_FOUND') as unknown,
    });
    const known = join(open.setup.layout.home, 'environments/.known');
    await mkdir(known, { recursive: true });
    for (const name of await readdir(known)) await writeFile(join(known, name), '{');
    expect(await compare()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENVIRONMENT_INVALID') as unknown,
    });
    await chmod(known, 0o700);
  });
});
