/**
 * Subagent jobs where many machines share the sessions: numbered over all of them, and heard of although a machine
 * never comes back.
 */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { emptyStores } from './empty-stores.ts';

const { database } = emptyStores();

const homes: string[] = [];
const runtimes: NodeRuntime[] = [];

afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.shutdown()));
  await Promise.all(homes.splice(0).map((home) => rm(home, { recursive: true, force: true })));
});

async function machine(agentsOf?: string): Promise<{ readonly home: string; readonly runtime: NodeRuntime }> {
  const home = await mkdtemp(join(tmpdir(), 'wakechart-machine-'));
  homes.push(home);
  if (agentsOf !== undefined) await cp(join(agentsOf, 'agents'), join(home, 'agents'), { recursive: true });
  const runtime = await createNodeRuntime({
    home,
    store: { postgres: database().url },
    subagents: { run: 'in-process' },
  });
  runtimes.push(runtime);
  return { home, runtime };
}

it('a session that goes on elsewhere hears of the jobs that it starts on either machine', async () => {
  const one = await machine();
  await one.runtime.agents.create({
    agentId: 'helper',
    source: {
      frontmatter: { name: 'helper', provider: 'script', model: 'script.json', permission: 'preapproved' },
      instructions: 'Help.',
    },
  });
  await writeFile(
    join(one.home, 'agents', 'helper', 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'Done.' }], onEnd: 'sleep' }),
  );
  const other = await machine(one.home);
  const { sessionId } = await one.runtime.sessions.create({ agentId: 'helper' });
  const jobs: string[] = [];
  const cwd = await mkdtemp(join(tmpdir(), 'wakechart-work-'));
  homes.push(cwd);
  for (const { runtime } of [one, other]) {
    const job = await runtime.subagents.spawn({ type: 'helper', prompt: 'Help.', cwd, parentSessionId: sessionId });
    jobs.push(job.id);
    await runtime.subagents.wait(job.id);
  }
  expect(new Set(jobs).size).toBe(2);
  const heard: string[] = [];
  for await (const event of other.runtime.sessions.events(sessionId))
    if (event.type.startsWith('subagent.'))
      heard.push(`${event.type} ${(event.data as { readonly jobId: string }).jobId}`);
  expect(heard).toEqual(jobs.flatMap((id) => [`subagent.started ${id}`, `subagent.ended ${id}`]));
});
