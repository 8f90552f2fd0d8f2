/** Backends that run tools of their own, and ask before they do: who decides, how long that holds, and by which rules. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunPermissionAnswer, RunToolMeaning } from '../../../src/actors/run/agent-runtime.ts';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import {
  answered,
  ask,
  ends,
  openAskingBackend,
  openBackendSetup,
  requests,
  starts,
} from '../../support/backend-setup.ts';
import type { BackendSetup, BackendSetupOptions } from '../../support/backend-setup.ts';
import { until } from '../../support/session-setup.ts';
import type { Act } from '../../support/told-runtime.ts';

let open: BackendSetup;
let ran: string[];
let answers: RunPermissionAnswer[];
afterEach(() => open.setup[Symbol.asyncDispose]());

async function stage(acts: readonly Act[], options?: BackendSetupOptions): Promise<void> {
  open = await openBackendSetup(acts, options);
}

async function stageAsking(...wanted: Parameters<typeof openAskingBackend>): Promise<void> {
  ({ open, ran, answers } = await openAskingBackend(...wanted));
}

/** Wakes the session, and lets somebody answer once they are asked. */
async function wakeAnd(act: () => Promise<unknown>) {
  const waking = open.wake();
  await until(() => open.isAsked());
  await act();
  return waking;
}

