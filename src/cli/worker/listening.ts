/** Where a program that runs for long answers scrapers and probes. */
import { InvalidArgumentError } from 'commander';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';

/** Reads `9464`, `127.0.0.1:9464`, `localhost:9464` or `[::]:9464`. */
export function listenAddress(value: string): ListenAddress {
  const [, bracketed, name, digits = ''] = /^(?:\[([0-9a-fA-F:.]+)\]:|([^:[\]\s/]+):)?(\d{1,5})$/.exec(value) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535)
    throw new InvalidArgumentError('Expected PORT or ADDRESS:PORT, such as 9464 or 0.0.0.0:9464.');
  const host = bracketed ?? name ?? LOOPBACK;
  return { host: host === 'localhost' ? LOOPBACK : host, port };
}
