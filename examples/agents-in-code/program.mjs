// @ts-check
/** Agents in code: the clerk works for the desk in a process of its own, which loads the same config. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeRuntime } from 'wakechart/node';

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const config = new URL('wakechart.config.ts', import.meta.url);
const runtime = await createNodeRuntime({ home, config });

try {
  const { sessionId } = await runtime.sessions.create({ agentId: 'desk' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Do you have tea?' });
  const { summary } = await runtime.wake(sessionId);
  console.log(summary.includes('12') ? 'there is tea' : summary);
  const isCountedElsewhere = !summary.includes(String(process.pid));
  console.log(`the tool ran in ${isCountedElsewhere ? 'another process' : 'this process'}`);

  for (const { agentId, lastWake } of await runtime.sessions.list()) {
    const { version = 'without a version', hash = '' } = lastWake?.definition ?? {};
    console.log(`${agentId} ran under ${version}, ${hash.length} digits of its definition's hash`);
  }
} finally {
  await runtime.shutdown();
  await rm(home, { recursive: true, force: true });
}
