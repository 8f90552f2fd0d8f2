// @ts-check
/**
 * Two machines over one PostgreSQL: what one is told, a worker of the other does. The tables were made by `wakechart
 * store migrate`.
 *
 * Run with: WAKECHART_STORE=postgres://… node examples/postgres.mjs
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeRuntime } from 'wakechart/node';

const url = process.env['WAKECHART_STORE'] ?? process.argv[2];
if (url === undefined) throw new Error('Name a database: WAKECHART_STORE=postgres://user:password@host:5432/database');

/** A home of its own, with the agent in it, as each machine has. @param {string} name @param {string} postgres */
async function machine(name, postgres) {
  const home = await mkdtemp(join(tmpdir(), `wakechart-${name}-`));
  const runtime = await createNodeRuntime({ home, store: { postgres } });
  await runtime.agents.create({
    agentId: 'clerk',
    source: {
      frontmatter: { name: 'Clerk', provider: 'script', model: 'script.json', permission: 'preapproved' },
      instructions: 'Answer.',
    },
  });
  const steps = [
    { toolCalls: [{ name: 'shell_run', input: { command: 'echo counted' } }] },
    { text: 'It is counted.' },
  ];
  await writeFile(
    join(home, 'agents/clerk/script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'sleep' }),
  );
  return { home, runtime };
}

const desk = await machine('desk', url);
const cellar = await machine('cellar', url);

// The desk only talks; the cellar works. Any number of others could, for this database.
const worker = cellar.runtime.startWorker({ agentId: 'clerk' });

const { sessionId } = await desk.runtime.sessions.create({ agentId: 'clerk' });
const answer = new Promise((resolve) => {
  desk.runtime.sessions.events$(sessionId).subscribe(({ type, data }) => {
    if (type === 'agent.message') resolve(data.text);
  });
});
const { seq } = await desk.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Count.' });
console.log(`stored as event ${seq}`);
console.log(`the desk hears: ${await answer}`);

await worker.stop();
for (const { home, runtime } of [desk, cellar]) {
  await runtime.shutdown();
  await rm(home, { recursive: true });
}
