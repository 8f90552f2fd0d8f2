/**
 * Lets other XState programs show themselves: they connect with `createWebSocketInspector`. Nothing of it is loaded
 * before it is asked for.
 */
import type { StatelyReceiverOptions } from './receiver-options.ts';
import type { StatelyReceiver } from './receiver-server.ts';

/**
 * Starts listening.
 * @throws RuntimeError STATELY_OPTIONS_INVALID, STATELY_PORT_TAKEN, STATELY_CANNOT_LISTEN
 */
export async function createStatelyReceiver(options: StatelyReceiverOptions): Promise<StatelyReceiver> {
  return (await import('./receiver-server.ts')).listen(options);
}
