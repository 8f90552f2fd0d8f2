/** An agent that permissions bind, in a whole wake: it is stopped in a mode in which its program asks for nothing. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import type { Abilities } from '../../fixtures/acp-agents/agent.mjs';
import { acpSetup } from './acp-setup.ts';

const changesTo = (currentModeId: string): object => ({
  update: { sessionUpdate: 'current_mode_update', currentModeId },
});

async function woken(
  abilities: Abilities,
  permission: AgentFrontmatter['permission'],
  modes: readonly string[] = ['yolo'],
): Promise<WakeOutcome> {
  const setup = await acpSetup();
  const model = await setup.scenario(...modes.map(changesTo), { say: 'Done.' });
  const home = join(setup.directory, 'home');
  await mkdir(home);
  // JSON is YAML.
  await writeFile(join(home, 'providers.yaml'), JSON.stringify({ agent: setup.settings(abilities) }));
  const runtime = await createNodeRuntime({ home });
  try {
    const frontmatter = { name: 'Bound', provider: 'agent', model, permission } as const;
    await runtime.agents.create({ agentId: 'bound', source: { frontmatter, instructions: 'Work.' } });
    const { sessionId } = await runtime.sessions.create({ agentId: 'bound' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go.' });
    return await runtime.wake(sessionId);
  } finally {
    await runtime.shutdown();
    await setup.close();
  }
}

const failedFor = (message: string): object => ({
  outcome: 'failed',
  error: { code: 'RUN_FAILED', message: expect.stringContaining(message) as string, details: { kind: 'format' } },
});

it('is not asked where its program begins in such a mode and has no other', async () => {
  const abilities = { modeIsSetting: true, beginsIn: 'yolo' };
  expect(await woken(abilities, 'ask')).toMatchObject(failedFor('it begins in its mode "yolo"'));
});

it('is stopped where its program changes to such a mode, under rules too', async () => {
  const changed = failedFor('it has changed to its mode "yolo" in the middle of the turn');
  expect(await woken({}, 'ask')).toMatchObject(changed);
  expect(await woken({}, { mode: 'preapproved', deny: ['write(secret/**)'] })).toMatchObject(changed);
});

it('goes on in modes in which its program asks', async () => {
  const went = { outcome: 'sleep', summary: 'Done.' };
  expect(await woken({}, 'ask', ['plan', 'default'])).toMatchObject(went);
});

it('goes on where no permission binds it', async () => {
  expect(await woken({}, 'preapproved')).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
});
