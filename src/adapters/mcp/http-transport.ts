/** The SDK's streamable HTTP transport, behind our guard, with the session ended on the server when it is closed. */
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Clock } from '../../actors/clock/clock.ts';
import { within } from '../system/waiting.ts';
import { HttpGuard } from './http-guard.ts';
import type { HttpTransportClass } from './load-sdk.ts';
import type { HttpSettings } from './server-settings.ts';

/** A server that does not answer the end of a session is not waited for. */
const FAREWELL_MS = 2_000;

/** A guard gives up before the SDK does, and says so; see HttpGuard. */
const RECONNECTION = {
  initialReconnectionDelay: 250,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 6,
};

export interface HttpTransportOptions {
  readonly settings: HttpSettings;
  readonly clock: Clock;
  readonly limitBytes: number;
  readonly tooLarge: () => Error;
}

export interface HttpLink {
  readonly transport: StreamableHTTPClientTransport;
  /** Tells the server that the session is over, if it takes that, and closes. Never rejects. */
  farewell(): Promise<void>;
}

export function createHttpLink(
  Transport: HttpTransportClass,
  { settings, clock, limitBytes, tooLarge }: HttpTransportOptions,
): HttpLink {
  const guard = new HttpGuard({ clock, limitBytes, tooLarge });
  const transport = new Transport(settings.url, {
    requestInit: { headers: settings.headers },
    fetch: guard.fetch,
    redirectPolicy: 'same-origin',
    reconnectionOptions: RECONNECTION,
  });
  // The client of the SDK calls what was there before it.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has fields for its listeners, and no events.
  transport.onmessage = (message): void => {
    if ('id' in message && !('method' in message)) guard.answered(message.id);
  };
  const farewell = async (): Promise<void> => {
    await within(
      transport.terminateSession().catch(() => undefined),
      FAREWELL_MS,
      { clock },
    );
    await transport.close();
  };
  return { transport, farewell };
}
