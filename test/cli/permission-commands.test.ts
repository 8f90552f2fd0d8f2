/**
 * Permissions from the side of whoever may give them: a worker with nobody to ask, a check of what is allowed, a child
 * that asks.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confirmTool } from '../../src/cli/session/ingress.ts';
import { explainSession } from '../../src/cli/session/why.ts';
import { checkPermission, revokePermission } from '../../src/cli/permission/permission.ts';
import type { CommandContext } from '../../src/cli/context.ts';
import { delegatedCalls } from '../../src/machines/session/session-activations.ts';
import type { PendingAction } from '../../src/machines/session/session-state.ts';
import { captured } from './captured.ts';
import { Stage, runs } from './stage.ts';

let stage: Stage;
let agents = 0;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

async function agentNamed(
  agentId: string,
  on: Stage,
  steps: readonly object[],
  frontmatter: object = {},
): Promise<void> {
  await on.runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: agentId, provider: 'script', model: 'script.json', permission: 'ask', ...frontmatter },
      instructions: 'Work.',
    },
  });
  await writeFile(
    join(on.home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps }),
  );
}

async function sessionOf(agentId: string, on: Stage): Promise<string> {
  const { sessionId } = await on.runtime.sessions.create({ agentId });
  await on.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  return sessionId;
}

/** A session whose agent asks before it changes anything. */
async function askingSession(on: Stage, ...steps: readonly object[]): Promise<string> {
  agents += 1;
  await agentNamed(`asker-${agents}`, on, steps);
  return sessionOf(`asker-${agents}`, on);
}

const pending = async (sessionId: string): Promise<readonly PendingAction[]> =>
  (await stage.runtime.sessions.status(sessionId)).pendingActions;

async function shown(
  command: (context: CommandContext) => Promise<number>,
  more: Partial<CommandContext> = {},
): Promise<string> {
  const { context, text } = captured(stage.home);
  await command({ ...context, ...more });
  return text();
}

describe('a worker', () => {
  it('that has nobody to ask denies what would ask, and any other leaves it to be answered', async () => {
    const own = await Stage.open();
    try {
      const id = await askingSession(own, runs('touch made'), {
        text: 'I see.',
        expect: { lastToolResultOutcome: 'denied' },
      });
      expect(await own.runProgram('worker', '--until-idle', '--no-human')).toMatchObject({ code: 0, stderr: '' });
      expect((await own.eventsOf(id)).map(({ type }) => type)).not.toContain('permission.requested');
      expect(await own.wakeEndings(id)).toEqual(['sleep']);
      const asked = await askingSession(own, runs('touch made'), { text: 'x' });
      expect(await own.run('worker', '--until-idle')).toMatchObject({ code: 0 });
      expect(await own.wakeEndings(asked)).toEqual(['requires_action']);
    } finally {
      await own.close();
    }
  });
});

