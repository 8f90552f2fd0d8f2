// @ts-check
/**
 * An agent that asks before it changes something, somebody who allows it for the session, and another agent that works
 * for it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeRuntime } from 'wakechart/node';

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const runtime = await createNodeRuntime({ home });

/**
 * An agent that plays what a model would say, step by step.
 * @param {string} agentId
 * @param {import('wakechart/ports').AgentFrontmatter['tools']} tools
 * @param {readonly object[]} steps
 */
async function createPlayer(agentId, tools, steps) {
  const frontmatter = {
    name: agentId,
    provider: 'script',
    model: 'script.json',
    permission: /** @type {const} */ ('ask'),
    tools,
  };
  await runtime.agents.create({ agentId, source: { frontmatter, instructions: 'Play.' } });
  await writeFile(
    join(home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps }),
  );
}

try {
  await createPlayer(
    'counter',
    ['grep', 'shell_run'],
    [{ toolCalls: [{ name: 'shell_run', input: { command: 'ls | wc -l' } }] }, { text: 'I counted.' }],
  );
  await createPlayer(
    'lead',
    ['write', { agent: 'counter' }],
    [
      { text: 'I write it down.', toolCalls: [{ name: 'write', input: { path: 'notes/one.txt', content: 'one\n' } }] },
      {
        text: 'And once more.',
        toolCalls: [
          { name: 'write', input: { path: 'notes/two.txt', content: 'two\n' } },
          { name: 'counter', input: { message: 'Count the files.' } },
        ],
      },
      { text: 'Done.' },
    ],
  );

  const { sessionId } = await runtime.sessions.create({ agentId: 'lead' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Please begin.' });
  const asked = await runtime.wake(sessionId);
  console.log(asked.summary);

  // Nothing has been written. Whoever answers sees the call, and what an approval for the session would allow from then
  // on.
  const [request] = (await runtime.sessions.get(sessionId)).pendingActions;
  if (request === undefined) throw new Error('expected a request');
  console.log(`${request.question}; for the session: ${request.rules?.join(', ')}`);
  await runtime.sessions.send(sessionId, {
    type: 'user.tool_confirmation',
    requestId: request.requestId,
    toolName: request.toolName,
    allowed: true,
  });

  // The second file asks again: what was allowed was that one call. This time for good.
  await runtime.wake(sessionId);
  const [again] = (await runtime.sessions.get(sessionId)).pendingActions;
  if (again === undefined) throw new Error('expected a request');
  await runtime.sessions.send(sessionId, {
    type: 'user.tool_confirmation',
    requestId: again.requestId,
    toolName: again.toolName,
    allowed: true,
    scope: 'session',
  });
  console.log((await runtime.wake(sessionId)).summary);

  for await (const { type, data } of runtime.sessions.events(sessionId)) {
    if (type === 'agent.tool_started') console.log(`ran, allowed by ${data.allowedBy?.kind}`);
    if (type === 'agent.subflow_started') console.log(`the agent ${data.agentId} worked for it`);
  }
} finally {
  await runtime.shutdown();
  await rm(home, { recursive: true });
}
