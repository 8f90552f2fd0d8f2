/**
 * Work that is handed on by a session which is shut in: whoever does it, and in whichever process, its commands stay
 * shut in.
 */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { hasSandbox } from '../../support/sandbox.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { logOf, ofType } from '../improvement/learning-home.ts';
import { writeAgent } from '../improvement/shut-in-home.ts';

let folder: TemporaryHome;
let home: string;
let host: string;
beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  host = join(folder.path, 'host');
  await mkdir(home, { mode: 0o700 });
  await mkdir(host);
  const writes = {
    toolCalls: [
      { name: 'shell_run', input: { command: `echo mine > ${join(host, 'written.txt')}; echo here > here.txt` } },
    ],
  };
  await writeAgent(home, 'helper', [writes, { text: 'Written.' }], 'tools: [shell_run]\n');
});
afterEach(() => folder.remove());

/** Follows a session until its wake has ended, and gives the environment of that. */
async function environmentOf(runtime: NodeRuntime, sessionId: string): Promise<unknown> {
  for await (const { type } of runtime.sessions.events(sessionId, { follow: true })) if (type === 'wake.ended') break;
  const log = await logOf(runtime, sessionId);
  expect(ofType(log, 'agent.tool_result').map(({ data }) => data.outcome)).toEqual(['completed']);
  return ofType(log, 'environment.entered').at(-1)?.data;
}

describe.skipIf(!hasSandbox)('an agent that names no environment', () => {
  it.each(['session_delegate', 'session_run_child'])(
    'writes nothing on the host when a session that is shut in has it work by %s, and a worker runs it',
    async (name) => {
      const asks = { toolCalls: [{ name, input: { agentId: 'helper', message: 'Write it.' } }] };
      await writeAgent(
        home,
        'lead',
        [asks, { text: 'Asked.' }],
        `tools: [${name}, { agent: helper }]\nenvironment: sandboxed\n`,
      );
      let sessionId: string;
      {
        await using runtime = await createNodeRuntime({ home });
        ({ sessionId } = await runtime.sessions.create({ agentId: 'lead' }));
        await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Have it written.' });
        if (name === 'session_delegate') await runtime.wake(sessionId);
      }
      await using working = await createNodeRuntime({ home });
      working.startWorker();
      let child: string | undefined;
      for await (const event of working.sessions.events(sessionId, { follow: true })) {
        if (event.type === 'session.child_created' || event.type === 'agent.subflow_started')
          child = event.data.childSessionId;
        if (event.type === 'session.child_idle') break;
      }
      expect(await environmentOf(working, child ?? 'none')).toMatchObject({
        environmentId: 'host',
        sandbox: 'bubblewrap',
        network: 'disabled',
        within: ['sandboxed'],
      });
      expect(await readdir(host)).toEqual([]);
    },
  );

  it('works in the environment that a runtime names for all others, also as a job in a process of its own', async () => {
    await using runtime = await createNodeRuntime({ home, environment: 'sandboxed' });
    const cwd = join(folder.path, 'work');
    await mkdir(cwd);
    const { id } = await runtime.subagents.spawn({
      type: 'helper',
      prompt: 'Write it.',
      cwd,
      run: 'process',
      permissionPolicy: 'preapproved',
    });
    const { metadata } = await runtime.subagents.wait(id);
    expect(await environmentOf(runtime, String(metadata?.['sessionId']))).toMatchObject({
      environmentId: 'sandboxed',
      sandbox: 'bubblewrap',
    });
    expect([await readdir(host), await readdir(cwd)]).toEqual([[], expect.arrayContaining(['here.txt'])]);
  });
});
