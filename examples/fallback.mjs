// @ts-check
/**
 * Fallback: a backend of one's own that is overloaded, a script model that takes its place, and a log that says who was
 * asked, and why.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAgentRuntime } from 'wakechart';
import { createNodeRuntime } from 'wakechart/node';

/** What a provider says that has too much to do; it asks to be left alone for 20 ms. */
const busy = createAgentRuntime({
  id: 'busy',
  answer: async () => ({
    meta: { error: { kind: 'overloaded', message: 'Too many people are asking.', retryAfterMs: 20 } },
  }),
});

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const runtime = await createNodeRuntime({ home, backends: [busy] });

/** @param {{ readonly provider: string, readonly model: string }} candidate */
const nameOf = ({ provider, model }) => `${provider}/${model}`;

/** Sends a message and tells what was decided until it was answered. @param {string} sessionId @param {string} text */
async function ask(sessionId, text) {
  console.log(`you: ${text}`);
  const { seq } = await runtime.sessions.send(sessionId, { type: 'user.message', text });
  await runtime.wake(sessionId);
  for await (const { type, data } of runtime.sessions.events(sessionId, { from: seq })) {
    if (type === 'span.started')
      for (const { because } of data.skipped ?? [])
        console.log(`  passed over: ${because.replace(/until \S+/, 'for a while')}`);
    if (type === 'span.started' || type === 'run.candidate_selected') {
      const { provider, model } = type === 'span.started' ? data : data.candidate;
      console.log(`  asked: ${nameOf({ provider, model })}. ${data.because}`);
    }
    if (type === 'run.attempt_failed') console.log(`  failed: ${data.error.kind}, so ${data.next}. ${data.because}`);
    if (type === 'agent.message') console.log(`agent: ${data.text}`);
  }
}

try {
  await runtime.agents.create({
    agentId: 'helper',
    source: {
      frontmatter: { name: 'Helper', provider: 'busy', model: 'large', fallbacks: ['script/helper.json'] },
      instructions: 'Help.',
    },
  });
  const steps = [{ text: 'Here I am instead.' }, { text: 'Still me.' }];
  await writeFile(join(home, 'agents/helper/helper.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));

  const { sessionId } = await runtime.sessions.create({ agentId: 'helper' });
  await ask(sessionId, 'Is anybody there?');
  // What failed rests for a minute, then five, then more; nobody is sent there meanwhile, from whatever process of this
  // home.
  await ask(sessionId, 'And now?');
  await runtime.shutdown();

  const program = fileURLToPath(new URL('cli/main.js', import.meta.resolve('wakechart')));
  const { stdout } = spawnSync(process.execPath, [program, 'session', 'why', '--session', sessionId, '--home', home], {
    encoding: 'utf8',
  });
  console.log(stdout.trimEnd());
} finally {
  await runtime.shutdown();
  await rm(home, { recursive: true, force: true });
}
