/** A process of its own that runs tasks over a home, from what is built. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const entry = JSON.stringify(fileURLToPath(new URL('../../dist/node.js', import.meta.url)));

export interface TaskOwner {
  readonly process: ChildProcess;
  readonly pid: number;
  /** As `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Resolves when all commands run, or as many as may at once. @param leavesAtEnd exits in the moment in which one of them has ended */
export async function startTaskOwner(
  home: string,
  commands: readonly string[],
  { leavesAtEnd = false }: { readonly leavesAtEnd?: boolean } = {},
): Promise<TaskOwner> {
  const script = `
    const { createNodeRuntime } = await import(${entry});
    const { tasks } = await createNodeRuntime({ home: ${JSON.stringify(home)} });
    for (const command of ${JSON.stringify(commands)})
      await tasks.spawn({ kind: 'process', label: command, command, cwd: ${JSON.stringify(home)} });
    if (${String(leavesAtEnd)}) for (const { id } of tasks.list()) tasks.wait(id).then(() => process.exit(0));
    const haveAllBegun = () => tasks.list({ status: 'running' }).every(({ logPath }) => logPath !== undefined);
    const timer = setInterval(() => {
      if (!haveAllBegun()) return;
      clearInterval(timer);
      console.log('begun');
    }, 10);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(createInterface({ input: child.stdout }), 'line');
  return {
    process: child,
    pid: child.pid ?? 0,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