describe('permission in the middle of a turn', () => {
  it('is asked, answered while the wake runs, and in the log before anything happens', async () => {
    await stageAsking();
    expect(await wakeAnd(() => open.confirm())).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    expect([ran, await open.story()]).toEqual([
      ['1'],
      ['use Bash by backend', 'asked', 'resolved allowed', 'started, allowed by person', 'completed', 'says Done.'],
    ]);
  });

  it('is denied with what somebody says about it', async () => {
    await stageAsking();
    await wakeAnd(async () => {
      const [requestId = ''] = await open.setup.requests(open.id);
      await open.setup.runtime.sessions.send(open.id, {
        type: 'user.tool_confirmation',
        requestId,
        toolName: 'Bash',
        allowed: false,
        note: 'not on a Friday',
      });
    });
    expect([ran, answers]).toEqual([[], [{ decision: 'deny', message: 'The call was denied. not on a Friday' }]]);
    expect((await open.story()).slice(1, 4)).toEqual(['asked', 'resolved denied', 'denied']);
  });

  it('is void after ten minutes, and nobody is asked any more', async () => {
    await stageAsking();
    const waking = open.wake();
    await until(() => open.isAsked());
    await open.setup.clock.advance(599_999);
    expect(answers).toEqual([]);
    await open.setup.clock.advance(1);
    await waking;
    expect([ran, answers]).toMatchObject([[], [{ decision: 'deny' }]]);
    expect((await open.story()).slice(1, 4)).toEqual(['asked', 'resolved expired', 'denied']);
    expect(await open.setup.state(open.id)).toMatchObject({ pendingActions: [], pending: [] });
  });

  it.each<[string, () => Promise<unknown>, object]>([
    [
      'is taken back when somebody interrupts',
      () => open.setup.runtime.sessions.interrupt(open.id),
      { outcome: 'interrupted' },
    ],
    [
      'is taken back when the wake is stopped',
      async () => void open.setup.runtime.shutdown('enough'),
      { outcome: 'aborted' },
    ],
    [
      "is nobody's when the session is terminated",
      () => open.setup.runtime.sessions.terminate(open.id),
      { outcome: 'terminated' },
    ],
  ])('%s', async (_what, act, outcome) => {
    await stageAsking();
    expect(await wakeAnd(act)).toMatchObject(outcome);
    expect([ran, answers]).toEqual([[], [{ decision: 'deny', message: 'The turn was stopped.' }]]);
    const state = open.setup.open();
    expect(await state.sessions.get(open.id)).toMatchObject({
      pendingActions: [],
      openToolCalls: [],
      openSpanId: undefined,
    });
  });

  it('is withdrawn by whoever asked', async () => {
    const withdrawal = new AbortController();
    await stageAsking({ signal: withdrawal.signal });
    await wakeAnd(async () => withdrawal.abort());
    expect([ran, answers]).toEqual([[], [{ decision: 'deny', message: 'The question was withdrawn.' }]]);
    expect((await open.story()).slice(1, 4)).toEqual(['asked', 'taken back', 'cancelled']);
  });

  it('that is denied in the moment in which a client interrupts has one result', async () => {
    const store = new HookedStore();
    await stageAsking({}, { store });
    const waking = open.wake();
    await until(() => open.isAsked());
    store.before('permission.resolved', () => open.setup.open().sessions.interrupt(open.id));
    const [requestId = ''] = await open.setup.requests(open.id);
    const no = { type: 'user.tool_confirmation', requestId, toolName: 'Bash', allowed: false } as const;
    await open.setup.runtime.sessions.send(open.id, no);
    expect(await waking).toMatchObject({ outcome: 'interrupted' });
    expect([ran, await open.setup.results(open.id)]).toMatchObject([[], [{ outcome: 'cancelled' }]]);
  });

  it('that is answered in the moment before the backend waits is not missed', async () => {
    const store = new HookedStore();
    await stageAsking({}, { store });
    const { append } = store;
    // Somebody answers before the append of the question has come back, and nothing is appended after that.
    store.append = async (...given) => {
      const result = await append.apply(store, given);
      if (given[1].some(({ type }) => type === 'permission.requested')) await open.confirm();
      return result;
    };
    expect(await open.wake()).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    expect(ran).toEqual(['1']);
  });

  it('of several at once is each its own', async () => {
    const given: Record<string, string> = {};
    await stage([
      async (params, tell) => {
        await Promise.all(
          ['a', 'b', 'c'].map(async (callId) => {
            requests(tell, callId, 'Bash', { command: `make ${callId}` });
            given[callId] = (
              await ask(params, { callId, name: 'Bash', input: { command: `make ${callId}` } })
            ).decision;
          }),
        );
        return answered('x');
      },
    ]);
    const waking = open.wake();
    await until(() => open.isAsked(3));
    const [one, two, three] = await open.setup.requests(open.id);
    await Promise.all([
      open.confirm({ requestId: three ?? '' }),
      open.confirm({ requestId: one ?? '', allowed: false }),
    ]);
    await open.confirm({ requestId: two ?? '' });
    expect(await waking).toMatchObject({ outcome: 'sleep' });
    expect(given).toEqual({ a: 'deny', b: 'allow', c: 'allow' });
  });

  it('that is asked twice about the same is one question with one answer', async () => {
    let given: readonly RunPermissionAnswer[] = [];
    await stage([
      async (params) => {
        const request = { callId: '1', name: 'Bash', input: { command: 'make' } };
        given = await Promise.all([ask(params, request), ask(params, request)]);
        return answered('x');
      },
    ]);
    expect(await wakeAnd(() => open.confirm())).toMatchObject({ outcome: 'sleep' });
    expect([given.map(({ decision }) => decision), (await open.story()).filter((each) => each === 'asked')]).toEqual([
      ['allow', 'allow'],
      ['asked'],
    ]);
  });

  it('for one thing is none for another under the same id', async () => {
    let second: RunPermissionAnswer | undefined;
    await stage([
      async (params) => {
        await ask(params, { callId: '1', name: 'Bash', input: { command: 'make' } });
        second = await ask(params, { callId: '1', name: 'Bash', input: { command: 'rm -rf .' } });
        return answered('x');
      },
    ]);
    const waking = open.wake();
    await until(() => open.isAsked());
    await open.confirm();
    await until(async () => (await open.story()).filter((each) => each === 'asked').length === 2);
    await open.confirm({ allowed: false });
    await waking;
    expect(second?.decision).toBe('deny');
    expect((await open.setup.dataOf(open.id, 'agent.tool_use')).map(({ input }) => input)).toEqual([
      { command: 'make' },
      { command: 'rm -rf .' },
    ]);
  });

  it('is spent with its call: asked again after it has ended, somebody decides again', async () => {
    await stage([
      async (params, tell) => {
        const request = { callId: '1', name: 'Bash', input: { command: 'make' } };
        requests(tell, '1', 'Bash', request.input);
        await ask(params, request);
        ends(tell, '1');
        await ask(params, request);
        return answered('x');
      },
    ]);
    const waking = open.wake();
    await until(() => open.isAsked());
    await open.confirm();
    await until(async () => (await open.story()).filter((each) => each === 'asked').length === 2);
    await open.confirm({ allowed: false });
    await waking;
    expect((await open.story()).filter((each) => each.startsWith('resolved'))).toEqual([
      'resolved allowed',
      'resolved denied',
    ]);
  });

  it('is not needed by one that was told to have started, where a rule allows it', async () => {
    await stage(
      [
        async (params, tell) => {
          requests(tell, '1');
          starts(tell, '1');
          const { decision } = await ask(params, { callId: '1', name: 'Bash', input: { command: 'ls' } });
          ends(tell, '1');
          return answered(decision);
        },
      ],
      { agent: { permission: { mode: 'ask', allow: ['Bash'] } } as never },
    );
    expect(await open.wake()).toMatchObject({ outcome: 'sleep', summary: 'allow' });
  });

  it('is answered for a call that ended meanwhile: it comes too late', async () => {
    let answer: RunPermissionAnswer | undefined;
    await stage([
      async (params, tell) => {
        const asking = ask(params, { callId: '1', name: 'Bash', input: {} });
        await until(() => open.isAsked());
        ends(tell, '1', 'did it anyway');
        answer = await asking;
        return answered('x');
      },
    ]);
    expect(await open.wake()).toMatchObject({ outcome: 'sleep' });
    expect([answer?.decision, (await open.story()).slice(1, 4)]).toEqual([
      'deny',
      ['asked', 'taken back', 'completed'],
    ]);
    expect(await open.setup.requests(open.id)).toEqual([]);
  });

  it('lasts as long as was said: for the session, and for always', async () => {
    await stageAsking(
      { means: { kind: 'command', command: 'npm run build' } },
      { readShell, agent: { permission: 'ask' } },
    );
    expect(await wakeAnd(() => open.confirm({ scope: 'session' }))).toMatchObject({ summary: 'Done.' });
    await open.setup.runtime.sessions.send(open.id, { type: 'user.message', text: 'Again' });
    expect(await open.wake()).toMatchObject({ summary: 'Done.' });
    expect((await open.story()).filter((each) => each.startsWith('started'))).toEqual([
      'started, allowed by person',
      'started, allowed by session_rule',
    ]);
    const other = await open.setup.start('worker');
    const waking = open.setup.runtime.wake(other);
    await until(async () => (await open.setup.requests(other)).length === 1);
    await open.setup.confirm(other, { toolName: 'Bash', scope: 'always' });
    await waking;
    expect(await open.setup.policy.rules('worker')).toHaveLength(1);
    const third = await open.setup.start('worker');
    expect(await open.setup.runtime.wake(third)).toMatchObject({ summary: 'Done.' });
    expect(ran).toHaveLength(4);
  });

  it('that somebody has denied for always meanwhile is none', async () => {
    await stageAsking(
      { means: { kind: 'command', command: 'npm run build' } },
      { readShell, agent: { permission: 'ask' } },
    );
    await wakeAnd(async () => {
      await open.setup.policy.keep('worker', parseRule('deny shell_run(npm run build)'), { by: 'person' } as never);
      await open.confirm();
    });
    expect([ran, answers]).toMatchObject([
      [],
      [{ decision: 'deny', message: expect.stringContaining('denied after all') as string }],
    ]);
  });
});

