import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compareEnvironments } from '../../../src/machines/environment/environment-changes.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { idOf } from '../../support/session-events.ts';
import type { Said } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';
import { toldRuntime, says } from '../../support/told-runtime.ts';
import { openEnvironmentSetup } from './environment-setup.ts';
import type { EnvironmentSetup } from './environment-setup.ts';

let open: EnvironmentSetup;
let ran: string[];
afterEach(() => open.setup[Symbol.asyncDispose]());

async function begin(
  ...more:
    | []
    | [Parameters<typeof openEnvironmentSetup>[0]]
    | [Parameters<typeof openEnvironmentSetup>[0], Parameters<typeof openEnvironmentSetup>[1]]
): Promise<void> {
  const tools = noteTools();
  ran = tools.ran;
  const [options, ports] = more;
  open = await openEnvironmentSetup({ tools: [tools.tool('launch'), tools.tool('check')], ...options }, ports);
}

const check: Said = { calls: [{ name: 'check' }] };
const ask = (agent: string): Said => ({ calls: [{ name: agent, input: { message: 'Do it.' } }] });

async function woken(
  agentId: string,
  steps: readonly Said[] = [{ text: 'Done.' }],
  frontmatter: Partial<AgentFrontmatter> = {},
): Promise<{ readonly id: string; readonly outcome: unknown }> {
  await open.setup.agent(agentId, steps, frontmatter);
  const id = await open.setup.start(agentId);
  return { id, outcome: await open.setup.runtime.wake(id) };
}

const entered = (sessionId: string): ReturnType<typeof open.setup.dataOf<'environment.entered'>> =>
  open.setup.dataOf(sessionId, 'environment.entered');

describe('a wake', () => {
  it('of an agent that names no environment works on the host, and its log says so', async () => {
    await begin();
    const { id } = await woken('free');
    expect(await entered(id)).toEqual([
      {
        environmentId: 'host',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
        sandbox: 'off',
        network: 'open',
      },
    ]);
    expect(open.opened).toEqual([]);
    expect((await open.setup.state(id)).environment).toMatchObject({ sandbox: 'off' });
  });

  it('works in the environment of its session, else in that of its agent', async () => {
    await begin();
    const { id } = await woken('shut', undefined, { environment: 'sandboxed' });
    expect(await entered(id)).toMatchObject([
      { environmentId: 'sandboxed', sandbox: 'bubblewrap', network: 'disabled' },
    ]);
    const { sessionId } = await open.setup.runtime.sessions.create({ agentId: 'shut', environmentId: 'host' });
    await open.setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    await open.setup.runtime.wake(sessionId);
    expect(await entered(sessionId)).toMatchObject([{ environmentId: 'host', sandbox: 'off' }]);
  });

  it('works in the one that the runtime names for all others', async () => {
    await begin({}, { defaultEnvironmentId: 'sandboxed' });
    expect(await entered((await woken('any')).id)).toMatchObject([{ environmentId: 'sandboxed' }]);
  });

  it('has mounts whose folders are there, in the sandbox too', async () => {
    await begin();
    const home = await realpath(open.setup.layout.home);
    await open.put('builds', 'sandbox: required\nvaults: [github]\n');
    const { id } = await woken('builder', undefined, { environment: 'builds' });
    const [scope] = open.opened;
    expect(scope).toMatchObject({
      sessionId: id,
      network: 'disabled',
      workspaceDirectory: join(home, 'agents/builder/sessions', id, 'workspace'),
    });
    expect(scope?.mounts.map(({ path, access }) => `${path} ${access}`)).toEqual([
      '/workspace rw',
      '/workspace/agent ro',
      '/runtime rw',
      '/memory/learnings ro',
      '/skills ro',
      '/vaults/github none',
    ]);
    expect(open.vaults).toEqual([['github']]);
  });

  it('leaves what it worked in to be compared with the next one, after the file has changed', async () => {
    await begin();
    await open.put('builds', 'sandbox: required\n');
    const { id } = await woken('builder', undefined, { environment: 'builds' });
    await open.put('builds', 'sandbox: required\nnetwork: open\n');
    await open.setup.runtime.sessions.send(id, { type: 'user.message', text: 'Again' });
    await open.setup.runtime.wake(id);
    const [before, after] = await Promise.all(
      (await entered(id)).map(({ fingerprint }) => open.catalog.recall(fingerprint)),
    );
    expect(before !== undefined && after !== undefined && compareEnvironments(before, after)).toMatchObject({
      isolation: 'looser',
      changes: [{ key: 'network' }],
    });
  });

  it('has the same fingerprint as long as the environment says the same', async () => {
    await begin();
    const [one, other] = [
      await woken('one', undefined, { environment: 'sandboxed' }),
      await woken('other', undefined, { environment: 'sandboxed' }),
    ];
    expect((await entered(one.id))[0]?.fingerprint).toBe((await entered(other.id))[0]?.fingerprint);
  });

  it('is held by the rules, the mode and the budget of its environment', async () => {
    await begin();
    await open.put('careful', 'sandbox: off\npermission: { deny: [check] }\nbudget: { maxModelStepsPerWake: 2 }\n');
    const { id, outcome } = await woken('eager', [check, check, check, { text: 'Done.' }], {
      environment: 'careful',
      permission: 'preapproved',
    });
    expect(ran).toEqual([]);
    expect(await open.setup.results(id)).toMatchObject([{ outcome: 'denied' }, { outcome: 'denied' }]);
    expect(outcome).toMatchObject({ outcome: 'budget_reached' });
  });

  it('goes on when what it worked in cannot be remembered, and somebody hears why', async () => {
    await begin();
    await open.put('builds', 'sandbox: required\n');
    open.catalog.remember = () => Promise.reject(new Error('the disk is full'));
    expect((await woken('builder', undefined, { environment: 'builds' })).outcome).toMatchObject({ outcome: 'sleep' });
    expect(open.setup.reported).toMatchObject([{ message: 'the disk is full' }]);
  });
});

