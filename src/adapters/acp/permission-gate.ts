/**
 * Asks whether something may be done, for as long as the turn lasts. A person who is not asked, or does not answer in
 * time, has not allowed it.
 */
import type { AgentRunParams, RunPermissionAnswer, RunPermissionRequest } from '../../actors/run/agent-runtime.ts';
import { shownRequest } from '../../actors/run/shown-request.ts';
import { messageOf } from '../../machines/errors.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';

/** In one run: each may be a question to a person. */
const MAX_QUESTIONS = 10_000;

export interface PermissionGateOptions {
  readonly requestPermission: AgentRunParams['requestPermission'];
  readonly redaction: SecretRedaction;
  /** A person is waited for, until the function that it returns is called. */
  readonly onWait: () => () => void;
  /** More was asked than a person could answer. */
  readonly onFlood: (message: string) => void;
}

const NOBODY_PERMITS: RunPermissionAnswer = { decision: 'deny', message: 'No person is there to permit it.' };
const OVER = { decision: 'deny', message: 'The turn is over.' } as const satisfies RunPermissionAnswer;

export class PermissionGate {
  readonly #options: PermissionGateOptions;
  readonly #closed: Promise<RunPermissionAnswer>;
  #close: () => void = () => undefined;
  readonly #over = new AbortController();
  #isOpen = true;
  #count = 0;

  constructor(options: PermissionGateOptions) {
    this.#options = options;
    this.#closed = new Promise((resolve) => {
      this.#close = () => resolve(OVER);
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The turn ends: nothing is allowed any more, and what is waited for is denied. */
  close(): void {
    this.#isOpen = false;
    this.#close();
    this.#over.abort(OVER.message);
  }

  /** Never rejects. What it allows has been allowed while the turn lasted. */
  async ask(request: RunPermissionRequest): Promise<RunPermissionAnswer> {
    const { requestPermission, redaction, onWait, onFlood } = this.#options;
    if (requestPermission === undefined) return NOBODY_PERMITS;
    if (!this.#isOpen) return OVER;
    this.#count += 1;
    if (this.#count > MAX_QUESTIONS) {
      onFlood(`it has asked for permission more than ${MAX_QUESTIONS} times`);
      return OVER;
    }
    const done = onWait();
    try {
      const answer = await Promise.race([
        requestPermission(shownRequest({ ...request, signal: this.#over.signal }, redaction)),
        this.#closed,
      ]);
      return this.#isOpen ? answer : OVER;
    } catch (error) {
      return { decision: 'deny', message: `It could not be permitted: ${messageOf(error)}` };
    } finally {
      done();
    }
  }
}
