/** Servers of others as programs that listen on a port, and a way to cut the lines to them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { expect } from 'vitest';

export interface ListeningServer extends AsyncDisposable {
  readonly port: number;
  /** With SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
}

export interface ServerProgram {
  readonly file: string;
  readonly args: (port: number) => readonly string[];
  readonly environment: (port: number) => Readonly<Record<string, string>>;
  /** Default: one that is free. */
  readonly port?: number | undefined;
}

/** Resolves when it takes connections. */
export async function listeningServer(program: ServerProgram): Promise<ListeningServer> {
  const { port = await freePort() } = program;
  const child = spawn(program.file, program.args(port), {
    env: { PATH: process.env['PATH'] ?? '', ...program.environment(port) },
    stdio: 'ignore',
    // A group of its own: what it has started, such as a browser, ends with it.
    detached: true,
  });
  const closed = once(child, 'close');
  await expect.poll(() => takesConnections(port)).toBe(true);
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
    await closed;
  };
  return { port, kill, [Symbol.asyncDispose]: kill };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  const port = await portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

async function portOf(server: Server): Promise<number> {
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export interface CutLine extends AsyncDisposable {
  readonly port: number;
  /** Ends all connections that are open; new ones are taken. */
  cut(): void;
}

/** A port that leads to another. */
export async function cutLineTo(target: number): Promise<CutLine> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.once('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }).listen(0, '127.0.0.1');
  const port = await portOf(server);
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port,
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