describe('a check of a command', () => {
  it('counts what was allowed in a session, which must be one of the agent', async () => {
    const id = await askingSession(stage, runs('touch made'), { text: 'Done.' });
    const other = await stage.session();
    await stage.runtime.wake(id);
    const [action] = await pending(id);
    await stage.runtime.sessions.send(id, {
      type: 'user.tool_confirmation',
      requestId: action?.requestId ?? '',
      toolName: 'shell_run',
      allowed: true,
      scope: 'session',
    });
    await stage.runtime.wake(id);
    const { agentId } = await stage.runtime.sessions.status(id);
    const check = (...words: readonly string[]): Promise<string> =>
      shown((context) => checkPermission(context, { agent: agentId, session: words[0], words: ['touch', 'made'] }));
    expect(await check()).toMatch(/^ask /);
    expect(await check(id)).toBe('allow  a person allowed it in this session: allow shell_run(touch made $)\n');
    await expect(check(other.id)).rejects.toMatchObject({
      code: 'SESSION_OF_ANOTHER_AGENT',
      hint: expect.stringContaining('--agent actor-') as string,
    });
    await expect(check('0192f0c1-2345-7abc-8def-0123456789ab')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect((await stage.run('permission', 'check', '--agent', agentId, '--session', id, 'touch made')).stdout).toMatch(
      /^allow /,
    );
  });
});

describe('a check of a command in an environment', () => {
  const check = async (agentId: string, session: string | undefined, word: string): Promise<unknown> =>
    JSON.parse(
      await shown((context) => checkPermission(context, { agent: agentId, session, words: [word, 'made'] }), {
        json: true,
      }),
    );

  it('says what its rules and its mode make of it, and those of a session that has another one', async () => {
    const files = join(stage.home, 'environments');
    await mkdir(files, { recursive: true, mode: 0o700 });
    await writeFile(join(files, 'careful.yaml'), 'sandbox: off\npermission: { mode: ask, deny: ["shell_run(rm)"] }\n', {
      mode: 0o600,
    });
    await agentNamed('free', stage, [], { permission: 'preapproved' });
    await agentNamed('bound', stage, [], { permission: 'preapproved', environment: 'careful' });
    expect(await check('free', undefined, 'touch')).toMatchObject({ decision: 'allow' });
    expect(await check('bound', undefined, 'touch')).toMatchObject({ decision: 'ask' });
    expect(await check('bound', undefined, 'rm')).toMatchObject({ decision: 'deny' });
    const { sessionId } = await stage.runtime.sessions.create({ agentId: 'free', environmentId: 'careful' });
    expect(await check('free', sessionId, 'rm')).toMatchObject({ decision: 'deny' });
    await rm(join(files, 'careful.yaml'));
    await expect(check('bound', undefined, 'touch')).rejects.toMatchObject({ code: 'ENVIRONMENT_NOT_FOUND' });
  });
});

describe('what is allowed for always', () => {
  it('is listed with its origin, counts when a command is checked, and is revoked', async () => {
    const id = await askingSession(stage, runs('touch made'), { text: 'Done.' });
    await stage.runtime.wake(id);
    const [action] = await pending(id);
    const { agentId } = await stage.runtime.sessions.status(id);
    const check = async (): Promise<unknown> =>
      JSON.parse(
        await shown(
          (context) => checkPermission(context, { agent: agentId, session: undefined, words: ['touch', 'made'] }),
          { json: true },
        ),
      );
    const revoke = (): Promise<string> =>
      shown((context) => revokePermission(context, { agent: agentId, rule: 'shell_run(touch made $)' }));
    expect(await check()).toMatchObject({ decision: 'ask', rules: ['allow shell_run(touch made $)'] });
    await shown((context) =>
      confirmTool(context, {
        session: id,
        request: action?.requestId ?? '',
        allow: true,
        deny: false,
        note: undefined,
        scope: 'always',
      }),
    );
    await stage.runtime.wake(id);
    expect(await check()).toMatchObject({ decision: 'allow', by: 'policy', rule: 'allow shell_run(touch made $)' });
    expect((await stage.runProgram('permission', 'list', '--agent', agentId)).stdout).toMatch(
      new RegExp(`${agentId} +allow shell_run\\(touch made \\$\\) +policy, since .*, answered in session ${id}`),
    );
    expect(await revoke()).toMatch(/^Revoked for agent asker-\d+: allow shell_run\(touch made \$\)$/m);
    expect(await check()).toMatchObject({ decision: 'ask' });
    expect(
      await stage.run('permission', 'revoke', '--agent', agentId, '--rule', 'shell_run(touch made $)'),
    ).toMatchObject({ code: 1, stderr: expect.stringContaining('[RULE_NOT_KEPT]') as string });
  });
});

describe('why a session waits for another', () => {
  it('is shown down to the child that asks, with commands for the child', async () => {
    await agentNamed('helper', stage, [runs('touch made'), { text: 'Made.' }]);
    await agentNamed(
      'lead',
      stage,
      [
        { toolCalls: [{ name: 'helper', input: { message: 'Make it.' } }] },
        { text: 'All done.', expect: { lastToolResultIncludes: 'Made.' } },
      ],
      { permission: 'preapproved', tools: [{ agent: 'helper' }, 'shell_run'] },
    );
    const id = await sessionOf('lead', stage);
    await stage.runtime.wake(id);
    const [call] = delegatedCalls(await stage.runtime.sessions.status(id));
    const child = call?.request?.kind === 'subflow' ? call.request.childSessionId : '';
    const [action] = await pending(child);
    const request = action?.requestId ?? '';
    const why = await stage.run('session', 'why', '--session', id);
    expect(why).toMatchObject({ code: 0, stderr: '' });
    expect(why.stdout).toMatch(
      new RegExp(
        String.raw`^${id} +lead +idle \(requires_action\)\n +• The call of helper waits for the agent helper[\s\S]*\n {4,}${child} +helper +idle \(requires_action\)\n[\s\S]* │ touch made\n[\s\S]*confirm-tool --session ${child} --request ${request} --allow `,
      ),
    );
    const json = await shown((context) => explainSession(context, id), { json: true });
    expect(JSON.parse(json)).toMatchObject({
      reasons: [
        {
          kind: 'child',
          child: { sessionId: child, reasons: [{ kind: 'permission', asked: { input: { command: 'touch made' } } }] },
        },
      ],
    });
    // What is pasted from there works, and brings both on.
    await shown((context) =>
      confirmTool(context, { session: child, request, allow: true, deny: false, note: undefined, scope: undefined }),
    );
    await stage.runtime.wake(id);
    expect(await shown((context) => explainSession(context, id))).toMatch(
      /• It came to rest: All done\. It waits for nothing but a message\.\n[\s\S]*session send --session/,
    );
  });
});
