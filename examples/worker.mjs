// @ts-check
/**
 * A worker: it wakes sessions when something is due, an approval is asked for and given, and a parent hears of its
 * child.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeRuntime } from 'wakechart/node';

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const runtime = await createNodeRuntime({ home });

/** @param {string} agentId @param {object[]} steps @param {'preapproved' | 'ask'} permission */
async function agent(agentId, steps, permission) {
  await runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: agentId, provider: 'script', model: 'script.json', permission },
      instructions: 'Work.',
    },
  });
  await writeFile(
    join(home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'sleep' }),
  );
}

try {
  await agent(
    'lead',
    [
      { text: 'I wait for my helper.' },
      { text: 'My helper is done.', expect: { lastUserMessageIncludes: 'Wrote notes.txt' } },
    ],
    'preapproved',
  );
  await agent(
    'helper',
    [
      { toolCalls: [{ name: 'shell_run', input: { command: 'echo notes > notes.txt' } }] },
      { directive: { outcome: 'sleep', summary: 'Wrote notes.txt.' } },
    ],
    'ask',
  );
  const lead = await runtime.sessions.create({ agentId: 'lead' });
  const helper = await runtime.sessions.create({ agentId: 'helper', parentSessionId: lead.sessionId });

  // Approves what the helper asks for; in your program a person does.
  runtime.sessions.events$(helper.sessionId).subscribe((event) => {
    if (event.type !== 'permission.requested') return;
    const { requestId, toolName, input } = event.data;
    console.log(`asked: may ${toolName} run ${JSON.stringify(input)}?`);
    void runtime.sessions.send(helper.sessionId, {
      type: 'user.tool_confirmation',
      requestId,
      toolName,
      allowed: true,
    });
  });

  const isDone = new Promise((resolve) => {
    runtime.sessions.events$(lead.sessionId).subscribe((event) => {
      if (event.type !== 'agent.message') return;
      console.log(`lead says: ${event.data.text}`);
      if (event.data.text === 'My helper is done.') resolve(undefined);
    });
  });

  const worker = runtime.startWorker({ concurrency: 2 });
  await runtime.sessions.send(lead.sessionId, { type: 'user.message', text: 'Let your helper write notes.' });
  await runtime.sessions.send(helper.sessionId, { type: 'user.message', text: 'Write notes.' });
  await isDone;

  const { endedBecause } = await worker.stop();
  console.log(`the worker ended because it was ${endedBecause}`);
} finally {
  await runtime.shutdown();
  await rm(home, { recursive: true, force: true });
}
