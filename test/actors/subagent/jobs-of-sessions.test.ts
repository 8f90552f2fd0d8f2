/**
 * Jobs that work for a session: its log says when they begin and how they end, they live within its bounds, and they
 * end with it.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { SubagentSpawnRequest } from '../../../src/machines/subagent/subagent-request.ts';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { until } from '../../support/session-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Model, Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let ran: string[];
afterEach(() => setup[Symbol.asyncDispose]());

const launch: Said = { calls: [{ name: 'launch' }] };

async function open(fixer: Model | readonly Said[], lead: Partial<AgentFrontmatter> = {}): Promise<string> {
  const tools = noteTools();
  ran = tools.ran;
  setup = await openTurnSetup({
    tools: [tools.tool('launch', { permissionPolicy: 'always_ask' }), tools.tool('check')],
  });
  await setup.agent('fixer', fixer, { tools: ['launch', 'check'] });
  await setup.agent('lead', [{ text: 'I have read it.' }], lead);
  return (await setup.runtime.sessions.create({ agentId: 'lead' })).sessionId;
}

const spawn = (
  parentSessionId: string,
  changes: Partial<SubagentSpawnRequest> = {},
): ReturnType<TurnSetup['runtime']['subagents']['spawn']> =>
  setup.runtime.subagents.spawn({
    type: 'fixer',
    prompt: 'Fix it.',
    cwd: setup.layout.home,
    parentSessionId,
    permissionPolicy: 'prompt',
    ...changes,
  });

const codeOf = (working: Promise<unknown>): Promise<string> =>
  working.then(
    () => 'none',
    (error: unknown) => (RuntimeError.is(error) ? error.code : 'other'),
  );

describe('the log of a session', () => {
  it('says when a job begins and how it ends, and the session is due with its end', async () => {
    const parent = await open([{ text: 'Fixed.', usage: { inputTokens: 30, outputTokens: 10 } }]);
    const { id } = await spawn(parent);
    await setup.runtime.subagents.wait(id);
    const [started] = await setup.dataOf(parent, 'subagent.started');
    const [ended] = await setup.dataOf(parent, 'subagent.ended');
    expect(started).toMatchObject({ jobId: id, agentId: 'fixer', prompt: 'Fix it.' });
    expect(ended).toMatchObject({
      jobId: id,
      childSessionId: started?.childSessionId,
      status: 'completed',
      summary: 'Fixed.',
      used: { tokens: 40 },
    });
    expect(await setup.dataOf(parent, 'session.child_idle')).toEqual([]);
    expect(await setup.state(parent)).toMatchObject({
      jobs: [],
      used: { tokens: 40 },
      children: [{ sessionId: started?.childSessionId }],
    });
    expect(await setup.due()).toEqual([parent]);
    await setup.settle();
    expect(setup.asked.at(-1)?.read).toContain(`The subagent job ${id} (fixer) has finished: Fixed.`);
    expect(await setup.due()).toEqual([]);
  });

  it('says why a job failed, and nobody goes on with its session', async () => {
    const parent = await open(() => ({ error: { kind: 'auth', message: 'no key' } }));
    const { id } = await spawn(parent);
    expect(await codeOf(setup.runtime.subagents.wait(id))).toBe('RUN_FAILED');
    const [ended] = await setup.dataOf(parent, 'subagent.ended');
    expect(ended).toMatchObject({
      status: 'failed',
      error: { code: 'RUN_FAILED', message: expect.stringContaining('no key') },
    });
    expect(await setup.state(ended?.childSessionId ?? '')).toMatchObject({ status: 'terminated' });
  });

  it('says that a job was cancelled', async () => {
    const parent = await open([launch]);
    const { id } = await spawn(parent);
    await until(() => setup.runtime.subagents.get(id)?.status === 'waiting_permission');
    await setup.runtime.subagents.cancel(id, 'not needed');
    expect(await setup.dataOf(parent, 'subagent.ended')).toMatchObject([
      { jobId: id, status: 'cancelled', error: { message: expect.stringContaining('not needed') } },
    ]);
  });

  it('refuses a job of a session that is not there, or is over, and nothing is begun', async () => {
    const parent = await open([]);
    expect(await codeOf(spawn('0192f0c1-2345-7abc-8def-0123456789ab'))).toBe('SESSION_NOT_FOUND');
    await setup.runtime.sessions.terminate(parent);
    expect(await codeOf(spawn(parent))).toBe('SESSION_TERMINATED');
    expect(setup.runtime.subagents.list()).toEqual([]);
    expect(setup.asked).toEqual([]);
  });

  it('refuses a job of a job that nobody knows', async () => {
    await open([]);
    expect(await codeOf(spawn('local', { parentJobId: 'agent_99' }))).toBe('SUBAGENT_NOT_FOUND');
  });

  it('leaves a request open when the answer is none', async () => {
    const parent = await open([launch, { text: 'Launched.' }]);
    const { id } = await spawn(parent);
    let requestId = '';
    setup.runtime.subagents.subscribe((event) => {
      if (event.type === 'background_task_permission_request') requestId = event.requestId;
    });
    await until(() => requestId !== '');
    const wrong: unknown = 'yes';
    expect(await codeOf(setup.runtime.subagents.answerPermission(id, requestId, wrong as boolean))).toBe(
      'TASK_INPUT_INVALID',
    );
    await setup.runtime.subagents.answerPermission(id, requestId, true);
    expect(await setup.runtime.subagents.wait(id)).toMatchObject({ output: 'Launched.' });
  });

  it('is not needed: a job may work for none', async () => {
    await open([{ text: 'Fixed.' }]);
    const { id } = await spawn('my-program');
    expect(await setup.runtime.subagents.wait(id)).toMatchObject({ output: 'Fixed.' });
  });
});

describe('a job of a session', () => {
  it('gets a share of what is left of its budget', async () => {
    const parent = await open([{ text: 'Fixed.' }], { budget: { maxTokensPerSession: 8_000 } });
    const { id } = await spawn(parent);
    await setup.runtime.subagents.wait(id);
    const [started] = await setup.dataOf(parent, 'subagent.started');
    expect(started?.allowance).toEqual({ tokens: 1_000 });
    expect(await setup.state(started?.childSessionId ?? '')).toMatchObject({ allowance: { tokens: 1_000 } });
  });

  it('may not do what its parent may not do', async () => {
    const parent = await open([{ calls: [{ name: 'check' }] }, { text: 'I may not.' }], {
      permission: { mode: 'preapproved', deny: ['check'] },
    });
    const { id } = await spawn(parent);
    await setup.runtime.subagents.wait(id);
    expect(ran).toEqual([]);
  });

  it('may do what its parent may do without asking, if it inherits that', async () => {
    const parent = await open([launch, { text: 'Launched.' }], { permission: { mode: 'ask', allow: ['launch'] } });
    const { id } = await spawn(parent, { permissionPolicy: 'inherit-allowlist' });
    await setup.runtime.subagents.wait(id);
    expect(ran).toEqual(['launch']);
  });

  it('ends with it: when the session has been terminated, nothing of the job runs', async () => {
    let isAsked = false;
    const parent = await open(async ({ abortSignal }) => {
      isAsked = true;
      await new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
      return {};
    });
    const { id } = await spawn(parent);
    await until(() => isAsked);
    await setup.runtime.sessions.terminate(parent, { reason: 'over' });
    const job = setup.runtime.subagents.get(id);
    expect(['cancelled', 'failed']).toContain(job?.status);
    expect(await setup.dataOf(parent, 'subagent.ended')).toHaveLength(1);
  });

  it('ends with it too when another process terminates it', async () => {
    const parent = await open([launch]);
    const { id } = await spawn(parent);
    const first = setup.runtime;
    await until(() => first.subagents.get(id)?.status === 'waiting_permission');
    await setup.open().sessions.terminate(parent, { reason: 'over' });
    expect(await codeOf(first.subagents.wait(id))).toBe('SUBAGENT_SESSION_TERMINATED');
  });

  it('goes on when only the turn of the session is cut short', async () => {
    const parent = await open([launch, { text: 'Launched.' }]);
    const { id } = await spawn(parent);
    await until(() => setup.runtime.subagents.get(id)?.status === 'waiting_permission');
    await setup.runtime.sessions.interrupt(parent);
    const [child] = (await setup.state(parent)).children;
    await setup.confirm(child?.sessionId ?? '');
    expect(await setup.runtime.subagents.wait(id)).toMatchObject({ output: 'Launched.' });
  });
});

describe('what bounds a session', () => {
  const check: Said = { calls: [{ name: 'check' }] };
  const checking = (): Said[] => [check, { text: 'I may not.' }];
  const by = { sessionId: '0192f0c1-2345-7abc-8def-0123456789ab', requestId: '0192f0c1-2345-7abc-8def-0123456789ac' };

  it('binds its jobs by what is kept for its agent too', async () => {
    const parent = await open(checking(), { permission: 'preapproved' });
    await setup.policy.keep('lead', parseRule('deny check'), { by });
    const { id } = await spawn(parent, { permissionPolicy: 'preapproved' });
    await setup.runtime.subagents.wait(id);
    expect(ran).toEqual([]);
  });

  it('asks for all that its jobs do where the policy cannot be read, or its agent is gone', async () => {
    const parent = await open(checking(), { permission: 'preapproved' });
    const policy = {
      ...setup.policy,
      keep: () => Promise.resolve(),
      remove: () => Promise.resolve(false),
      rules: () => Promise.reject(new Error('torn')),
    };
    setup.open({ policy });
    const { id } = await spawn(parent, { permissionPolicy: 'preapproved' });
    await setup.runtime.subagents.wait(id);
    const [started] = await setup.dataOf(parent, 'subagent.started');
    expect(started?.restriction?.mode).toBe('ask');
    expect(ran).toEqual([]);
  });

  it('binds the jobs of a job by what the request took from that', async () => {
    await open([{ text: 'Done.' }, check, { text: 'I may not.' }]);
    const first = await spawn('nobody', { permissionPolicy: 'deny', disallowedTools: ['check'] });
    const { metadata } = await setup.runtime.subagents.wait(first.id);
    const sessionId = metadata?.['sessionId'] as string;
    const second = await spawn(sessionId, { permissionPolicy: 'preapproved' });
    await setup.runtime.subagents.wait(second.id);
    expect((await setup.dataOf(sessionId, 'subagent.started'))[0]?.restriction).toMatchObject({
      mode: 'deny',
      withoutTools: ['check'],
    });
    expect(ran).toEqual([]);
  });

  it.each([{ disallowedTools: ['check'] }, { allowedTools: ['worker'] }])(
    'takes tools also from the agents that its agent calls: %j',
    async (changes) => {
      await open([{ calls: [{ name: 'worker', input: { message: 'Check.' } }] }, { text: 'Done.' }]);
      await setup.agent('worker', [check, { text: 'I have no such tool.' }], {
        tools: ['check'],
        permission: 'preapproved',
      });
      await setup.agent('boss', [{ calls: [{ name: 'worker', input: { message: 'Check.' } }] }, { text: 'Done.' }], {
        tools: [{ agent: 'worker' }],
        permission: 'preapproved',
      });
      const { id } = await spawn('nobody', { type: 'boss', permissionPolicy: 'preapproved', ...changes });
      expect(await setup.runtime.subagents.wait(id)).toMatchObject({ output: 'Done.' });
      expect(setup.asked.map(({ agent }) => agent)).toContain('worker');
      expect(ran).toEqual([]);
    },
  );

  it('binds a job of a job that names only that', async () => {
    const parent = await open([launch], {
      permission: { mode: 'preapproved', deny: ['check'] },
      budget: { maxTokensPerSession: 80_000 },
    });
    await setup.agent('looker', checking(), { tools: ['check'], permission: 'preapproved' });
    const above = await spawn(parent);
    await until(() => setup.runtime.subagents.get(above.id)?.status === 'waiting_permission');
    const { id } = await setup.runtime.subagents.spawn({
      type: 'looker',
      prompt: 'Go',
      cwd: setup.layout.home,
      parentJobId: above.id,
      permissionPolicy: 'preapproved',
    });
    await setup.runtime.subagents.wait(id);
    const [child] = await setup.dataOf(parent, 'subagent.started');
    const [started] = await setup.dataOf(child?.childSessionId ?? '', 'subagent.started');
    expect(started).toMatchObject({ jobId: id, restriction: { deny: ['check'] } });
    expect(started?.allowance?.tokens).toBeLessThanOrEqual(1_250);
    expect(ran).toEqual([]);
  });

  it('holds back what its jobs were promised, from its own steps and from other jobs', async () => {
    const parent = await open([launch], { budget: { maxTokensPerSession: 8_000 } });
    await Promise.all(Array.from({ length: 12 }, () => spawn(parent)));
    const { jobs } = await setup.state(parent);
    const promised = jobs.map(({ allowance }) => allowance?.tokens ?? 0);
    const sum = promised.reduce((one, other) => one + other, 0);
    expect(promised[0]).toBe(1_000);
    expect(Math.min(...promised)).toBeGreaterThan(0);
    expect(sum).toBeLessThan(8_000);
    await setup.agent('lead', () => ({ text: 'x', usage: { inputTokens: 1, outputTokens: 1 } }));
    await setup.runtime.sessions.send(parent, { type: 'user.message', text: 'x'.repeat(4 * (8_000 - sum)) });
    expect((await setup.runtime.wake(parent)).outcome).toBe('budget_reached');
    expect(setup.asked.filter(({ agent }) => agent === 'lead')).toEqual([]);
  });
});

describe('a job that goes on with a session', () => {
  const codeOfJob = async (changes: Partial<SubagentSpawnRequest>): Promise<string> => {
    const { id } = await spawn('nobody', changes);
    return codeOf(setup.runtime.subagents.wait(id));
  };
  const finished = async (changes: Partial<SubagentSpawnRequest> = {}): Promise<string> => {
    await open(() => ({ text: 'Done.' }));
    const { id } = await spawn('nobody', changes);
    return (await setup.runtime.subagents.wait(id)).metadata?.['sessionId'] as string;
  };

  it('reads what it is told beside what was said', async () => {
    const sessionId = await finished();
    expect(await codeOfJob({ sessionId, prompt: 'And now this.' })).toBe('none');
    expect(setup.asked.at(-1)?.read).toContain('And now this.');
  });

  it.each<[string, Partial<SubagentSpawnRequest>]>([
    ['less may be done', { permissionPolicy: 'deny' }],
    ['more may be done', { permissionPolicy: 'preapproved' }],
    ['a tool is taken away', { disallowedTools: ['check'] }],
    ['only some tools are left', { allowedTools: ['check'] }],
    ['another model is named', { model: 'other' }],
    ['it is elsewhere', { cwd: '/' }],
  ])('is refused when %s than in that session, which lives on', async (_what, changes) => {
    const sessionId = await finished();
    expect(await codeOfJob({ sessionId, ...changes })).toBe('SUBAGENT_SESSION_OTHER');
    expect((await setup.state(sessionId)).status).not.toBe('terminated');
    expect(await codeOfJob({ sessionId })).toBe('none');
  });

  it('is refused before anything is recorded when the session is of another agent, or is not there', async () => {
    const parent = await open([]);
    const other = (await setup.runtime.sessions.create({ agentId: 'lead' })).sessionId;
    expect(await codeOf(spawn(parent, { sessionId: other }))).toBe('SUBAGENT_SESSION_OTHER');
    expect(await codeOf(spawn(parent, { sessionId: '0192f0c1-2345-7abc-8def-0123456789ab' }))).toBe(
      'SESSION_NOT_FOUND',
    );
    expect(await setup.dataOf(parent, 'subagent.started')).toEqual([]);
  });

  it('is refused when it is to work for another session than that one does', async () => {
    const sessionId = await finished();
    const boss = (await setup.runtime.sessions.create({ agentId: 'lead' })).sessionId;
    const { id } = await spawn(boss, { sessionId });
    expect(await codeOf(setup.runtime.subagents.wait(id))).toBe('SUBAGENT_SESSION_OTHER');
  });

  it('leaves it there when it is cancelled, and nothing of it goes on', async () => {
    await open([{ text: 'Done.' }, launch]);
    const first = await spawn('nobody');
    const sessionId = (await setup.runtime.subagents.wait(first.id)).metadata?.['sessionId'] as string;
    const { id } = await spawn('nobody', { sessionId });
    await until(() => setup.runtime.subagents.get(id)?.status === 'waiting_permission');
    await setup.runtime.subagents.cancel(id);
    expect(await setup.state(sessionId)).toMatchObject({ status: 'idle', openToolCalls: [], pendingActions: [] });
    expect(ran).toEqual([]);
  });
});

describe('a job of a job', () => {
  it('is refused as long as its parent has no session', async () => {
    await open([]);
    const jobs = await Promise.all(Array.from({ length: 5 }, () => spawn('nobody')));
    const queued = jobs.find(({ status }) => status === 'queued')?.id ?? '';
    expect(
      await codeOf(
        setup.runtime.subagents.spawn({ type: 'fixer', prompt: 'Go', cwd: setup.layout.home, parentJobId: queued }),
      ),
    ).toBe('SUBAGENT_PARENT_NOT_BEGUN');
  });
});
