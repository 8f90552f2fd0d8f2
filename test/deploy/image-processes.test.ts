/**
 * The image built by a builder of images and run in containers, alone and as the composition has it. No registry of
 * images is asked: what its instructions start from is made of packages of this machine.
 */
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IN_MEMORY, isFastEnough } from '../../scripts/in-memory.mjs';
import { embeddedPrograms } from '../support/postgres-programs.ts';
import { Composed } from './composed.ts';
import { Containers } from './containers.ts';
import { CHECKOUT, DEPLOY } from './deployed.ts';

const call = promisify(execFile);
const IMAGES = join(CHECKOUT, 'test/deploy/images');
/** For what hangs: a busy machine may take minutes to build. */
const LONG = 600_000;
/** Of all that lies in the folder at once. */
const MOST_BYTES = 3 * 1024 ** 3;
const START = { timeout: 120_000, interval: 500 };

/** Mounts and networks are an administrator's. In CI podman is there, since scripts/ci-needs.sh brings it. */
const canBuild =
  process.getuid?.() === 0 && (process.env['CI'] === 'true' || spawnSync('podman', ['--version']).status === 0);

async function makeImages(containers: Containers): Promise<void> {
  const { folder } = containers;
  const [base, packed, postgres] = ['base', 'packed', 'postgres'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await call('sh', [join(IMAGES, 'base.sh'), base]);
  await call('tar', ['--create', '--file', `${base}.tar`, '--directory', base, '.']);
  await containers.podman('import', `${base}.tar`, 'docker.io/library/node:20-bookworm-slim');
  // What the first stage makes of the checkout: CI does the same with a clean clone.
  await mkdir(join(packed, 'out'), { recursive: true });
  await call('npm', ['pack', '--ignore-scripts', '--pack-destination', join(packed, 'out')], { cwd: CHECKOUT });
  const { stdout: cache } = await call('npm', ['config', 'get', 'cache'], { cwd: CHECKOUT });
  const build = ['build', '--pull-never', '--network', 'host', '--format', 'docker', '--layers=false'];
  const given = ['--build-context', `build=${packed}`, '--volume', `${cache.trim()}:/npm-cache`];
  await containers.podman(...build, ...given, '--file', join(DEPLOY, 'Dockerfile'), '--tag', 'wakechart', CHECKOUT);

  await cp(join(IMAGES, 'postgres'), postgres, { recursive: true });
  const programs = dirname(dirname((await embeddedPrograms()).postgres));
  await cp(programs, join(postgres, 'native'), { recursive: true, verbatimSymlinks: true });
  await containers.podman(...build, '--tag', 'docker.io/library/postgres:18', postgres);
}

describe.skipIf(!canBuild)('the image', () => {
  let containers: Containers;
  const endOf = async (container: string): Promise<readonly [string, string]> => {
    await containers.podman('stop', '--time', '45', container);
    return [await containers.podman('wait', container), await containers.logOf(container)];
  };

  beforeAll(async () => {
    // Not below the folder of the run: layers need a file system that can be laid over others.
    const parent = isFastEnough(IN_MEMORY, MOST_BYTES) ? IN_MEMORY : '/tmp';
    containers = await Containers.in(await mkdtemp(join(parent, 'wakechart-images-')));
    await makeImages(containers);
  }, LONG);
  afterAll(() => containers.close(), LONG);

  it('brings along what it needs and no tools of development', async () => {
    const line =
      'id -un; git --version; bwrap --version; ls /usr/local/lib/node_modules /usr/local/lib/node_modules/wakechart; ls -ld /var/lib/wakechart';
    const printed = await containers.podman('run', '--rm', '--entrypoint', 'sh', 'wakechart', '-c', line);
    expect(printed).toMatch(/^node\ngit version .+\nbubblewrap .+\n/);
    expect(printed.split('\n')).toEqual(expect.arrayContaining(['wakechart', 'pg', '@ai-sdk', 'dist']));
    expect(printed.split('\n')).not.toContain('src');
    expect(printed).toMatch(/drwx------ .* node node /);
  });

  it(
    'runs a worker that its own check finds healthy, and that ends in good order when it is stopped',
    async () => {
      await containers.podman('run', '--detach', '--name', 'alone', '--network', 'none', 'wakechart');
      await containers.untilHealthy('alone');
      const ready = "fetch('http://127.0.0.1:9464/readyz').then(({ status }) => console.log(status))";
      await expect.poll(() => containers.podman('exec', 'alone', 'node', '-e', ready), START).toBe('200');
      const [code, log] = await endOf('alone');
      expect(code).toBe('143');
      expect(log).toMatch(/"event":"worker.ended","message":"Stopped/);
    },
    LONG,
  );

  it(
    'is composed with a PostgreSQL, workers and the handler: what is sent to one is done by the others',
    async () => {
      const composed = new Composed(containers, {
        POSTGRES_PASSWORD: 'secret',
        WAKECHART_HTTP_TOKEN: 'a-token-of-a-test',
      });
      await composed.up('handler');
      const [handler = '', ...none] = composed.names('handler');
      const workers = composed.names('worker');
      expect([none, workers]).toEqual([[], [expect.any(String), expect.any(String)]]);
      for (const container of [handler, ...workers]) await containers.untilHealthy(container);
      await composed.run('worker', 'agent', 'create', 'hello');

      const at = `http://${await containers.podman('port', handler, '8080/tcp')}`;
      const headers = { authorization: 'Bearer a-token-of-a-test', 'content-type': 'application/json' };
      const send = async (path: string, body?: object): Promise<Record<string, string>> => {
        const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
        return (await (await fetch(at + path, { ...request, headers })).json()) as Record<string, string>;
      };
      expect((await fetch(`${at}/sessions`)).status).toBe(401);
      const work = async (): Promise<void> => {
        const { sessionId } = await send('/sessions', { agentId: 'hello' });
        await send(`/sessions/${sessionId}/messages`, { text: 'Hello' });
        const log = (): Promise<string> =>
          fetch(`${at}/sessions/${sessionId}/events`, { headers }).then((answer) => answer.text());
        await expect.poll(log, START).toContain('"wake.ended"');
      };
      await work();
      // One is stopped, as when it is replaced by a newer one: the other goes on.
      const [first = '', second = ''] = workers;
      expect((await endOf(first))[0]).toBe('143');
      await work();
      expect((await endOf(second))[0]).toBe('143');
      expect((await endOf(handler))[0]).toBe('0');
    },
    LONG,
  );
});
