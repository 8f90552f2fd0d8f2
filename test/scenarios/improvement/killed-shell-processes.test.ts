/**
 * The process that has a shell of a session open, in a sandbox, is killed: the next one opens it again where it was,
 * and nothing of the old one lives.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { eventually, processesWith } from '../../adapters/process-tree/system-processes.ts';
import { processesLeft } from '../../setup/processes-left.ts';
import { hasSandbox } from '../../support/sandbox.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { logOf, ofType } from './learning-home.ts';
import { TOKEN, leaksIn, markOf, writeAgent, writeShutIn } from './shut-in-home.ts';

const HOST = fileURLToPath(new URL('../../fixtures/processes/waking-host.mjs', import.meta.url));
const DIST = new URL('../../../dist/', import.meta.url).href;

let folder: TemporaryHome;
let home: string;
let runtime: NodeRuntime;
let host: ChildProcess | undefined;
beforeEach(async () => {
  folder = await temporaryHome();
  home = join(await realpath(folder.path), 'home');
  await mkdir(home, { mode: 0o700 });
  await writeShutIn(home);
});
afterEach(async () => {
  host?.kill('SIGKILL');
  await runtime.shutdown();
  await folder.remove();
});

const call = (name: string, input: object): object => ({ toolCalls: [{ name, input }] });

/** Opens a shell, leaves things in it and beside it, and then the model thinks for longer than anybody waits. */
const BEFORE = [
  call('shell_open', { name: 'main', secrets: TOKEN }),
  call('shell_exec', { shell: 'main', command: 'mkdir -p deep/er && cd deep/er && export COLOR=green' }),
  call('shell_set_env', { shell: 'main', name: 'SHAPE', value: 'round' }),
  call('shell_exec', {
    shell: 'main',
    command: 'sleep 3600 & (setsid sleep 3601 &) ; echo "$TOKEN" | base64; touch ready',
  }),
  { text: 'Hm.', delayMs: 80_000_000 },
];
const AFTER = [
  call('shell_exec', {
    shell: 'main',
    command: 'echo "in $(basename "$PWD") with $SHAPE, token of ${#TOKEN}"; jobs; cat /proc/1/comm',
  }),
  { text: 'There again.' },
];

describe.skipIf(!hasSandbox)('a shell in a sandbox whose process is killed', () => {
  it(
    'is opened again by the next process in its folder and with its variables, which says so; nothing of the old one lives',
    { timeout: 120_000 },
    async () => {
      await writeAgent(home, 'typist', BEFORE, 'environment: shut\n');
      runtime = await createNodeRuntime({ home });
      const { sessionId } = await runtime.sessions.create({ agentId: 'typist' });
      await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go.' });
      host = spawn(process.execPath, [HOST, DIST, home, sessionId], { stdio: ['ignore', 'ignore', 'inherit'] });
      const gone = once(host, 'exit');
      const workspace = join(home, 'agents/typist/sessions', sessionId, 'workspace');
      await eventually(() => existsSync(join(workspace, 'deep/er/ready')), 'the shell has done its work');
      for await (const event of runtime.sessions.events(sessionId, { follow: true }))
        if (
          event.type === 'agent.tool_result' &&
          ofType(await logOf(runtime, sessionId), 'agent.tool_result').length === 4
        )
          break;
      const before = processesWith(markOf(home));
      expect(before.length).toBeGreaterThanOrEqual(3);
      host.kill('SIGKILL');
      await gone;

      // The model has thought of something: the step that was lost is taken again.
      await writeAgent(home, 'typist', [...BEFORE.slice(0, -1), ...AFTER], 'environment: shut\n');
      expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep', summary: 'There again.' });
      const results = ofType(await logOf(runtime, sessionId), 'agent.tool_result');
      expect(results.slice(0, 4).map(({ data }) => data.outcome)).toEqual([
        'completed',
        'completed',
        'completed',
        'completed',
      ]);
      const last = results.at(-1)?.data;
      expect(last).toMatchObject({
        outcome: 'completed',
        output: { restored: true, because: expect.any(String) as string, exitCode: 0 },
      });
      const { output = '' } = (last?.output ?? {}) as { readonly output?: string };
      expect(output).toContain('in er with round');
      expect(output).toContain('bwrap');
      expect(output).not.toContain('sleep');
      expect(processesWith(markOf(home)).filter((pid) => before.includes(pid))).toEqual([]);
      await runtime.shutdown();
      expect(processesWith(markOf(home))).toEqual([]);
      expect(processesLeft(folder.path)).toEqual([]);
      expect(await leaksIn(home)).toEqual([]);
    },
  );
});
