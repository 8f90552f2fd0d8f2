/** What an approval is worth: for which call, how often, how long, and for whom. */
import { afterEach, describe, expect, it } from 'vitest';
import { NO_SECRETS } from '../../../src/actors/environment/session-secrets.ts';
import type { WorkspaceCopies } from '../../../src/actors/workspace-copy/workspace-copies.ts';
import { HOST_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import type { SessionDirectories } from '../../../src/actors/session/session-directories.ts';
import { MemoryPolicyStore } from '../../../src/adapters/memory/memory-policy-store.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { ASKS, exec, launch, openApprovalStage } from '../../support/approval-stage.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import type { TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let ran: string[];
let id: string;
afterEach(() => setup[Symbol.asyncDispose]());

async function open(...wanted: Parameters<typeof openApprovalStage>): Promise<void> {
  ({ setup, ran, id } = await openApprovalStage(...wanted));
}

describe('an approval', () => {
  it('is for this call and spent by it: the same call asks again', async () => {
    await open([launch, launch, { text: 'Done.' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect(ran).toEqual(['launch']);
    expect(await setup.dataOf(id, 'permission.resolved')).toMatchObject([{ decision: 'allowed' }]);
    expect(await setup.requests(id)).toHaveLength(1);
  });

  it('is bound to tool, input and folder: the request says to what, and calls that differ are told apart', async () => {
    const calls = [{ a: 1 }, { a: 2 }, JSON.parse('{"a":1,"__proto__":{"x":1}}') as object, { a: 1 }].map((input) => ({
      name: 'launch',
      input,
    }));
    await open([{ calls }]);
    await setup.runtime.wake(id);
    const hashes = (await setup.dataOf(id, 'permission.requested')).map(({ hash }) => hash);
    expect(hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash ?? ''))).toBe(true);
    expect(new Set(hashes).size).toBe(3);
    expect(hashes[3]).toBe(hashes[0]);
    expect((await setup.dataOf(id, 'permission.requested'))[0]?.cwd).toBe(
      await setup.layout.workspaceDirectory({ agentId: 'worker', sessionId: id }),
    );
  });

  it('is worth nothing once the session works elsewhere: the call does not run, and the model is told', async () => {
    await open([launch, { text: 'Elsewhere.' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id);
    const moved: SessionDirectories = {
      agentDirectory: (agentId) => setup.layout.agentDirectory(agentId),
      workspaceDirectory: async () => '/somewhere/else',
    };
    setup.open({ directories: moved });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Elsewhere.' });
    expect(ran).toEqual([]);
    expect(await setup.results(id)).toMatchObject([
      { outcome: 'denied', output: expect.stringContaining('does not count any more') },
    ]);
    expect(await setup.dataOf(id, 'permission.resolved')).toMatchObject([{ decision: 'expired' }]);
  });

  describe('of a session whose own workspace goes from machine to machine', () => {
    const workspaceCopies: WorkspaceCopies = {
      arrive: async () => ({ host: { id: 'here', name: 'here' }, notes: [], leave: async () => [] }),
    };
    const lies = (workspace: string): SessionDirectories => ({
      agentDirectory: (agentId) => setup.layout.agentDirectory(agentId),
      workspaceDirectory: async () => workspace,
    });
    const at = (workspace: string): TurnSetupOptions => ({ workspaceCopies, directories: lies(workspace) });
    /** Runs in a folder that the test moves about. */
    let cwd = '';
    const inFolder = noteTools();
    const tools = [
      inFolder.tool('shell_do', {
        subject: (input) => ({ kind: 'shell', command: String((input as { command: unknown }).command), cwd }),
      }),
    ];
    const asked = async (folder: string, options: (workspace: string) => TurnSetupOptions = at): Promise<void> => {
      inFolder.ran.length = 0;
      await open([exec('make'), { text: 'Done.' }], { tools });
      cwd = folder;
      setup.open(options('/one/ws'));
      await setup.runtime.wake(id);
      await setup.confirm(id, { toolName: 'shell_do' });
    };
    const wokenAt = async (folder: string, workspace: string): Promise<readonly [string, readonly string[]]> => {
      cwd = folder;
      setup.open(at(workspace));
      return [(await setup.runtime.wake(id)).outcome, [...inFolder.ran]];
    };

    it.each([
      ['in the workspace', '/one/ws', '/two/ws'],
      ['below it', '/one/ws/src/deep', '/two/ws/src/deep'],
      ['outside it, in the same folder', '/srv/data', '/srv/data'],
    ])('holds on another machine: %s', async (_where, one, two) => {
      await asked(one);
      expect(await wokenAt(two, '/two/ws')).toEqual(['sleep', ['shell_do']]);
    });

    it.each([
      ['below the workspace once it was in it', '/one/ws', '/two/ws/src'],
      ['in it once it was outside', '/srv/data', '/two/ws'],
      ['in it once it was outside under a name like that', '/one/ws-of-others/src', '/two/ws/src'],
      ['outside it once it was in it', '/one/ws/src', '/srv/data'],
      ["where it was, which is another machine's folder", '/one/ws', '/one/ws'],
      ['out of it by a way that is not plain', '/one/ws/../data', '/two/ws/../data'],
    ])('asks again, and runs nothing: %s', async (_where, one, two) => {
      await asked(one);
      expect(await wokenAt(two, '/two/ws')).toEqual(['requires_action', []]);
      expect(await setup.dataOf(id, 'permission.resolved')).toMatchObject([{ decision: 'expired' }]);
    });

    it('and was given before approvals went along holds where it was given, and asks again elsewhere', async () => {
      const before = (workspace: string): TurnSetupOptions => ({ directories: lies(workspace) });
      await asked('/one/ws', before);
      expect(await wokenAt('/one/ws', '/one/ws')).toEqual(['sleep', ['shell_do']]);
      await setup[Symbol.asyncDispose]();
      await asked('/one/ws', before);
      expect(await wokenAt('/two/ws', '/two/ws')).toEqual(['requires_action', []]);
    });
  });

  it('asks again once the session works in another environment, and says where a command would run', async () => {
    const entered = (fingerprint: string, sandbox: boolean): TurnSetupOptions => ({
      environments: {
        idFor: () => 'e',
        bind: async (_session, agent) => ({ environmentId: 'e', agent }),
        require: async () => undefined,
        enter: async ({ agent }) => ({
          agent,
          environment: {
            definition: { ...HOST_ENVIRONMENT, environmentId: 'e' },
            fingerprint,
            within: [],
            mounts: [],
            secrets: NO_SECRETS,
            ...(sandbox
              ? {
                  sandbox: { kind: 'bubblewrap', wrapCommand: (command) => command, wrapProgram: (program) => program },
                }
              : {}),
          },
        }),
      },
    });
    await open([exec('make'), { text: 'Done.' }], entered('one', true));
    await setup.runtime.wake(id);
    await setup.confirm(id, { toolName: 'shell_do' });
    setup.open(entered('one', false));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect(ran).toEqual([]);
    expect((await setup.dataOf(id, 'permission.requested')).map(({ because }) => because)).toEqual([
      expect.stringContaining('in the sandbox of environment e'),
      expect.stringContaining('on the host, without a sandbox'),
    ]);
    expect(await setup.dataOf(id, 'permission.resolved')).toMatchObject([{ decision: 'expired' }]);
    await setup.confirm(id, { toolName: 'shell_do' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(ran).toHaveLength(1);
  });

  it('of a log that says nothing about environments asks again where there are some', async () => {
    await open([launch, { text: 'Done.' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id);
    setup.open({
      environments: {
        idFor: () => 'e',
        bind: async (_session, agent) => ({ environmentId: 'e', agent }),
        require: async () => undefined,
        enter: async ({ agent }) => ({
          agent,
          environment: {
            definition: HOST_ENVIRONMENT,
            fingerprint: 'one',
            within: [],
            mounts: [],
            secrets: NO_SECRETS,
          },
        }),
      },
    });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect([ran, await setup.requests(id)]).toEqual([[], expect.objectContaining({ length: 1 })]);
  });

  it('is worth nothing against a rule that has forbidden the call since', async () => {
    await open([exec('make clean'), { text: 'Forbidden.' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id, { toolName: 'shell_do' });
    await setup.policy.keep('worker', parseRule('deny shell_do(make clean)'), {
      by: { sessionId: id, requestId: 'r' },
    });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Forbidden.' });
    expect(ran).toEqual([]);
    expect(await setup.results(id)).toMatchObject([
      { outcome: 'denied', output: expect.stringContaining('deny shell_do') },
    ]);
    expect(await setup.dataOf(id, 'permission.resolved')).toMatchObject([{ decision: 'denied' }]);
  });

  it('holds in a process that cannot ask anybody: it was given before', async () => {
    await open([launch, { text: 'Done.' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id);
    setup.open({ humans: 'none' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    expect(ran).toEqual(['launch']);
  });

  it('that denies runs nothing, and its note reaches the model', async () => {
    await open([launch, { text: 'A pity.' }]);
    await setup.runtime.wake(id);
    const [requestId = ''] = await setup.requests(id);
    await setup.runtime.sessions.send(id, {
      type: 'user.tool_confirmation',
      requestId,
      toolName: 'launch',
      allowed: false,
      note: 'not today',
    });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual([]);
    expect(setup.asked.at(-1)?.read).toContain('not today');
  });

  it('that was not acted upon when somebody cut the session short is void', async () => {
    await open([launch, { text: 'x' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id);
    await setup.runtime.sessions.interrupt(id);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'nothing_to_do' });
    expect(ran).toEqual([]);
    expect(await setup.results(id)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await setup.due()).toEqual([]);
  });
});

describe('an approval for the session', () => {
  it('lets calls that its rule covers run, in this session only, and after a restart too', async () => {
    const steps = [exec('make test'), exec('make test'), { text: 'Done.' }];
    await open(steps);
    await setup.runtime.wake(id);
    expect((await setup.state(id)).pendingActions[0]?.rules).toHaveLength(1);
    await setup.confirm(id, { toolName: 'shell_do', scope: 'session' });
    setup.open();
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(ran).toEqual(['shell_do', 'shell_do']);
    expect((await setup.dataOf(id, 'agent.tool_started')).map(({ allowedBy }) => allowedBy?.kind)).toEqual([
      'person',
      'session_rule',
    ]);
    const other = await setup.start('worker');
    expect(await setup.runtime.wake(other)).toMatchObject({ outcome: 'requires_action' });
    expect(await setup.policy.rules('worker')).toEqual([]);
  });

  it('is not given to a fork of the session', async () => {
    await open([exec('make test'), { text: 'Done.' }, exec('make test'), { text: 'Again.' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id, { toolName: 'shell_do', scope: 'session' });
    await setup.runtime.wake(id);
    const { sessionId: fork } = await setup.runtime.sessions.fork(id);
    for (const each of [id, fork]) await setup.runtime.sessions.send(each, { type: 'user.message', text: 'Again' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(await setup.runtime.wake(fork)).toMatchObject({ outcome: 'requires_action' });
    expect(ran).toHaveLength(2);
  });

  it('covers nothing but what its rule says', async () => {
    await open([exec('make test'), exec('make clean'), { text: 'x' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id, { toolName: 'shell_do', scope: 'session' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect(ran).toEqual(['shell_do']);
  });

  it('counts for the calls that wait already only when somebody allows those too', async () => {
    await open([
      {
        calls: [
          { name: 'shell_do', input: { command: 'make test' } },
          { name: 'shell_do', input: { command: 'make test' } },
        ],
      },
      { text: 'x' },
    ]);
    await setup.runtime.wake(id);
    await setup.confirm(id, { toolName: 'shell_do', scope: 'session' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect(ran).toEqual(['shell_do']);
  });
});

describe('an approval for always', () => {
  it('is kept in the policy, and holds in other sessions of the agent and of no other one', async () => {
    await open([exec('make test'), { text: 'Done.' }]);
    await setup.agent('stranger', [exec('make test'), { text: 'Done.' }], ASKS);
    await setup.runtime.wake(id);
    const [requestId] = await setup.requests(id);
    await setup.confirm(id, { toolName: 'shell_do', scope: 'always' });
    expect(await setup.policy.rules('worker')).toEqual([]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(await setup.policy.rules('worker')).toMatchObject([{ by: { sessionId: id, requestId } }]);
    const [own, strange] = [await setup.start('worker'), await setup.start('stranger')];
    expect(await setup.runtime.wake(own)).toMatchObject({ outcome: 'sleep' });
    expect((await setup.dataOf(own, 'agent.tool_started'))[0]?.allowedBy?.kind).toBe('policy');
    expect(await setup.runtime.wake(strange)).toMatchObject({ outcome: 'requires_action' });
  });

  it('that cannot be kept allows this call, and somebody hears of it', async () => {
    const policy = new MemoryPolicyStore({ clock: { now: () => 0 } });
    policy.keep = () => Promise.reject(new Error('the disk is full'));
    await open([exec('make test'), { text: 'Done.' }], { policy });
    await setup.runtime.wake(id);
    await setup.confirm(id, { toolName: 'shell_do', scope: 'always' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    expect(ran).toEqual(['shell_do']);
    expect(setup.reported).toMatchObject([{ message: 'the disk is full' }]);
  });

  it.each(['session', 'always'] as const)(
    'or for the %s is refused where no rule would cover the call and nothing else',
    async (scope) => {
      await open([exec('make test > $(cat target)')]);
      await setup.runtime.wake(id);
      expect(await codeOf(setup.confirm(id, { toolName: 'shell_do', scope }))).toBe('REQUEST_SCOPE_REFUSED');
      expect(await setup.requests(id)).toHaveLength(1);
      await setup.confirm(id, { toolName: 'shell_do', scope: 'once' });
      await setup.runtime.wake(id);
      expect(ran).toEqual(['shell_do']);
    },
  );
});
