/** `wakechart serve http`: the sessions of a home over HTTP, for those who have the token. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpHandler } from '../../adapters/http-handler/handler.ts';
import { toNodeListener } from '../../adapters/http-handler/node-listener.ts';
import type { Authorize } from '../../adapters/http-handler/handler-options.ts';
import { authorityOf } from '../../adapters/system/loopback.ts';
import { UnusableFile, readOwnText } from '../../adapters/system/own-files.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { showUntilInterrupted } from '../inspect/shown-inspector.ts';
import { withRuntime } from '../open/runtime.ts';
import { printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';

const MAX_TOKEN_FILE_BYTES = 4_096;
const MIN_TOKEN_CHARACTERS = 16;

export interface ServeHttpOptions {
  readonly tokenFile: string;
  readonly port: number;
  readonly host: string;
  readonly basePath: string | undefined;
}

/** @throws RuntimeError SERVE_CANNOT_LISTEN, SERVE_TOKEN_INVALID, API_OPTIONS_INVALID */
export async function serveHttp(
  context: CommandContext,
  { tokenFile, port, host, basePath }: ServeHttpOptions,
): Promise<number> {
  const authorize = bearer(tokenOf(tokenFile));
  return withRuntime(context, async (runtime) => {
    const handler = createHttpHandler(runtime, {
      authorize,
      ...(basePath === undefined ? {} : { basePath }),
      onError: (error) =>
        void context.err.push(`${context.err.styles.yellow('note:')} ${printable(messageOf(error))}\n`),
    });
    const server = createServer(toNodeListener(handler));
    await listen(server, port, host);
    try {
      const { port: taken } = server.address() as AddressInfo;
      const address = `http://${authorityOf(host, taken)}${basePath ?? ''}`;
      await (context.json ? context.out.record({ type: 'listening', address }) : context.out.line(address));
      await showUntilInterrupted(context, {
        introduction: 'Serves',
        tell: () => context.out.line(address),
        notes: [`It wakes no session; a worker does: ${nextCommand(context, 'worker')}`],
        isInputTaken: true,
      });
    } finally {
      server.close();
      server.closeAllConnections();
    }
    return EXIT_SUCCESS;
  });
}

/** A client that has the token works for the owner of the home, and sees all of its sessions. */
function bearer(token: string): Authorize {
  const expected = digestOf(`Bearer ${token}`);
  return (request) => {
    const given = digestOf(request.headers.get('authorization') ?? '');
    return timingSafeEqual(given, expected) ? { subject: 'token', sees: 'all' } : undefined;
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** @throws RuntimeError SERVE_TOKEN_INVALID */
function tokenOf(file: string): string {
  const text = readToken(file);
  const token = text?.split(/\r?\n/, 1)[0]?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= MIN_TOKEN_CHARACTERS) return token;
  throw new RuntimeError(
    'SERVE_TOKEN_INVALID',
    text === undefined
      ? `there is no file ${file}`
      : `expected the first line of ${file} to be a token of at least ${MIN_TOKEN_CHARACTERS} printable characters`,
    {
      category: 'validation',
      hint: `Make one: (umask 077; openssl rand -hex 32 > ${file})`,
    },
  );
}

function readToken(file: string): string | undefined {
  try {
    return readOwnText(file, { maxBytes: MAX_TOKEN_FILE_BYTES, keptFrom: 'readers' })?.text;
  } catch (error) {
    if (error instanceof UnusableFile)
      throw usageError(`${file} ${error.message}`, `Make it yours alone: chmod 600 ${file}`);
    throw error;
  }
}

/** @throws RuntimeError SERVE_CANNOT_LISTEN */
async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new RuntimeError('SERVE_CANNOT_LISTEN', `cannot listen on ${authorityOf(host, port)}: ${messageOf(cause)}`, {
          category: 'process',
          hint: 'Choose another --port, or leave it out for a free one.',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}
