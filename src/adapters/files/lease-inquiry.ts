/**
 * One question to the holder of a lease: does it live? Only a refused connection says that it is dead, and only silence
 * for the lease's whole length, while we ourselves were awake, that it is silent.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { LeasePhase } from '../../machines/wake/lease-machine.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { MessageReader, encodeMessage } from './lease-message.ts';
import type { LeaseAnswer } from './lease-message.ts';
import { storageFailed } from './storage-errors.ts';

export type Finding =
  /** No process listens under the name any more, or none ever did. */
  | { readonly kind: 'dead' }
  /** A process holds the name and has not answered for the lease's length. */
  | { readonly kind: 'silent' }
  /** `answer` is missing when it only took our connections, as a process does that has no file descriptors left. */
  | { readonly kind: 'living'; readonly answer: LeaseAnswer | undefined };

/** What to wait for: any answer, one that says whether the right is held, or the end of the process that answers. */
export type InquiryExtent = 'answered' | 'decided' | 'ended';

export interface InquiryOptions {
  readonly address: string;
  readonly clock: Clock;
  /** How long a holder may be silent before it is passed over, in milliseconds. */
  readonly leaseMs: number;
  readonly patience: InquiryExtent;
}

/** Which answers end the wait. */
const IS_ENOUGH = {
  answered: { contending: true, held: true, lost: true },
  decided: { contending: false, held: true, lost: true },
  ended: { contending: false, held: false, lost: true },
} as const satisfies Record<InquiryExtent, Record<LeasePhase, boolean>>;

/**
 * What the system says when no process listens: no such name, one whose owner died, or one that is no socket at all.
 */
const NOBODY_LISTENS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'ENOTDIR',
  'ENOTSOCK',
  'EPROTOTYPE',
  'ELOOP',
]);
/** What it says when the other end hangs up. */
const HUNG_UP: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);
/** What it says when more are waiting to be let in than fit. */
const IS_FULL = 'EAGAIN';

/**
 * A lease's length is counted in this many parts, each no longer than its own time: when the whole machine was asleep,
 * or a container that holds both of us was frozen, one part has passed and the other side has had no chance to answer.
 */
const PARTS = 5;

/**
 * How often a process may hang up on us without a word before we take it to be alive: the dead do not accept
 * connections.
 */
const MAX_HANG_UPS = 3;

export class Inquiry {
  readonly finding: Promise<Finding>;
  readonly #options: InquiryOptions;
  #settle: (finding: Finding) => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  #connection: Socket | undefined;
  #timer: TimerHandle | undefined;
  #answer: LeaseAnswer | undefined;
  #wasAlive = false;
  #silentParts = 0;
  #hangUps = 0;
  #isSettled = false;
  #isClosed = false;

  constructor(options: InquiryOptions) {
    this.#options = options;
    this.finding = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    this.#arm();
    this.#connect();
  }

  /** The last answer, even one that came after it was found to be silent. */
  get answer(): LeaseAnswer | undefined {
    return this.#answer;
  }

  /** Whether it has answered at least once that it has the right, or contends for it. */
  get wasAlive(): boolean {
    return this.#wasAlive;
  }

  /**
   * Tells a silent holder that `epoch` has taken over: it reads that when it is awake again, though we may be gone by
   * then.
   */
  tellPassed(epoch: number): void {
    if (this.#connection === undefined) void leaveNote(this.#options.address, epoch);
    else sendAndHangUp(this.#connection, epoch);
    this.#connection = undefined;
  }

  /** Closes everything. A caller that still waits for the finding gets `dead`. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#end({ kind: 'dead' });
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  #connect(): void {
    if (this.#isClosed) return;
    const connection = connect(this.#options.address);
    const reader = new MessageReader();
    let failure: Error | undefined;
    this.#connection = connection;
    connection.setEncoding('utf8');
    connection.write(encodeMessage({ type: 'ask' }));
    connection.on('data', (text: string) => {
      const messages = reader.read(text);
      // None of ours talks like that: as good as silent.
      if (messages === undefined) connection.pause();
      for (const message of messages ?? []) if (message.type === 'alive') this.#hear(message);
    });
    connection.on('error', (error) => {
      failure = error;
    });
    connection.on('close', () => {
      if (this.#connection === connection) this.#connection = undefined;
      if (!this.#isSettled) this.#goOn(failure);
    });
  }

  #hear(answer: LeaseAnswer): void {
    this.#answer = answer;
    this.#wasAlive ||= answer.phase !== 'lost';
    this.#silentParts = 0;
    this.#hangUps = 0;
    if (IS_ENOUGH[this.#options.patience][answer.phase]) this.#end({ kind: 'living', answer });
  }

  /** The connection is gone. */
  #goOn(failure: Error | undefined): void {
    const code = failure === undefined ? undefined : (systemCodeOf(failure) ?? '');
    if (code === IS_FULL) return;
    if (code !== undefined && NOBODY_LISTENS.has(code)) return this.#end({ kind: 'dead' });
    if (failure !== undefined && code !== undefined && !HUNG_UP.has(code))
      return this.#break(storageFailed('ask the holder of a lease', failure));
    // It unbound its name, or died, or cannot talk: the name tells which.
    this.#hangUps += 1;
    if (this.#hangUps < MAX_HANG_UPS) return this.#connect();
    if (this.#options.patience !== 'ended') this.#end({ kind: 'living', answer: undefined });
  }

  #arm(): void {
    const { clock, leaseMs } = this.#options;
    this.#timer = clock.setTimeout(() => this.#passPart(), leaseMs / PARTS);
  }

  #passPart(): void {
    this.#silentParts += 1;
    if (this.#silentParts < PARTS) {
      this.#askAgain();
      return this.#arm();
    }
    // An answer may lie here unread, if it was us who were not awake: what has arrived is read before this runs.
    setImmediate(() => {
      if (this.#isSettled) return;
      if (this.#silentParts >= PARTS) return this.#end({ kind: 'silent' });
      this.#arm();
    });
  }

  #askAgain(): void {
    if (this.#connection === undefined) return this.#connect();
    // Once is enough for a process that has not answered at all.
    if (this.#answer !== undefined) this.#connection.write(encodeMessage({ type: 'ask' }));
  }

  #end(finding: Finding): void {
    this.#finish();
    this.#settle(finding);
    // A silent one is kept on the line: it may speak up, and wants to be told.
    if (finding.kind === 'silent') return;
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  #break(error: Error): void {
    this.#finish();
    this.#fail(error);
  }

  #finish(): void {
    this.#isSettled = true;
    this.#options.clock.clearTimeout(this.#timer);
  }
}

/**
 * Connects once, without waiting for an answer, and leaves word that `epoch` has taken over, if one is given. Resolves
 * to whether the system says that no process listens.
 */
export function leaveNote(address: string, epoch?: number): Promise<'dead' | 'delivered'> {
  return new Promise((resolve) => {
    const connection = connect(address);
    connection.on('error', (error) => resolve(systemCodeOf(error) === 'ECONNREFUSED' ? 'dead' : 'delivered'));
    connection.on('connect', () => sendAndHangUp(connection, epoch));
    connection.on('close', () => resolve('delivered'));
  });
}

/** What was sent stays for the other end to read, however long it sleeps. */
function sendAndHangUp(connection: Socket, epoch: number | undefined): void {
  connection.end(epoch === undefined ? '' : encodeMessage({ type: 'passed', by: epoch }), () => connection.destroy());
}
