/** One end of the talk between a runtime and a worker: sends inline or by file, and passes on what can be relied on. */
import { messageOf } from '../../machines/errors.ts';
import {
  WORKER_INLINE_BYTES,
  WORKER_INVALID_IN_A_ROW,
  WORKER_PROTOCOL_VERSION,
} from '../../machines/subagent/worker-protocol.ts';
import { isSurelyShort } from '../../machines/subagent/worker-messages.ts';
import type { ReadingOptions, WorkerReading } from '../../machines/subagent/worker-messages.ts';
import type { ExchangeFolder } from './exchange-folder.ts';

/** What makes talking on useless. */
export interface BrokenTalk {
  readonly kind: 'other_version' | 'invalid_messages';
  readonly complaint: string;
}

export interface MessageLinkOptions<Incoming> {
  readonly folder: ExchangeFolder;
  readonly read: (value: unknown, options?: ReadingOptions) => WorkerReading<Incoming>;
  /** Why a long message is not read now, if it is not. Default: each is. */
  readonly refusalOfFile?: (() => string | undefined) | undefined;
  /** Gives a value to the channel; `done` hears whether it got there. */
  readonly transmit: (value: object, done: (error: Error | null) => void) => void;
  readonly onMessage: (message: Incoming) => void;
  /** A message was dropped. */
  readonly onInvalid: (complaint: string) => void;
  /** Called once; nothing is passed on afterwards. */
  readonly onBroken: (broken: BrokenTalk) => void;
}

export class MessageLink<Incoming, Outgoing extends { readonly type: string }> {
  readonly #options: MessageLinkOptions<Incoming>;
  #invalidInARow = 0;
  #isBroken = false;

  constructor(options: MessageLinkOptions<Incoming>) {
    this.#options = options;
  }

  /**
   * Resolves when the channel has taken it. @throws RuntimeError WORKER_MESSAGE_TOO_LONG; Error when the other end is
   * gone
   */
  async send(message: Outgoing): Promise<void> {
    const value = this.#packed({ v: WORKER_PROTOCOL_VERSION, ...message });
    await new Promise<void>((resolve, reject) => {
      this.#options.transmit(value, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  /** Nothing is passed on any more, nor read. */
  close(): void {
    this.#isBroken = true;
  }

  /** What the channel brought. */
  take(value: unknown): void {
    if (this.#isBroken) return;
    const { onMessage, onBroken } = this.#options;
    const reading = this.#reading(value);
    switch (reading.kind) {
      case 'message':
        this.#invalidInARow = 0;
        onMessage(reading.message);
        return;
      case 'other_version':
        this.#isBroken = true;
        onBroken({ kind: 'other_version', complaint: reading.complaint });
        return;
      case 'file':
      case 'invalid':
        this.#drop(reading.kind === 'file' ? 'a file that only refers to another one' : reading.complaint);
    }
  }

  #reading(value: unknown): WorkerReading<Incoming> {
    const { read, folder, refusalOfFile } = this.#options;
    const reading = read(value);
    if (reading.kind !== 'file') return reading;
    const refusal = refusalOfFile?.();
    if (refusal !== undefined) return { kind: 'invalid', complaint: refusal };
    try {
      return read(folder.read(reading.reference), { isFromFile: true });
    } catch (error) {
      return { kind: 'invalid', complaint: messageOf(error) };
    }
  }

  #drop(complaint: string): void {
    const { onInvalid, onBroken } = this.#options;
    this.#invalidInARow += 1;
    onInvalid(complaint);
    if (this.#invalidInARow < WORKER_INVALID_IN_A_ROW) return;
    this.#isBroken = true;
    onBroken({ kind: 'invalid_messages', complaint });
  }

  #packed(value: object): object {
    if (isSurelyShort(value)) return value;
    const bytes = Buffer.from(JSON.stringify(value), 'utf8');
    return bytes.length <= WORKER_INLINE_BYTES ? value : this.#options.folder.write(bytes);
  }
}
