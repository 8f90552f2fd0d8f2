/** Who may connect: programs of this machine, and pages of the origins that were named. */
import type { IncomingMessage } from 'node:http';
import { authorityOf } from '../system/loopback.ts';
import type { CheckedReceiverOptions } from './receiver-options.ts';
import { RECORDING_HEADER, encodedBoot } from './recording-header.ts';

export interface Refused {
  readonly status: number;
  readonly because: string;
}

export interface Admission {
  readonly options: CheckedReceiverOptions;
  readonly port: number;
  /** Of what is received here. */
  readonly boot: string;
  /** Programs that are connected. */
  readonly connected: number;
}

/** @returns undefined for who may */
export function admit(
  { headers, rawHeaders, method }: IncomingMessage,
  { options, port, boot, connected }: Admission,
): Refused | undefined {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket')
    return { status: 400, because: 'expected a WebSocket to be opened with GET' };
  // A page of another site whose name was made to lead here, which is DNS rebinding, sends that name.
  const hosts = [options.host, 'localhost'].map((name) => authorityOf(name, port));
  if (headers.host === undefined || !hosts.includes(headers.host.toLowerCase()) || countOf(rawHeaders, 'host') > 1)
    return { status: 421, because: `expected the Host header to be ${hosts.join(' or ')}` };
  const { origin } = headers;
  if (origin !== undefined && (!options.origins.includes(origin) || countOf(rawHeaders, 'origin') > 1)) {
    return {
      status: 403,
      because:
        'pages may connect only from origins that were named: start the inspector with --stately-origin and the origin of the page; programs that send no Origin header need none',
    };
  }
  if (headers[RECORDING_HEADER] === encodedBoot(boot))
    return { status: 508, because: 'this recording is sent to where it is received: it would go round for ever' };
  if (connected >= options.limits.connections)
    return { status: 503, because: `expected at most ${options.limits.connections} programs at once` };
  return undefined;
}

function countOf(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;
}