describe('no wake begins, and no model is asked,', () => {
  it.each<[string, string, string]>([
    ['in an environment that is not there', '', 'ENVIRONMENT_NOT_FOUND'],
    ['in one that cannot be read', 'sandbox: perhaps\n', 'ENVIRONMENT_INVALID'],
    [
      'where a mount is missing',
      'sandbox: off\nmounts: [{ path: /data, source: /nowhere/at/all }]\n',
      'MOUNT_UNAVAILABLE',
    ],
  ])('%s', async (_what, text, code) => {
    await begin();
    if (text !== '') await open.put('bad', text);
    expect((await woken('lost', undefined, { environment: 'bad' })).outcome).toMatchObject({
      outcome: 'failed',
      error: { code },
    });
    expect(open.setup.asked).toEqual([]);
  });

  it('where the sandbox that is required is missing', async () => {
    await begin(
      {},
      {
        sandboxes: {
          availability: async () => ({
            kind: 'missing',
            reason: 'bwrap is not installed',
            hint: 'apt install bubblewrap',
          }),
          open: () => Promise.reject(new Error('opened all the same')),
        },
      },
    );
    expect((await woken('shut', undefined, { environment: 'sandboxed' })).outcome).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'SANDBOX_UNAVAILABLE',
        hint: 'apt install bubblewrap',
        message: expect.stringContaining('bwrap is not installed') as unknown,
      },
    });
    expect((await woken('free')).outcome).toMatchObject({ outcome: 'sleep' });
  });

  it('where the runtime has no sandbox or no vaults', async () => {
    await begin({}, { sandboxes: undefined, vaults: undefined });
    await open.put('secretive', 'sandbox: off\nvaults: [github]\n');
    expect((await woken('shut', undefined, { environment: 'sandboxed' })).outcome).toMatchObject({
      error: { code: 'SANDBOX_UNAVAILABLE' },
    });
    expect((await woken('keyed', undefined, { environment: 'secretive' })).outcome).toMatchObject({
      error: { code: 'VAULT_NOT_FOUND' },
    });
  });
});

describe('a backend that runs tools of its own', () => {
  it.each<[string, Partial<AgentFrontmatter>, string | undefined]>([
    ['is refused where a sandbox is required', { environment: 'sandboxed' }, 'SANDBOX_BYPASSED'],
    [
      'is refused as a fallback too',
      { environment: 'sandboxed', provider: 'steps', fallbacks: ['turns/m'] as never },
      'SANDBOX_BYPASSED',
    ],
    ['is run where none is', { environment: 'host' }, undefined],
  ])('%s', async (_what, frontmatter, code) => {
    const turns = toldRuntime('turns', [says('Done.')], { runs: 'turn' });
    await begin({ runtimes: [turns, toldRuntime('steps', [says('Else.')])] });
    const { outcome } = await woken('worker', [], { provider: 'turns', model: 'm', ...frontmatter });
    expect(turns.asked).toHaveLength(code === undefined ? 1 : 0);
    expect(outcome).toMatchObject(code === undefined ? { outcome: 'sleep' } : { outcome: 'failed', error: { code } });
  });
});