describe('what a backend would do is judged as if our tools did it', () => {
  interface Row {
    readonly means?: RunToolMeaning;
    readonly agent?: BackendSetupOptions['agent'];
    readonly name?: string;
    readonly humans?: 'none';
  }
  const judged = async ({ means, agent, name = 'Bash', humans }: Row): Promise<string> => {
    const store = new HookedStore();
    await stageAsking(
      { name, ...(means === undefined ? {} : { means }) },
      {
        store,
        readShell,
        tools: createFileTools(),
        agent: agent ?? { permission: 'ask' },
        ...(humans === undefined ? {} : { humans }),
      },
    );
    const { workspaceDir } = await workspaceOf();
    await mkdir(workspaceDir, { recursive: true });
    await writeFile(join(workspaceDir, 'inside.txt'), 'x');
    await symlink('/etc/hostname', join(workspaceDir, 'link'));
    const waking = open.wake();
    await until(async () => (await open.isAsked()) || answers.length > 0);
    if (answers.length > 0) {
      await waking;
      return answers[0]?.decision ?? '';
    }
    await open.setup.runtime.sessions.interrupt(open.id);
    await waking;
    return 'ask';
  };
  const workspaceOf = async () => ({
    workspaceDir: await open.setup.layout.workspaceDirectory({ sessionId: open.id, agentId: 'worker' }),
  });

  it.each<[string, Row, string]>([
    ['a command that no rule allows', { means: { kind: 'command', command: 'git push' } }, 'ask'],
    [
      'a command that is allowed',
      {
        means: { kind: 'command', command: 'npm run build' },
        agent: { permission: { mode: 'ask', allow: ['shell_run(npm run build)'] } } as never,
      },
      'allow',
    ],
    [
      'a command of which one part is allowed',
      {
        means: { kind: 'command', command: 'npm run build && rm -rf /' },
        agent: { permission: { mode: 'ask', allow: ['shell_run(npm run build)'] } } as never,
      },
      'ask',
    ],
    [
      'a command that is denied',
      {
        means: { kind: 'command', command: 'npm run build; git push' },
        agent: { permission: { mode: 'preapproved', deny: ['shell_run(git push)'] } } as never,
      },
      'deny',
    ],
    [
      'a command in a folder outside',
      {
        means: { kind: 'command', command: 'npm run build', cwd: '/' },
        agent: { permission: { mode: 'ask', allow: ['shell_run(npm run build)'] } } as never,
      },
      'ask',
    ],
    [
      'a command where everything is allowed',
      { means: { kind: 'command', command: 'anything' }, agent: { permission: 'preapproved' } },
      'allow',
    ],
    ['a file that is read in the workspace', { means: { kind: 'read', path: 'inside.txt' } }, 'allow'],
    ['a file that is written', { means: { kind: 'write', path: 'inside.txt' } }, 'ask'],
    [
      'a file that may be written',
      {
        means: { kind: 'write', path: 'inside.txt' },
        agent: { permission: { mode: 'ask', allow: ['write(*.txt)'] } } as never,
      },
      'allow',
    ],
    [
      'a file that may be written, through a way out',
      {
        means: { kind: 'write', path: '../../inside.txt' },
        agent: { permission: { mode: 'ask', allow: ['write(**)'] } } as never,
      },
      'ask',
    ],
    [
      'a link that leads out of the workspace',
      { means: { kind: 'write', path: 'link' }, agent: { permission: { mode: 'ask', allow: ['write(**)'] } } as never },
      'ask',
    ],
    ['a file with the name of a secret', { means: { kind: 'read', path: '.env' } }, 'ask'],
    [
      'a file that nobody may read',
      {
        means: { kind: 'read', path: 'inside.txt' },
        agent: { permission: { mode: 'preapproved', deny: ['read(inside.txt)'] } } as never,
      },
      'deny',
    ],
    [
      'a file that is written where everything is allowed, but a rule is against it',
      {
        means: { kind: 'write', path: 'inside.txt' },
        agent: { permission: { mode: 'preapproved', ask: ['write(inside.txt)'] } } as never,
      },
      'ask',
    ],
    ['a tool that nobody here knows', { name: 'Mystery', agent: { permission: 'preapproved' } }, 'ask'],
    [
      'a tool that nobody here knows, by its name',
      { name: 'Mystery', agent: { permission: { deny: ['Mystery'] } } },
      'deny',
    ],
    [
      'anything where the agent may run no tools',
      { means: { kind: 'read', path: 'inside.txt' }, agent: { permission: 'deny' } },
      'deny',
    ],
    [
      'a question where nobody can be asked',
      { means: { kind: 'command', command: 'npm run x' }, humans: 'none' },
      'deny',
    ],
  ])('%s', async (_what, row, expected) => {
    expect(await judged(row)).toBe(expected);
    if (expected === 'deny')
      expect((await open.story()).slice(0, 2)).toEqual([expect.stringContaining('by backend') as string, 'denied']);
    expect(ran).toEqual(expected === 'allow' ? ['1'] : []);
  });
});
