/**
 * What the benches of subagents measure that no user of the package sees: workers before their runner, in the words of
 * dist/.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProcessTree, createSystemClock, getDefaultSubagentWorkerPath } from 'wakechart/node';

/** A process of a worker, before anybody talks to it. */
export interface BareWorker {
  readonly pid: number;
  end(options: { readonly graceMs: number }): Promise<unknown>;
}

export interface Talk {
  readonly ready: Promise<unknown>;
  readonly warm: Promise<unknown>;
  send(message: object): Promise<void>;
  hear(listener: (news: { readonly kind: string; readonly message?: { readonly type: string } }) => void): void;
}

export interface Stage {
  readonly folder: string;
  /** Has an agent `worker` that says one word. */
  readonly home: string;
  /** A program that says one thing, and then whatever it hears. */
  readonly echo: string;
  /** The same, in the words of workers. */
  readonly talkingEcho: string;
  /** The program of the package. */
  readonly workerPath: string;
  startWorker(workerPath: string): Promise<{ readonly process: BareWorker; readonly talk: Talk }>;
  bareFork(): ChildProcess;
  remove(): Promise<void>;
}

const dist = new URL('../../../dist/', import.meta.url);
const part = async <Module>(path: string): Promise<Module> => (await import(new URL(path, dist).href)) as Module;

interface ProcessModule {
  readonly startWorkerProcess: (options: object) => Promise<BareWorker>;
}

interface TalkModule {
  readonly TalkingWorker: new (process: BareWorker) => Talk;
}

export async function openStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-subagents-'));
  const home = join(folder, 'home');
  const agent = join(home, 'agents', 'worker');
  await mkdir(agent, { recursive: true });
  await writeFile(
    join(agent, 'agent.md'),
    '---\nname: worker\nprovider: script\nmodel: play.json\npermission: preapproved\n---\n\nWork.\n',
  );
  await writeFile(
    join(agent, 'play.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'Done.' }] }),
  );
  const [echo, talkingEcho] = [join(folder, 'echo.mjs'), join(folder, 'talking-echo.mjs')];
  await writeFile(echo, "process.send({ type: 'ready' }); process.on('message', (message) => process.send(message));");
  await writeFile(talkingEcho, TALKING_ECHO);
  const [{ startWorkerProcess }, { TalkingWorker }] = await Promise.all([
    part<ProcessModule>('adapters/child-process/worker-process.js'),
    part<TalkModule>('adapters/child-process/talking-worker.js'),
  ]);
  const clock = createSystemClock();
  const processTree = createProcessTree({ clock, directory: join(home, 'processes') });
  // The first check the system sets up what the later ones have.
  await processTree.reconcile();
  const environment = { PATH: process.env['PATH'] ?? '', HOME: folder };
  return {
    folder,
    home,
    echo,
    talkingEcho,
    workerPath: getDefaultSubagentWorkerPath(),
    async startWorker(workerPath) {
      const started = await startWorkerProcess({
        workerPath,
        execArgv: [],
        environment,
        processTree,
        clock,
        taskId: 'bench',
      });
      return { process: started, talk: new TalkingWorker(started) };
    },
    // As workers are forked, or the kernel's part would differ.
    bareFork: () =>
      fork(echo, [], { detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: environment, execArgv: [] }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function endFork(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.disconnect();
  await gone;
}

/** From a bare fork to its first message, in milliseconds. */
export async function bareForkMs(stage: Stage): Promise<number> {
  const startedMs = performance.now();
  const child = stage.bareFork();
  await once(child, 'message');
  const tookMs = performance.now() - startedMs;
  await endFork(child);
  return tookMs;
}

const TALKING_ECHO = `
import { MessageLink } from ${JSON.stringify(new URL('adapters/child-process/message-link.js', dist).href)};
import { ExchangeFolder } from ${JSON.stringify(new URL('adapters/child-process/exchange-folder.js', dist).href)};
import { readParentMessage } from ${JSON.stringify(new URL('machines/subagent/worker-messages.js', dist).href)};
const link = new MessageLink({
  folder: new ExchangeFolder(process.env.WAKECHART_WORKER_EXCHANGE, 'child'),
  read: readParentMessage,
  transmit: (value, done) => process.send(value, undefined, undefined, done),
  onMessage: (message) => { link.send({ type: 'text_delta', delta: message.prompt }); },
  onInvalid: console.error,
  onBroken: console.error,
});
process.on('message', (value) => link.take(value));
process.send({ type: 'ready' });
process.on('disconnect', () => process.exit(0));
`;
