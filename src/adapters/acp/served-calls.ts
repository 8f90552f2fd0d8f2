/** What we do for an agent because it asks us: told like a tool, allowed like a tool, and ended with the turn. */
import type { RunPermissionAnswer, RunToolMeaning } from '../../actors/run/agent-runtime.ts';
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import { messageOf } from '../../machines/errors.ts';
import { RequestRefused } from './agent-link.ts';
import type { PermissionGate } from './permission-gate.ts';

export interface ServedCall<Prepared> {
  readonly name: string;
  readonly input: unknown;
  /** A call of the agent's own, which was asked for, has shown just this. */
  readonly isAllowed?: boolean;
  /** Finds out what it comes to, and touches nothing. */
  readonly prepare: () => Promise<{ readonly means: RunToolMeaning; readonly prepared: Prepared }>;
}

export interface AllowedCall<Prepared> {
  readonly callId: string;
  readonly prepared: Prepared;
}

export interface ServedCallsOptions {
  readonly gate: PermissionGate;
  readonly ledger: ToolLedger;
  /** What the agent said before comes before what it asks now. */
  readonly onRequest: () => void;
}

const ALLOWED: RunPermissionAnswer = { decision: 'allow' };

export class ServedCalls {
  readonly #options: ServedCallsOptions;
  readonly #underWay = new Set<Promise<unknown>>();
  #count = 0;

  constructor(options: ServedCallsOptions) {
    this.#options = options;
  }

  /** Resolves when it is allowed, with a call that the caller has to end. @throws RequestRefused */
  async begin<Prepared>({
    name,
    input,
    isAllowed = false,
    prepare,
  }: ServedCall<Prepared>): Promise<AllowedCall<Prepared>> {
    const { gate, ledger, onRequest } = this.#options;
    if (!gate.isOpen) throw new RequestRefused('failed', 'There is no turn under way: nothing can be done now.');
    const callId = this.#newId();
    onRequest();
    ledger.requested({ callId, name, input });
    try {
      const { means, prepared } = await prepare();
      const answer = isAllowed ? ALLOWED : await gate.ask({ callId, name, input, means });
      if (answer.decision === 'deny') throw new RequestRefused('failed', answer.message);
      ledger.started(callId);
      return { callId, prepared };
    } catch (error) {
      const refusal = error instanceof RequestRefused ? error : new RequestRefused('failed', messageOf(error));
      ledger.ended({ callId, outcome: 'denied', output: refusal.message });
      throw refusal;
    }
  }

  /** Does it once it is allowed; `shown` says of the result what is worth telling. @throws RequestRefused */
  async serve<Prepared, Result>(
    call: ServedCall<Prepared>,
    work: (prepared: Prepared) => Promise<{ readonly result: Result; readonly shown: string }>,
  ): Promise<Result> {
    const { callId, prepared } = await this.begin(call);
    const { ledger } = this.#options;
    const doing = work(prepared);
    this.#underWay.add(doing);
    try {
      const { result, shown } = await doing;
      ledger.ended({ callId, outcome: 'completed', output: shown });
      return result;
    } catch (error) {
      ledger.ended({ callId, outcome: 'failed', output: messageOf(error) });
      throw error instanceof RequestRefused ? error : new RequestRefused('failed', messageOf(error));
    } finally {
      this.#underWay.delete(doing);
    }
  }

  /** Resolves when nothing is under way any more. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /** None that the agent has used for a tool of its own. */
  #newId(): string {
    do this.#count += 1;
    while (this.#options.ledger.isKnown(`asked-of-us:${this.#count}`));
    return `asked-of-us:${this.#count}`;
  }
}
