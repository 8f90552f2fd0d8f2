/**
 * What leaves with `--send-to` and what comes in with `--stately-port`, through the command line: without the secrets
 * of the home, and over TLS only to whom the system trusts.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { temporaryHome } from '../support/temporary-home.ts';
import { actorFrame, connect, eventFrame, snapshotFrame } from '../adapters/stately/stately-setup.ts';
import { start, until } from './command-line.ts';
import type { CommandLineOptions, RunningCommand } from './command-line.ts';
import { visit } from './inspector-visit.ts';

const SECRET = 'ghp_Sup3rSecretValue42';
const PROGRAMS_SECRET = 'tok-Pr1ntedByAPr0gram';

const OPENSSL = 'openssl';
const hasOpenssl = spawnSync(OPENSSL, ['version'], { stdio: 'ignore' }).status === 0;
if (!hasOpenssl) console.warn('skipped: the test of a self-signed certificate needs openssl to make one');

async function folder(): Promise<string> {
  const home = await temporaryHome();
  onTestFinished(() => home.remove());
  return home.path;
}

/** A home whose vault has a secret in it, and one that a program would have to be run for. */
async function homeWithVault(): Promise<string> {
  const home = await folder();
  await mkdir(join(home, 'vaults'), { mode: 0o700 });
  await writeFile(
    join(home, 'vaults', 'github.yaml'),
    `secrets: { token: { value: ${SECRET} }, deploy: { command: [sh, -c, "touch '${join(home, 'was-run')}'; echo ${PROGRAMS_SECRET}"] } }`,
    { mode: 0o600 },
  );
  return home;
}

/** A log in which both stand: whoever recorded it knew neither. */
async function leakyLog(at: string): Promise<string> {
  const path = join(at, 'run.ndjson');
  const records = [
    { format: 'inspection-log/1', boot: 'b', startedAt: 1 },
    { k: 'actor', s: 1, t: 1, a: 'b:x:0', id: 'door', kind: 'door', status: 'active' },
    {
      k: 'event',
      s: 2,
      t: 2,
      a: 'b:x:0',
      e: 1,
      type: 'OPEN',
      data: { key: `Bearer ${SECRET}`, other: PROGRAMS_SECRET },
    },
    {
      k: 'step',
      s: 3,
      t: 3,
      a: 'b:x:0',
      e: 1,
      type: 'OPEN',
      taken: [],
      value: 'open',
      status: 'active',
      context: { [SECRET]: [SECRET] },
    },
  ];
  await writeFile(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return path;
}

function command(words: readonly string[], options: CommandLineOptions): RunningCommand {
  const running = start(['inspect', ...words], options);
  onTestFinished(() => void running.process.kill('SIGKILL'));
  return running;
}

async function interrupted(running: RunningCommand): Promise<number | null> {
  running.process.kill('SIGINT');
  return (await running.ended).code;
}

/** Somebody else's inspector. */
function heardBy(server: WebSocketServer): () => string {
  const heard: string[] = [];
  server.on('connection', (socket) => socket.on('message', (data: Buffer) => heard.push(data.toString('utf8'))));
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return () => heard.join('\n');
}

describe('an inspection that is sent', { timeout: 60_000 }, () => {
  it('leaves without the secrets of the home that can be read, and says which are not known: no program is run for them', async () => {
    const home = await homeWithVault();
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const heard = heardBy(server);
    const words = [
      await leakyLog(home),
      '--send-to',
      `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      '--home',
      home,
    ];
    const refused = await command(words, {}).ended;
    expect([
      refused.code,
      refused.stderr.includes('not known here, and so not taken out: github/deploy'),
      refused.stderr.includes('[STATELY_SEND_REFUSED]'),
      heard(),
    ]).toEqual([1, true, true, '']);
    const running = command([...words, '--send-unknown-secrets'], {});
    const text = await until('the frames', () => heard().includes('@xstate.snapshot') && heard());
    expect(text).not.toContain(SECRET);
    expect(text.match(/\[redacted github\/token\]/g)?.length).toBeGreaterThanOrEqual(3);
    expect(text).toContain(PROGRAMS_SECRET);
    expect(running.stderr()).toContain(
      'without the secrets that are known here now; not known here, and so not taken out: github/deploy',
    );
    await expect(readFile(join(home, 'was-run'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await interrupted(running)).toBe(0);
  });

  it('says where there is no home that nothing is known, and refuses a home that was named and is not there', async () => {
    const cwd = await folder();
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const heard = heardBy(server);
    const words = [await leakyLog(cwd), '--send-to', `ws://127.0.0.1:${(server.address() as AddressInfo).port}`];
    const refused = await command([...words, '--home', join(cwd, 'nowhere')], { cwd }).ended;
    expect([refused.code, refused.stdout, refused.stderr.includes('[HOME_NOT_FOUND]'), heard()]).toEqual([
      1,
      '',
      true,
      '',
    ]);
    const running = command(words, { cwd });
    await until('the frames', () => heard().includes('@xstate.snapshot'));
    expect(running.stderr()).toContain('no secrets are known here');
    expect(await interrupted(running)).toBe(0);
  });

  it.skipIf(!hasOpenssl)('goes over TLS to whom the system trusts, and to nobody else', async () => {
    const cwd = await folder();
    const [key, certificate] = [join(cwd, 'key.pem'), join(cwd, 'certificate.pem')];
    execFileSync(
      OPENSSL,
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        certificate,
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
      ],
      { stdio: 'ignore' },
    );
    const server = createServer({ key: await readFile(key), cert: await readFile(certificate) }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const heard = heardBy(new WebSocketServer({ server }));
    const words = [await leakyLog(cwd), '--send-to', `wss://localhost:${(server.address() as AddressInfo).port}`];

    const distrusting = command(words, { cwd });
    await until('the refusal', () =>
      /Not connected to localhost:\d+: .*self-signed certificate/.test(distrusting.stderr()),
    );
    expect(heard()).toBe('');
    expect(await interrupted(distrusting)).toBe(0);

    const trusting = command(words, { cwd, env: { NODE_EXTRA_CA_CERTS: certificate } });
    await until('the frames', () => heard().includes('@xstate.snapshot'));
    expect(trusting.stderr()).not.toContain('Not connected');
    expect(await interrupted(trusting)).toBe(0);
  });
});

it('shows what other programs send without the secrets of the home', { timeout: 60_000 }, async () => {
  const home = await homeWithVault();
  const running = command(['--stately-port', '0', '--home', home], {});
  const browser = await visit(running);
  const socket = await connect(/ws:\/\/127\.0\.0\.1:\d+/.exec(running.stderr())?.[0] ?? '');
  socket.send(actorFrame('x:0', { name: `door ${SECRET}` }));
  socket.send(eventFrame('x:0', { type: 'OPEN', key: SECRET }));
  socket.send(
    snapshotFrame('x:0', 'open', 'OPEN', {
      snapshot: { status: 'active', value: 'open', context: { key: `Bearer ${SECRET}` } },
    }),
  );
  const text = await until('its records', async () => {
    const { text: records } = await browser.ask('/api/records');
    return records.includes('"k":"step"') && records;
  });
  expect(text).not.toContain(SECRET);
  expect(text.match(/\[redacted github\/token\]/g)?.length).toBeGreaterThanOrEqual(3);
  expect(await interrupted(running)).toBe(0);
});
