/** Certificates made on the spot, for servers that speak TLS: in a folder that goes with the run. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownServer } from '../../support/postgres-server.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { programFolder, runProgram } from '../../support/postgres-run.ts';

export interface TlsSetup {
  readonly server: PostgresServer;
  /** Of whoever has signed the server's certificate, which is for 127.0.0.1 and for no other name. */
  readonly authority: string;
  /** Of somebody of the same name who has not. */
  readonly impostor: string;
  /** The database with these words for the driver. */
  url(words: Readonly<Record<string, string>>, host?: string): string;
  remove(): Promise<void>;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export async function tlsSetup(): Promise<TlsSetup> {
  const folder = await programFolder(`tls-${randomBytes(4).toString('hex')}`);
  const at = (name: string): string => join(folder, name);
  const openssl = (...words: readonly string[]): Promise<string> => runProgram('openssl', words);
  for (const name of ['authority', 'impostor'])
    await openssl(
      'req',
      '-x509',
      ...KEY,
      '-days',
      '2',
      '-subj',
      '/CN=Tests',
      '-keyout',
      at(`${name}.key`),
      '-out',
      at(`${name}.pem`),
    );
  await openssl(
    'req',
    ...KEY,
    '-subj',
    '/CN=server',
    '-addext',
    'subjectAltName=IP:127.0.0.1',
    '-keyout',
    at('server.key'),
    '-out',
    at('server.csr'),
  );
  await openssl(
    'x509',
    '-req',
    '-days',
    '2',
    '-in',
    at('server.csr'),
    '-copy_extensions',
    'copy',
    '-CA',
    at('authority.pem'),
    '-CAkey',
    at('authority.key'),
    '-out',
    at('server.pem'),
  );
  const server = await ownServer({
    settings: { ssl: 'on', ssl_cert_file: at('server.pem'), ssl_key_file: at('server.key') },
  });
  return {
    server,
    authority: at('authority.pem'),
    impostor: at('impostor.pem'),
    url(words, host = '127.0.0.1') {
      const url = new URL(server.url());
      url.hostname = host;
      for (const [name, value] of Object.entries(words)) url.searchParams.set(name, value);
      return url.href;
    },
    async remove() {
      await server.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
