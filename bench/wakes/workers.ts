/**
 * Three hundred sessions of one home that are due, and 1, 2 and 4 worker processes that wake them, eight at a time
 * each.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createNodeRuntime } from 'wakechart/node';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { EMPTY_WAKE, openHome } from './home.ts';

const SESSIONS = 300;
const CONCURRENCY = 8;
const ROUNDS = 5;
const MIN_WAKES_PER_SECOND = 300;
const [, , role, workerHome = ''] = process.argv;

interface Said {
  readonly wakes: number;
  readonly cpuMs: number;
}

/** A process with a worker, which wakes whatever is due from when it is told to. */
class WorkerProcess {
  readonly #child: ChildProcess;

  constructor(home: string) {
    this.#child = fork(fileURLToPath(import.meta.url), ['worker', home], { execArgv: process.execArgv });
  }

  ready(): Promise<unknown> {
    return this.#next();
  }

  /** Resolves when nothing is due any more. */
  work(): Promise<Said> {
    const said = this.#next();
    this.#child.send('work');
    return said as Promise<Said>;
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.send('end');
    await gone;
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const hear = (message: unknown): void => settle(() => resolve(message));
      const leave = (code: number | null): void => settle(() => reject(new Error(`a worker ended with ${code}`)));
      const settle = (told: () => void): void => {
        this.#child.off('message', hear).off('exit', leave);
        told();
      };
      this.#child.on('message', hear).on('exit', leave);
    });
  }
}

interface Round {
  readonly wakesPerSecond: number;
  readonly cpuMsPerWake: number;
}

async function measure(processes: number): Promise<readonly Round[]> {
  const opened = await openHome(EMPTY_WAKE);
  const { home, runtime } = opened;
  const workers = Array.from({ length: processes }, () => new WorkerProcess(home));
  try {
    await Promise.all(workers.map((worker) => worker.ready()));
    const ids: string[] = [];
    for (let n = 0; n < SESSIONS; n += 1) ids.push((await runtime.sessions.create({ agentId: 'echo' })).sessionId);
    const rounds: Round[] = [];
    for (let round = -processes; round < ROUNDS; round += 1) {
      for (const sessionId of ids) await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go on.' });
      const startedMs = performance.now();
      const said = await Promise.all(workers.map((worker) => worker.work()));
      const seconds = (performance.now() - startedMs) / 1_000;
      const wakes = said.reduce((sum, each) => sum + each.wakes, 0);
      if (wakes < SESSIONS) throw new Error(`${wakes} of ${SESSIONS} sessions were woken`);
      // A process is warm when it has woken about as many as all of them are: the more processes, the more rounds that
      // takes.
      if (round >= 0)
        rounds.push({
          wakesPerSecond: wakes / seconds,
          cpuMsPerWake: said.reduce((sum, each) => sum + each.cpuMs, 0) / wakes,
        });
    }
    return rounds;
  } finally {
    await Promise.allSettled(workers.map((worker) => worker.end()));
    await opened.dispose();
  }
}

export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  let one: number | undefined;
  for (const processes of [1, 2, 4]) {
    const rounds = await measure(processes);
    const speed = rounds.map(({ wakesPerSecond }) => wakesPerSecond);
    const cpu = rounds.map(({ cpuMsPerWake }) => cpuMsPerWake);
    const name = `${SESSIONS} due sessions on files, ${processes} worker process${processes === 1 ? '' : 'es'}`;
    const peer = one === undefined ? {} : { peer: 'one worker', peerValue: one, ratio: median(speed) / one };
    const [target, met] =
      one === undefined
        ? [`>= ${MIN_WAKES_PER_SECOND}/s`, median(speed) >= MIN_WAKES_PER_SECOND]
        : ['>= 1', median(speed) >= one];
    rows.push({ name, unit: 'wakes/s', value: median(speed), spread: spread(speed), ...peer, target, met });
    rows.push({
      name: `${name}: processor time of a wake`,
      unit: 'ms',
      value: median(cpu),
      spread: spread(cpu),
      target: 'told',
      met: true,
    });
    one ??= median(speed);
  }
  return rows;
}

/** Wakes what is due until there is nothing more. */
async function workFrom(home: string): Promise<void> {
  const runtime = await createNodeRuntime({ home });
  const workOnce = async (): Promise<void> => {
    const cpu = process.cpuUsage();
    const { counts } = await runtime.startWorker({ concurrency: CONCURRENCY, untilIdle: true }).ended;
    const { user, system } = process.cpuUsage(cpu);
    process.send?.({ wakes: counts.succeeded, cpuMs: (user + system) / 1_000 } satisfies Said);
  };
  process.on('message', (message) => {
    if (message === 'work') void workOnce();
    else void runtime.shutdown().then(() => process.disconnect());
  });
  process.send?.('ready');
}

if (role === 'worker') await workFrom(workerHome);
