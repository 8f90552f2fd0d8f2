// @ts-check
/** A durable session: an agent that plays a script gets a message, is woken, runs a command, and rests. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeRuntime } from 'wakechart/node';

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const runtime = await createNodeRuntime({ home });

/** What a model would say, step by step. */
const script = {
  format: 'wakechart-script/1',
  steps: [
    {
      text: 'I check the workspace.',
      toolCalls: [{ name: 'shell_run', input: { command: 'echo notes > notes.txt && ls' } }],
    },
    {
      expect: { lastToolResultIncludes: 'notes.txt' },
      directive: {
        outcome: 'sleep',
        summary: 'Made notes.txt.',
        queuedWakes: [{ reason: 'check again', delaySeconds: 3600 }],
      },
    },
  ],
};

try {
  await runtime.agents.create({
    agentId: 'writer',
    source: {
      frontmatter: { name: 'Writer', provider: 'script', model: 'script.json', tools: ['shell_run'] },
      instructions: 'Keep notes.',
    },
  });
  await writeFile(join(home, 'agents/writer/script.json'), JSON.stringify(script));

  const { sessionId } = await runtime.sessions.create({ agentId: 'writer' });
  // The receipt means that the message is stored; the same key again stores nothing and gives the same receipt.
  const receipt = await runtime.sessions.send(
    sessionId,
    { type: 'user.message', text: 'Please begin.' },
    { idempotencyKey: 'first-request' },
  );
  console.log(`stored as event ${receipt.seq}, ${receipt.durability}`);

  // Followers hear each event after it is stored, here or in another process.
  const events = runtime.sessions.events(sessionId, { from: receipt.seq, follow: true });
  const following = (async () => {
    for await (const { seq, type } of events) {
      console.log(`${seq} ${type}`);
      if (type === 'session.status_idle') break;
    }
  })();

  const outcome = await runtime.wake(sessionId);
  await following;
  console.log(`${outcome.outcome}: ${outcome.summary}`);

  const { status, queuedWakes } = await runtime.sessions.status(sessionId);
  console.log(`the session is ${status}; queued: ${queuedWakes.map(({ reason }) => reason).join(', ')}`);
} finally {
  await runtime.shutdown();
  await rm(home, { recursive: true, force: true });
}
