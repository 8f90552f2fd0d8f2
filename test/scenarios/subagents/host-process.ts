/**
 * A process of its own that has jobs: killed alone, or with all that it started at one instant, as when the power goes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Reconciliation } from '../../../src/runtime.ts';
import type { SubagentSpawnRequest } from '../../../src/machines/subagent/subagent-request.ts';
import type { NodeSubagentOptions } from '../../../src/node/subagents.ts';
import { processesWith } from '../../adapters/process-tree/system-processes.ts';
import { ROOMY } from './job-setup.ts';
import type { JobSetup } from './job-setup.ts';

const HOST = fileURLToPath(new URL('../../fixtures/subagent-hosts/host.mjs', import.meta.url));
const DIST = new URL('../../../dist/', import.meta.url).href;

export interface HostLine {
  readonly opened?: Reconciliation;
  readonly spawned?: string;
  /** Which of the requests. */
  readonly index?: number;
  readonly event?: string;
  readonly jobId?: string;
}

export interface HostProcess {
  readonly pid: number;
  /** What it has said so far. */
  readonly lines: readonly HostLine[];
  /** Resolves with the first line that is so. Rejects when it ends before. */
  until(isSo: (line: HostLine) => boolean): Promise<HostLine>;
  /** Of each request that was accepted, by its place among them. */
  jobIds(): ReadonlyMap<number, string>;
  /** Only itself. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Lets nothing of it go on while `work` is done. */
  frozen<Result>(work: () => Promise<Result>): Promise<Result>;
  /** With all that it started, before any of it can do anything about it. */
  cutPower(): Promise<void>;
  end(): Promise<void>;
}

export interface HostSettings {
  readonly requests?: readonly SubagentSpawnRequest[] | undefined;
  readonly subagents?: NodeSubagentOptions | undefined;
  /** A program and its arguments that start it, such as one that makes a namespace for it. */
  readonly through?: readonly string[] | undefined;
}

let count = 0;

export function startHost(setup: JobSetup, { requests = [], subagents, through = [] }: HostSettings = {}): HostProcess {
  // Inherited by all that it starts, so that they can be found.
  const temporary = join(setup.folder, `tmp-${(count += 1)}`);
  mkdirSync(temporary);
  const settings = JSON.stringify({ home: setup.home, requests, subagents: { limits: ROOMY, ...subagents } });
  const [program, ...words] = [...through, process.execPath, HOST, DIST, settings];
  const child = spawn(program, words, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  });
  const gone = once(child, 'exit');
  const lines: HostLine[] = [];
  const waiting = new Set<() => void>();
  const notify = (): void => {
    for (const check of waiting) check();
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as HostLine);
    notify();
  });
  void gone.then(notify);
  const living = (): number[] => processesWith(`TMPDIR=${temporary}`);
  const freeze = (): readonly number[] => {
    const stopped = new Set<number>();
    for (;;) {
      const fresh = living().filter((pid) => !stopped.has(pid));
      if (fresh.length === 0) return [...stopped];
      for (const pid of fresh) {
        signal(pid, 'SIGSTOP');
        stopped.add(pid);
      }
    }
  };
  return {
    pid: child.pid ?? Number.NaN,
    lines,
    until: (isSo) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = lines.find(isSo);
          if (found === undefined && child.exitCode === null && child.signalCode === null) return;
          waiting.delete(check);
          if (found === undefined) reject(new Error('the host has ended'));
          else resolve(found);
        };
        waiting.add(check);
        check();
      }),
    jobIds: () =>
      new Map(
        lines.flatMap(({ spawned, index }) =>
          spawned === undefined || index === undefined ? [] : [[index, spawned] as const],
        ),
      ),
    async kill() {
      signal(child.pid, 'SIGKILL');
      await gone;
    },
    async frozen(work) {
      const stopped = freeze();
      try {
        return await work();
      } finally {
        for (const pid of stopped) signal(pid, 'SIGCONT');
      }
    },
    async cutPower() {
      for (const pid of freeze()) signal(pid, 'SIGKILL');
      await gone;
      while (living().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async end() {
      child.stdin.end();
      await gone;
    },
  };
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
