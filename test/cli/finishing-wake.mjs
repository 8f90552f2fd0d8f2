/**
 * The wake of the command line as a process of its own, with a tool that may come to its end: no managed tool takes
 * long enough to be interrupted twice. Arguments: home, session, agent. It says on standard output what it hears and
 * how the wake ends.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Interruption } from '../../dist/cli/interruption.js';
import { Output } from '../../dist/cli/terminal/output.js';
import { Progress } from '../../dist/cli/terminal/progress.js';
import { Waking } from '../../dist/cli/wake/waking.js';
import { createNodeRuntime } from '../../dist/node.js';

const [home = '', sessionId = '', agentId = ''] = process.argv.slice(2);
const out = new Output(process.stdout, process.env);
const interruption = new Interruption(() => void out.push('forced\n'));
interruption.signal.addEventListener('abort', () => void out.push('interrupted\n'));

/**
 * Works until there is a file `go`, or nobody wants to wait any more.
 * @type {import('../../dist/actors/turn/tool.js').Tool}
 */
const engrave = {
  definition: {
    name: 'engrave',
    description: 'Engraves.',
    inputSchema: z.object({}),
    ownership: 'managed',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    interruptBehavior: 'finish',
  },
  async run(_input, { signal, workspaceDirectory }) {
    writeFileSync(join(workspaceDirectory, 'begun'), '');
    while (!existsSync(join(workspaceDirectory, 'go'))) {
      if (signal.aborted) {
        void out.push('told to stop\n');
        throw signal.reason;
      }
      if (interruption.signal.aborted) void out.push('goes on\n');
      await delay(10);
    }
    return 'engraved';
  },
};

const runtime = await createNodeRuntime({ home, tools: [engrave] });
const context = { out, err: out, json: true, home, isHomeGiven: true, interruption };
const waking = new Waking({ context, runtime, sessionId, agentId, progress: new Progress(out), isAnsweredHere: false });
const { outcome } = await waking.untilItRests(undefined);
await runtime.shutdown();
void out.push(`ended: ${outcome}\n`);
await out.flush();
process.exit(interruption.exitCode ?? 0);
