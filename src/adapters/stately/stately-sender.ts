/**
 * Shows an inspection in another inspector: what is recorded goes out as frames of @statelyai/inspect over a WebSocket.
 * It leaves the machine, so nothing is sent before the user was told what it is. Nothing of it is loaded before it is
 * asked for.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import type { InspectionRecording } from '../../actors/inspection/inspection-source.ts';

export interface StatelySenderOptions {
  /** `wss://` to any host, `ws://` to this machine only. */
  readonly to: string;
  readonly recording: InspectionRecording;
  /** Number of the first record. Default: the oldest that is left. */
  readonly from?: number | undefined;
  /** Takes secrets out of every text once more, with what is known by now. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Secrets that `redact` does not know of, by name: the announcement of what leaves names them. */
  readonly unknownSecrets?: readonly string[] | undefined;
  readonly clock: Clock;
  /**
   * Is told what leaves the machine before anything does, and later what happens to the connection: whole lines. At
   * first it is waited for; when it throws then, nothing is sent.
   */
  readonly tell: (text: string) => void | Promise<void>;
  /**
   * Milliseconds between attempts to connect: the first, doubled up to the longest, each drawn from its upper half.
   * Default 500 and 30,000.
   */
  readonly retry?: { readonly firstMs?: number | undefined; readonly longestMs?: number | undefined } | undefined;
}

export interface StatelySenderStatistics {
  readonly isConnected: boolean;
  /** Given to the connection; whether they arrived is not known. */
  readonly sentFrames: number;
  /** Records that were forgotten by the recording before they could be sent. */
  readonly droppedRecords: number;
  /** Times that a connection was lost or could not be made. */
  readonly failures: number;
}

export interface StatelySender extends AsyncDisposable {
  readonly statistics: StatelySenderStatistics;
  /** Resolves when everything that is recorded now was given to the connection, or when it is closed. */
  drained(): Promise<void>;
  /** Sends no more, and disconnects. Idempotent. */
  close(): Promise<void>;
}

/**
 * Tells what leaves, then begins to connect. It goes on trying until it is closed.
 * @throws RuntimeError STATELY_SENDER_OPTIONS_INVALID, STATELY_SEND_REFUSED for an address that would show everything
 * on the way
 */
export async function createStatelySender(options: StatelySenderOptions): Promise<StatelySender> {
  return (await import('./sending.ts')).startSending(options);
}
