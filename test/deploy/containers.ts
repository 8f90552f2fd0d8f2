/** Containers by podman, whose store, networks and volumes are in one folder and go with it. */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';

const call = promisify(execFile);

/** Limits that an ordinary user may set, too: podman's own are above what some machines allow. */
const SETTINGS = `
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
`;

export class Containers {
  readonly #globals: readonly string[];
  readonly #environment: NodeJS.ProcessEnv;
  readonly #underWay = new AbortController();

  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#environment = { ...process.env, CONTAINERS_CONF: join(folder, 'containers.conf') };
    this.#globals = [
      ...['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--tmpdir', join(folder, 'tmp')],
      ...['--volumepath', join(folder, 'volumes'), '--network-config-dir', join(folder, 'networks')],
      // As this works below other containers, too: no systemd is asked for.
      ...[
        '--storage-driver',
        'overlay',
        '--cgroup-manager',
        'cgroupfs',
        '--runtime',
        'runc',
        '--events-backend',
        'none',
      ],
    ];
  }

  static async in(folder: string): Promise<Containers> {
    await mkdir(join(folder, 'networks'), { recursive: true });
    await writeFile(join(folder, 'containers.conf'), SETTINGS);
    return new Containers(folder);
  }

  /** What podman printed. @throws Error with what it complained about */
  async podman(...words: readonly string[]): Promise<string> {
    return (await this.#call(words)).stdout.trim();
  }

  /** What a container has printed, on both of its streams. */
  async logOf(container: string): Promise<string> {
    const { stdout, stderr } = await this.#call(['logs', container]);
    return stdout + stderr;
  }

  /** Waits until the check that the container has succeeds in it. @throws Error with the log of one that does not */
  async untilHealthy(container: string): Promise<void> {
    const check = (): Promise<boolean> =>
      this.podman('healthcheck', 'run', container).then(
        () => true,
        () => false,
      );
    try {
      await expect.poll(check, { timeout: 120_000, interval: 500 }).toBe(true);
    } catch (cause) {
      throw new Error(`${container} is not healthy: ${await this.logOf(container)}`, { cause });
    }
  }

  #call(words: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const { signal } = this.#underWay;
    return call('podman', [...this.#globals, ...words], { env: this.#environment, maxBuffer: 2 ** 26, signal });
  }

  async close(): Promise<void> {
    this.#underWay.abort();
    const end = (...words: readonly string[]): Promise<unknown> =>
      call('podman', [...this.#globals, ...words, '--force'], { env: this.#environment });
    await end('rm', '--all', '--time', '0');
    await end('network', 'prune');
    // Layers are mounted until the images are gone.
    await end('rmi', '--all');
    await rm(this.folder, { recursive: true, force: true });
  }
}
