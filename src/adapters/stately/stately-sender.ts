/**
 * Shows an inspection in another inspector: what is recorded goes out as frames of @statelyai/inspect over a WebSocket.
 * It leaves the machine, so nothing is sent before the user was told what it is. Nothing of it is loaded before it is
 * asked for.
 */
import type { StatelySenderOptions } from './sender-options.ts';
import type { StatelySender } from './sending.ts';

/**
 * Tells what leaves, then begins to connect. It goes on trying until it is closed.
 * @throws RuntimeError STATELY_SENDER_OPTIONS_INVALID, STATELY_SEND_REFUSED for an address that would show everything
 * on the way
 */
export async function createStatelySender(options: StatelySenderOptions): Promise<StatelySender> {
  return (await import('./sending.ts')).startSending(options);
}
