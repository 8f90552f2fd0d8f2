/** One stream of a command's output, as chunks that are gone after the call. */
import { Socket } from 'node:net';
import type { OnReadOpts, SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';

export interface OutputSource {
  /** Begins to deliver. A chunk is valid during the call only: its memory is used again. */
  start(onChunk: (chunk: Uint8Array) => void): void;
  pause(): void;
  resume(): void;
  /** Stops for good. */
  destroy(): void;
  /** Resolves when the stream has ended, failed or been destroyed. */
  readonly closed: Promise<void>;
}

/** As much as a pipe holds by default. */
const READ_BYTES = 65_536;
/** One for all: data is read and handled in one go, so two reads never meet in it. */
const shared = new Uint8Array(READ_BYTES);

/** Reads a pipe, and owns `descriptor` from now on. Its writing end must be open until the first process has it. */
export function pipeSource(descriptor: number): OutputSource {
  let deliver: ((chunk: Uint8Array) => void) | undefined;
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer: shared,
      callback: (bytes) => {
        deliver?.(bytes === READ_BYTES ? shared : shared.subarray(0, bytes));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  return {
    ...controlsOf(socket),
    start: (onChunk) => {
      deliver = onChunk;
      // There are no such events while `onread` is served; a Node that did not know it would still deliver. It makes
      // the stream flow, too.
      socket.on('data', onChunk);
    },
  };
}

export function streamSource(stream: Readable): OutputSource {
  return {
    ...controlsOf(stream),
    start: (onChunk) => {
      stream.on('data', onChunk);
    },
  };
}

function controlsOf(stream: Readable): Pick<OutputSource, 'pause' | 'resume' | 'destroy' | 'closed'> {
  // A stream that fails is closed next.
  stream.on('error', () => undefined);
  return {
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    destroy: () => stream.destroy(),
    closed: new Promise((resolve) => {
      stream.once('close', () => resolve());
    }),
  };
}
