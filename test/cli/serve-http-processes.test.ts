/** `wakechart serve http`: for clients that have the token, until it is interrupted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { runInProcess } from './in-process.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const TOKEN = '0123456789abcdef0123';

let home: TemporaryHome;
let tokenFile: string;
beforeEach(async () => {
  home = await temporaryHome();
  tokenFile = join(home.path, 'token');
  await writeFile(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
});
afterEach(() => home.remove());

it('says where it listens, answers those who have the token, and ends well when interrupted', async () => {
  const words = ['--home', home.path, '--json', 'serve', 'http', '--token-file', tokenFile, '--base-path', '/agent'];
  const child = spawn(process.execPath, [MAIN, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { address } = JSON.parse(line) as { readonly address: string };
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/agent$/);
    const ask = async (authorization?: string): Promise<number> =>
      (await fetch(`${address}/sessions`, authorization === undefined ? {} : { headers: { authorization } })).status;
    expect(await Promise.all([ask(), ask('Bearer wrong'), ask(TOKEN), ask(`Bearer ${TOKEN}`)])).toEqual([
      401, 401, 401, 200,
    ]);
    const { origin } = new URL(address);
    const operated = async (path: string, headers = {}): Promise<number> =>
      (await fetch(`${origin}${path}`, { headers })).status;
    expect(await Promise.all([operated('/healthz'), operated('/readyz'), operated('/metrics')])).toEqual([
      200, 200, 401,
    ]);
    expect(await operated('/metrics', { authorization: `Bearer ${TOKEN}` })).toBe(200);
  } finally {
    child.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
});

it('asks for a token where no file and no variable has one', async () => {
  const ended = await runInProcess(['--home', home.path, 'serve', 'http']);
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('no $WAKECHART_HTTP_TOKEN')]);
});

it.each([
  ['too short', 'short\n', 0o600, 1, 'SERVE_TOKEN_INVALID'],
  ['readable by others', `${TOKEN}\n`, 0o644, 2, 'chmod 600'],
])('refuses a token that is %s', async (_, text, mode, code, told) => {
  const file = join(home.path, 'other');
  await writeFile(file, text, { mode });
  const ended = await runInProcess(['--home', home.path, 'serve', 'http', '--token-file', file]);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(told)]);
});
