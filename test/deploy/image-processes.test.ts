/** What the image would do, without a builder of images: its package installed as its lines say, and run as it says. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKOUT, image } from './deployed.ts';

const call = promisify(execFile);

/** Whom the image runs it as where we may become another user. */
const USER = process.getuid?.() === 0 ? { uid: 1_000, gid: 1_000 } : {};

let folder: string;
let prefix: string;

beforeAll(async () => {
  // Not below the folder of the run, which is closed to other users.
  folder = await mkdtemp('/tmp/wakechart-image-');
  await chmod(folder, 0o755);
  prefix = join(folder, 'usr');
  const [out, home] = [join(folder, 'out'), join(folder, 'home')];
  await mkdir(out);
  await mkdir(home, { mode: 0o700 });
  if (USER.uid !== undefined) await chown(home, USER.uid, USER.gid);
  await call('npm', ['pack', '--ignore-scripts', '--pack-destination', out], { cwd: CHECKOUT });
  const install = image().runs.find((line) => line.includes('npm install')) ?? '';
  const line = install
    .slice(0, install.indexOf('&&'))
    .replace('--global', `--global --prefer-offline --prefix ${prefix}`)
    .replace('/tmp/package/', `${out}/`);
  await call('sh', ['-c', line], { cwd: folder });
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the package in the image', () => {
  it('brings along what it needs and no tools of development', async () => {
    const installed = await readdir(join(prefix, 'lib/node_modules'));
    expect(installed).toEqual(expect.arrayContaining(['wakechart', 'pg', '@ai-sdk']));
    expect(await readdir(join(prefix, 'lib/node_modules/wakechart'))).not.toContain('src');
  });

  it('works as the user of the image, is found healthy, and ends when it is told to', async () => {
    const { words } = image();
    const [, , program = ''] = words('ENTRYPOINT');
    const port = String(20_000 + Math.floor(Math.random() * 20_000));
    const own = (text: string): string => text.replaceAll('9464', port);
    const child = spawn(join(prefix, 'bin', program), words('CMD').map(own), {
      ...USER,
      cwd: join(folder, 'home'),
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', WAKECHART_HOME: join(folder, 'home') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [health = '', ...rest] = words('HEALTHCHECK');
    const isHealthy = (): Promise<boolean> =>
      call(health, rest.map(own)).then(
        () => true,
        () => false,
      );
    try {
      await expect.poll(isHealthy, { timeout: 30_000, interval: 200 }).toBe(true);
    } finally {
      child.kill('SIGTERM');
    }
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(143);
    expect(await isHealthy()).toBe(false);
  }, 60_000);
});
