/**
 * What somebody who wants out of a sandbox would find on the host: files, processes and listeners of others, for one
 * test file.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { CommandSandbox } from '../../../src/actors/environment/command-sandbox.ts';
import type { Mount } from '../../../src/machines/environment/mount-table.ts';

export const MARK = 'ESCAPED';

export interface EscapeSetup extends AsyncDisposable {
  /** Holds everything else; not mounted. */
  readonly outside: string;
  readonly workspace: string;
  /** Mounted as /reference, to be read only. */
  readonly reference: string;
  readonly mounts: readonly Mount[];
  /** A process of somebody else's, with a secret in its environment. */
  readonly strangerId: number;
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly abstractName: string;
  /** An address that is not the loopback's, if there is one. */
  readonly address: string | undefined;
  /** Everything that has reached one of the listeners. */
  readonly heard: string[];
  /** Words that the probes may use as shell variables. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface Ran {
  readonly output: string;
  readonly exitCode: number | null;
}

/** Runs a command line as the process runner does: by /bin/sh, in a session of its own. */
export async function ran(
  line: string,
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Ran> {
  const child = spawn('/bin/sh', ['-c', line], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  // What is left behind may hold the pipes: what was said until now is what counts.
  child.stdout.destroy();
  child.stderr.destroy();
  return { output, exitCode };
}

export async function openEscapeSetup(): Promise<EscapeSetup> {
  const outside = await realpath(await mkdtemp(join(tmpdir(), 'escape-')));
  const at = (...names: string[]): string => join(outside, ...names);
  for (const folder of ['workspace/sub', 'reference', 'home/.ssh', 'other/workspace'])
    await mkdir(at(folder), { recursive: true });
  const secret = randomUUID();
  for (const file of ['secret', 'home/.ssh/id', 'other/workspace/notes', 'reference/text'])
    await writeFile(at(file), secret, { mode: 0o600 });
  const heard: string[] = [];
  const stranger = spawn('/bin/sh', ['-c', 'read line'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { STRANGER: secret },
  });
  const tcp = await listening(
    createServer((socket) => heard.push('tcp') && socket.end()),
    { port: 0, host: '0.0.0.0' },
  );
  const abstractName = `wakechart-${randomUUID()}`;
  const abstract = await listening(
    createServer((socket) => heard.push('abstract') && socket.end()),
    { path: `\0${abstractName}` },
  );
  const udp = createSocket('udp4', () => heard.push('udp'));
  udp.bind(0, '0.0.0.0');
  await once(udp, 'listening');
  const tcpAddress = tcp.address();
  const tcpPort = typeof tcpAddress === 'object' ? (tcpAddress?.port ?? 0) : 0;
  const udpPort = udp.address().port;
  const address = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
  return {
    outside,
    workspace: at('workspace'),
    reference: at('reference'),
    mounts: [{ kind: 'declared', path: '/reference', directory: at('reference'), access: 'ro' }],
    strangerId: stranger.pid ?? 0,
    tcpPort,
    udpPort,
    abstractName,
    address,
    heard,
    variables: {
      OUT: outside,
      W: at('workspace'), // Finds the secret and not itself.
      WANTED: `[${secret[0]}]${secret.slice(1)}`,
      STRANGER_ID: String(stranger.pid),
      TCP: String(tcpPort),
      UDP: String(udpPort),
      ABSTRACT: abstractName,
      ADDRESS: address ?? '',
      NODE: process.execPath,
    },
    async [Symbol.asyncDispose]() {
      stranger.kill('SIGKILL');
      if (stranger.exitCode === null && stranger.signalCode === null) await once(stranger, 'exit');
      for (const server of [tcp, abstract]) await new Promise((resolve) => server.close(resolve));
      await new Promise<void>((resolve) => udp.close(() => resolve()));
      await rm(outside, { recursive: true, force: true });
    },
  };
}

/** In the sandbox, in the workspace. */
export function shut(
  sandbox: CommandSandbox,
  setup: EscapeSetup,
  command: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return ran(sandbox.wrapCommand(command, setup.workspace), {
    cwd: setup.workspace,
    env: { ...setup.variables, ...env },
  });
}

/** The same on the host, where `/reference` is the folder itself. */
export function open(setup: EscapeSetup, command: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return ran(command.replaceAll('/reference', setup.reference), {
    cwd: setup.workspace,
    env: { ...setup.variables, HOME: join(setup.outside, 'home'), ...env },
  });
}

async function listening(
  server: Server,
  where: { readonly port: number; readonly host: string } | { readonly path: string },
): Promise<Server> {
  server.listen(where);
  await once(server, 'listening');
  return server;
}
