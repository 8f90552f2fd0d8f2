/**
 * A worker with the talk to it: knows whether it is ready and warm, and keeps what else it says until a caller has a
 * job for it.
 */
import { readChildMessage } from '../../machines/subagent/worker-messages.ts';
import type {
  SubagentWorkerChildMessage,
  SubagentWorkerParentMessage,
} from '../../machines/subagent/worker-protocol.ts';
import { ExchangeFolder } from './exchange-folder.ts';
import type { BrokenTalk } from './message-link.ts';
import { MessageLink } from './message-link.ts';
import type { WorkerProcess } from './worker-process.ts';

// How many long messages of one worker are read. Each is read at once, so that all keep their order, and takes some
// milliseconds: a job says a few of them while people answer, and one at its end.

/** In a row. */
export const LONG_MESSAGES_AT_ONCE = 100;
const LONG_MESSAGES_PER_SECOND = 10;

export class MessagePace {
  readonly #now: () => number;
  #left = LONG_MESSAGES_AT_ONCE;
  #counted: number;

  /** @param now milliseconds that only count on */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#counted = now();
  }

  /** Why the next one is not read, in words; undefined when it is, which counts it. */
  refusal(): string | undefined {
    const now = this.#now();
    this.#left = Math.min(
      LONG_MESSAGES_AT_ONCE,
      this.#left + ((now - this.#counted) * LONG_MESSAGES_PER_SECOND) / 1_000,
    );
    this.#counted = now;
    if (this.#left < 1)
      return `expected at most ${LONG_MESSAGES_AT_ONCE} long messages in a row and then ${LONG_MESSAGES_PER_SECOND} in a second, received more`;
    this.#left -= 1;
    return undefined;
  }
}

/** One that talks on and on before it has a job has nothing to say. */
const MAX_UNHEARD = 100;

/** What a job hears of its worker. */
export type WorkerNews =
  | { readonly kind: 'message'; readonly message: SubagentWorkerChildMessage }
  | { readonly kind: 'invalid'; readonly complaint: string }
  | { readonly kind: 'broken'; readonly broken: BrokenTalk };

export class TalkingWorker {
  readonly process: WorkerProcess;
  /** Resolves when it has said that it is there. */
  readonly ready: Promise<void>;
  /** Resolves when it has loaded all that jobs need, or with the reason why it could not. */
  readonly warm: Promise<string | undefined>;
  /** It answers each follow-up that has an id. */
  confirms = false;
  readonly #link: MessageLink<SubagentWorkerChildMessage, SubagentWorkerParentMessage>;
  #saysReady: () => void = () => undefined;
  #saysWarm: (error: string | undefined) => void = () => undefined;
  #hear: ((news: WorkerNews) => void) | undefined;
  #unheard: WorkerNews[] = [];
  readonly #longMessages = new MessagePace();

  constructor(process: WorkerProcess) {
    this.process = process;
    this.ready = new Promise((resolve) => {
      this.#saysReady = resolve;
    });
    this.warm = new Promise((resolve) => {
      this.#saysWarm = resolve;
    });
    this.#link = new MessageLink({
      folder: new ExchangeFolder(process.folder, 'parent'),
      read: readChildMessage,
      refusalOfFile: () =>
        this.#hear === undefined
          ? 'a long message, and it was not asked for anything yet'
          : this.#longMessages.refusal(),
      transmit: process.transmit,
      onMessage: (message) => this.#take(message),
      onInvalid: (complaint) => this.#tell({ kind: 'invalid', complaint }),
      onBroken: (broken) => this.#tell({ kind: 'broken', broken }),
    });
    process.listen((value) => this.#link.take(value));
  }

  /** From now on, after what was not heard yet. */
  hear(hear: (news: WorkerNews) => void): void {
    this.#hear = hear;
    for (const news of this.#unheard.splice(0)) hear(news);
  }

  /** What else it says is not even read. */
  stopHearing(): void {
    this.#link.close();
  }

  /** @throws RuntimeError WORKER_MESSAGE_TOO_LONG; Error when the worker is gone */
  send(message: SubagentWorkerParentMessage): Promise<void> {
    return this.#link.send(message);
  }

  #take(message: SubagentWorkerChildMessage): void {
    if (message.type === 'ready') {
      this.confirms = message.confirms === true;
      this.#saysReady();
    } else if (message.type === 'warm') this.#saysWarm(message.error);
    else this.#tell({ kind: 'message', message });
  }

  #tell(news: WorkerNews): void {
    if (this.#hear !== undefined) this.#hear(news);
    else if (this.#unheard.length < MAX_UNHEARD) this.#unheard.push(news);
  }
}
