/** Which variables of ours the worker of a job is given. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { workerKeysOf } from '../../src/actors/subagent/worker-keys.ts';
import { FileAgentCatalog } from '../../src/adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { modelOfSession } from '../../src/adapters/files/session-model.ts';
import { profilesOfHome, providersOfHome } from '../../src/node/backends.ts';

const sessionId = '0192f0c1-2345-7abc-8def-0123456789ab';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'home-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const keysOf = (agentType: string, session?: string): Promise<readonly string[]> => {
  const layout = new HomeLayout(home);
  const profiles = profilesOfHome({ home, clock: createSystemClock() });
  const agents = new FileAgentCatalog({ agentsDirectory: layout.agents });
  return workerKeysOf({
    agents,
    providers: () => providersOfHome(home, { ours: { backend: 'embedded', keyVariable: 'OUR_KEY' } }),
    accounts: () => profiles.list(),
    modelOf: (agentId, id) => modelOfSession(layout, { agentId, sessionId: id }),
  })({ agentType, sessionId: session });
};

async function agent(name: string, provider: string, more = ''): Promise<void> {
  await mkdir(join(home, 'agents', name), { recursive: true });
  await writeFile(
    join(home, 'agents', name, 'agent.md'),
    `---\nname: ${name}\nprovider: ${provider}\nmodel: m\n${more}---\n\nWork.\n`,
  );
}

describe('the worker of a job', () => {
  it('is given the keys of the models of its agent, and of the agents that this may call', async () => {
    await agent('boss', 'anthropic', 'fallbacks: [openai/gpt]\ntools: [{ agent: helper }]\n');
    await agent('helper', 'ours', 'tools: [{ agent: boss }, { agent: gone }]\n');
    await agent('other', 'openrouter');
    expect(await keysOf('boss')).toEqual(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OUR_KEY']);
    expect(await keysOf('other')).toEqual(['OPENROUTER_API_KEY']);
    expect(await keysOf('gone')).toEqual([]);
    expect(await keysOf('../other')).toEqual([]);
  });

  it('is given those of the providers and accounts of the home', async () => {
    await agent('worker', 'mine');
    await writeFile(join(home, 'providers.yaml'), 'mine: { backend: embedded, api: openai, keyVariable: MY_KEY }\n');
    await profilesOfHome({ home, clock: createSystemClock() }).add({
      id: 'work',
      provider: 'mine',
      secret: { env: 'WORK_KEY' },
    });
    await profilesOfHome({ home, clock: createSystemClock() }).add({
      id: 'else',
      provider: 'else',
      secret: { env: 'ELSE_KEY' },
    });
    expect(await keysOf('worker')).toEqual(['MY_KEY', 'WORK_KEY']);
    await writeFile(join(home, 'providers.yaml'), 'mine: [\n');
    expect(await keysOf('worker')).toEqual(['WORK_KEY']);
  });

  it('is given that of the model which its session was made with', async () => {
    await agent('worker', 'script');
    const folder = join(home, 'agents', 'worker', 'sessions', sessionId);
    await mkdir(folder, { recursive: true });
    expect(await keysOf('worker', sessionId)).toEqual([]);
    await writeFile(
      join(folder, 'session.json'),
      JSON.stringify({ state: { narrowing: { model: 'anthropic/large' } } }),
    );
    expect(await keysOf('worker', sessionId)).toEqual(['ANTHROPIC_API_KEY']);
    await writeFile(join(folder, 'session.json'), 'torn');
    expect(await keysOf('worker', sessionId)).toEqual([]);
  });
});