describe('a session that works for another one', () => {
  const pair = async (
    lead: Partial<AgentFrontmatter>,
    helper: Partial<AgentFrontmatter>,
  ): Promise<{ readonly parent: string; readonly child: string }> => {
    await open.setup.agent('helper', [{ text: 'Helped.' }], helper);
    const { id } = await woken('lead', [ask('helper'), { text: 'All done.' }], {
      tools: [{ agent: 'helper' }],
      ...lead,
    });
    return { parent: id, child: (await open.setup.children(id))[0] ?? 'none' };
  };

  it('is bound by the environment of that one: called by it', async () => {
    await begin();
    await open.put('helping', 'sandbox: required\nnetwork: open\nvaults: [github, npm]\n');
    await open.put('leading', 'sandbox: required\nvaults: [github]\nquota: { maxFiles: 5 }\n');
    const { child } = await pair({ environment: 'leading' }, { environment: 'helping' });
    expect((await open.setup.state(child)).restriction?.environments).toEqual(['leading']);
    expect(await entered(child)).toMatchObject([
      { environmentId: 'helping', network: 'disabled', within: ['leading'] },
    ]);
    expect(open.vaults.at(-1)).toEqual(['github']);
    const definition = await open.catalog.recall((await entered(child))[0]?.fingerprint ?? '');
    expect(definition).toMatchObject({ environmentId: 'helping', vaults: ['github'], quota: { maxFiles: 5 } });
  });

  it('is shut in though its own environment shuts nothing in, and so is whoever works for it', async () => {
    await begin();
    await open.setup.agent('grandchild', [{ text: 'Deep.' }]);
    await open.setup.agent('helper', [ask('grandchild'), { text: 'Helped.' }], { tools: [{ agent: 'grandchild' }] });
    const { id } = await woken('lead', [ask('helper'), { text: 'Done.' }], {
      tools: [{ agent: 'helper' }],
      environment: 'sandboxed',
    });
    const [child = ''] = await open.setup.children(id);
    const [grandchild = ''] = await open.setup.children(child);
    expect(await entered(child)).toMatchObject([
      { environmentId: 'host', sandbox: 'bubblewrap', within: ['sandboxed'] },
    ]);
    expect((await open.setup.state(grandchild)).restriction?.environments).toEqual(['host', 'sandboxed']);
    expect(await entered(grandchild)).toMatchObject([
      { sandbox: 'bubblewrap', network: 'disabled', within: ['sandboxed'] },
    ]);
  });

  it('is bound as a job of it, also when that has never been awake', async () => {
    await begin();
    await open.setup.agent('lead', [], { environment: 'sandboxed' });
    await open.setup.agent('fixer', [{ text: 'Fixed.' }]);
    const parent = (await open.setup.runtime.sessions.create({ agentId: 'lead' })).sessionId;
    const cwd = join(open.setup.layout.home, '..');
    const { id } = await open.setup.runtime.subagents.spawn({
      type: 'fixer',
      prompt: 'Fix it.',
      cwd,
      parentSessionId: parent,
      permissionPolicy: 'prompt',
    });
    await open.setup.runtime.subagents.wait(id);
    const [started] = await open.setup.dataOf(parent, 'subagent.started');
    const childSessionId = started?.childSessionId ?? 'none';
    expect((await open.setup.state(childSessionId)).restriction?.environments).toEqual(['sandboxed']);
    expect(await entered(childSessionId)).toMatchObject([{ sandbox: 'bubblewrap', within: ['sandboxed'] }]);
  });

  it('is bound when somebody makes it for that one, by its rules too', async () => {
    await begin();
    await open.setup.agent('lead', [], {
      environment: 'sandboxed',
      permission: { mode: 'ask', deny: ['launch'] } as never,
    });
    await open.setup.agent('helper', [check, { text: 'Done.' }], { permission: 'preapproved' });
    const parent = (await open.setup.runtime.sessions.create({ agentId: 'lead' })).sessionId;
    const child = await open.setup.runtime.sessions.create({ agentId: 'helper', parentSessionId: parent });
    expect(child.restriction).toEqual({ environments: ['sandboxed'], mode: 'ask', ask: [], deny: ['launch'] });
  });

  it('stays bound in a fork, which works where it worked', async () => {
    await begin();
    const { child } = await pair({ environment: 'sandboxed' }, {});
    const fork = await open.setup.runtime.sessions.fork(child, {});
    expect(fork.restriction?.environments).toEqual(['sandboxed']);
    await open.setup.runtime.sessions.send(fork.sessionId, { type: 'user.message', text: 'On.' });
    await open.setup.runtime.wake(fork.sessionId);
    expect((await entered(fork.sessionId)).at(-1)).toMatchObject({ sandbox: 'bubblewrap', within: ['sandboxed'] });
    const chosen = await open.setup.runtime.sessions.create({ agentId: 'helper', environmentId: 'sandboxed' });
    expect((await open.setup.runtime.sessions.fork(chosen.sessionId, {})).environmentId).toBe('sandboxed');
  });

  it.each<[string, string | undefined, string]>([
    ['was deleted', undefined, 'ENVIRONMENT_NOT_FOUND'],
    ['cannot be read', 'sandbox: [', 'ENVIRONMENT_INVALID'],
  ])('does nothing when the environment that binds it %s', async (_what, text, code) => {
    await begin();
    await open.put('leading', 'sandbox: required\n');
    const { child } = await pair({ environment: 'leading' }, {});
    const asked = open.setup.asked.length;
    await open.put('leading', text);
    await open.setup.runtime.sessions.send(child, { type: 'user.message', text: 'More.' });
    expect(await open.setup.runtime.wake(child)).toMatchObject({
      outcome: 'failed',
      error: { code, message: expect.stringContaining('binds this session') as unknown },
    });
    expect(open.setup.asked).toHaveLength(asked);
  });

  it.each<[string, (home: string) => Promise<unknown>, string]>([
    ['the environment that binds it is gone', () => open.put('leading', undefined), 'ENVIRONMENT_NOT_FOUND'],
    ['the file of its agent is gone', (home) => rm(join(home, 'agents', 'lead', 'agent.md')), 'AGENT_NOT_FOUND'],
  ])('is not made for one of which nobody knows what binds it, since %s', async (_what, lose, code) => {
    await begin();
    await open.put('leading', 'sandbox: required\n');
    await open.setup.agent('lead', [], { environment: 'leading' });
    await open.setup.agent('helper', []);
    const { sessions, subagents } = open.setup.runtime;
    const parent = (await sessions.create({ agentId: 'lead' })).sessionId;
    await lose(open.setup.layout.home);
    await expect(sessions.create({ agentId: 'helper', parentSessionId: parent })).rejects.toMatchObject({ code });
    await expect(
      subagents.spawn({
        type: 'helper',
        prompt: 'Do it.',
        cwd: join(open.setup.layout.home, '..'),
        parentSessionId: parent,
      }),
    ).rejects.toMatchObject({ code });
    expect(await sessions.list()).toHaveLength(1);
  });

  it('is bound by the policy of its agent and gets a share of its budget, also where a person makes it', async () => {
    await begin();
    await open.setup.agent('lead', [], { budget: { maxTokensPerSession: 1_000 } });
    await open.setup.agent('helper', []);
    await open.setup.policy.keep('lead', parseRule('deny launch'), { by: { sessionId: 'none', requestId: 'none' } });
    const parent = (await open.setup.runtime.sessions.create({ agentId: 'lead' })).sessionId;
    expect(await open.setup.runtime.sessions.create({ agentId: 'helper', parentSessionId: parent })).toMatchObject({
      restriction: { deny: ['launch'] },
      allowance: { tokens: 500 },
    });
  });

  it('is bound by what its parent works in now, whatever the file of its agent says by then', async () => {
    await begin();
    let child = '';
    await open.setup.agent('helper', []);
    await open.setup.agent(
      'lead',
      async () => {
        const { sessions, agents } = open.setup.runtime;
        const file = join(open.setup.layout.agents, 'lead', 'agent.md');
        await writeFile(file, (await readFile(file, 'utf8')).replace('environment: sandboxed', 'environment: host'));
        expect((await agents.get('lead')).environment).toBe('host');
        child = (await sessions.create({ agentId: 'helper', parentSessionId: parent })).sessionId;
        return { text: 'Done.' };
      },
      { environment: 'sandboxed' },
    );
    const parent = await open.setup.start('lead');
    await open.setup.runtime.wake(parent);
    expect((await open.setup.state(child)).restriction?.environments).toEqual(['host', 'sandboxed']);
  });

  it('works within the environment of its parent where its log lacks what binds it, as those of earlier versions may', async () => {
    await begin();
    await open.setup.agent('lead', [], { environment: 'sandboxed' });
    await open.setup.agent('helper', [{ text: 'Done.' }]);
    const parent = (await open.setup.runtime.sessions.create({ agentId: 'lead' })).sessionId;
    const identity = { sessionId: idOf(77), agentId: 'helper' };
    const old = {
      type: 'session.created',
      v: 1,
      data: {
        agentId: 'helper',
        parent: { sessionId: parent, depth: 1 },
        restriction: { mode: 'ask', ask: [], deny: [] },
      },
    };
    await open.setup.store.create(identity, [{ id: idOf(78), at: new Date(0).toISOString(), ...old }]);
    await open.setup.runtime.sessions.send(identity.sessionId, { type: 'user.message', text: 'Go' });
    await open.setup.runtime.wake(identity.sessionId);
    expect(await entered(identity.sessionId)).toMatchObject([
      { environmentId: 'host', sandbox: 'bubblewrap', within: ['sandboxed'] },
    ]);
    for (const copy of ['fork', 'import'] as const) {
      const { sessions } = open.setup.runtime;
      const lines = async (): Promise<string[]> => {
        const all: string[] = [];
        for await (const line of sessions.export(identity.sessionId)) all.push(line);
        await sessions.delete(identity.sessionId);
        return all;
      };
      const { sessionId } =
        copy === 'fork'
          ? await sessions.fork(identity.sessionId, { atSeq: 2 })
          : await sessions.import(await lines(), { isTrusted: true });
      await sessions.send(sessionId, { type: 'user.message', text: 'Go on' });
      await open.setup.runtime.wake(sessionId);
      expect((await entered(sessionId)).at(-1)).toMatchObject({ sandbox: 'bubblewrap', within: ['sandboxed'] });
      if (copy === 'import') continue;
      // And a child of it whose log lacks the same.
      const below = { sessionId: idOf(79), agentId: 'helper' };
      await open.setup.store.create(below, [
        {
          id: idOf(80),
          at: new Date(0).toISOString(),
          ...old,
          data: { ...old.data, parent: { sessionId: identity.sessionId, depth: 2 } },
        },
      ]);
      const all: string[] = [];
      for await (const line of sessions.export(below.sessionId)) all.push(line);
      await sessions.delete(below.sessionId);
      for (const isTrusted of [true, false]) {
        const imported = await sessions.import(all, { isTrusted });
        expect(imported.restriction?.environments).toContain('sandboxed');
        await sessions.delete(imported.sessionId);
      }
    }
  });

  it('may not be run by a backend with tools of its own where that one is shut in', async () => {
    const turns = toldRuntime('turns', [says('Done.')], { runs: 'turn' });
    const lead = toldRuntime('lead', [
      () => ({
        payloads: [{ type: 'tool_call', callId: 'c', name: 'helper', input: { message: 'Go.' } }],
        meta: { modelSteps: 1 },
      }),
      says('Done.'),
    ]);
    await begin({ runtimes: [turns, lead] });
    await open.setup.agent('helper', [], { provider: 'turns', model: 'm' });
    const { id } = await woken('boss', [], {
      provider: 'lead',
      model: 'm',
      tools: [{ agent: 'helper' }],
      environment: 'sandboxed',
    });
    const [child = ''] = await open.setup.children(id);
    expect((await open.setup.dataOf(child, 'wake.ended'))[0]).toMatchObject({ error: { code: 'SANDBOX_BYPASSED' } });
    expect(turns.asked).toEqual([]);
  });
});

describe('a session for an environment that is not there', () => {
  it('is not made', async () => {
    await begin();
    await mkdir(open.setup.layout.agents, { recursive: true });
    await open.setup.agent('free', []);
    await expect(open.setup.runtime.sessions.create({ agentId: 'free', environmentId: 'ghost' })).rejects.toMatchObject(
      { code: 'ENVIRONMENT_NOT_FOUND' },
    );
    expect(await open.setup.runtime.sessions.list()).toEqual([]);
  });
});
