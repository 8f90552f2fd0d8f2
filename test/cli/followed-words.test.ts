/** What a person at a terminal sees of what a model says in another process, before the log has it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import { SPEAKER } from '../support/speaking-backend.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import { hasTerminals, runOnTerminal } from './terminal.ts';

const HOST = fileURLToPath(new URL('../fixtures/processes/words-host.mjs', import.meta.url));
const CTRL_C = '\u0003';

describe.skipIf(!hasTerminals)('session events --follow at a terminal', () => {
  it('shows the words of a worker as they come', async () => {
    const home = await temporaryHome();
    await using runtime = await createNodeRuntime({ home: home.path });
    await runtime.agents.create({
      agentId: 'speaker',
      source: { frontmatter: { name: 'Speaker', ...SPEAKER }, instructions: '' },
    });
    const { sessionId } = await runtime.sessions.create({ agentId: 'speaker' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Tell me.' });
    const worker = fork(HOST, ['work', JSON.stringify({ home: home.path }), sessionId], {
      env: { ...process.env, TMPDIR: home.path },
    });
    await once(worker, 'message');
    worker.send({ say: 'Once ' });
    worker.send({ say: 'upon a time' });
    const shown = await runOnTerminal(['session', 'events', '--session', sessionId, '--follow', '--home', home.path], {
      columns: 80,
      typed: [{ at: /Once upon a time/, text: CTRL_C }],
    });
    expect(shown.code).toBe(130);
    expect(shown.raw).toContain('Once upon a time');
    // The step goes on: the log knows nothing of it yet.
    for await (const { type } of runtime.sessions.events(sessionId)) expect(type).not.toBe('agent.message');
    const gone = once(worker, 'exit');
    worker.send({ end: true });
    expect((await gone)[0]).toBe(0);
    await home.remove();
  });
});
