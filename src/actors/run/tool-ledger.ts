/**
 * The tools that a program runs itself, told so that each that was requested ends exactly once, whatever the program
 * says or forgets.
 */
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { AgentRunEventBody, BackendToolOutcome } from '../../machines/run/run-output.ts';

/** In one run. */
export const MAX_TOOL_CALLS = 10_000;
/** Of one text in what a tool was given, and in what it gave back. */
export const MAX_INPUT_CHARACTERS = 20_000;
const MAX_OUTPUT_CHARACTERS = 30_000;

const UNKNOWN_END =
  'The program that ran this has ended without telling how it ended. Whether it took effect is unknown. Check before you repeat it.';

interface OpenCall {
  hasStarted: boolean;
  isDenied: boolean;
}

export interface ToolLedgerOptions {
  readonly redaction: SecretRedaction;
  readonly emit: (event: AgentRunEventBody) => void;
  /** Called before a request is told: what was said before it is over. */
  readonly onRequest: () => void;
}

export class ToolLedger {
  readonly #options: ToolLedgerOptions;
  readonly #open = new Map<string, OpenCall>();
  /** Calls that were requested, ended ones too: a program may tell one twice. */
  readonly #known = new Set<string>();

  constructor(options: ToolLedgerOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#known.size;
  }

  isKnown(callId: string): boolean {
    return this.#known.has(callId);
  }

  isOpen(callId: string): boolean {
    return this.#open.has(callId);
  }

  requested({
    callId,
    name,
    input,
  }: {
    readonly callId: string;
    readonly name: string;
    readonly input: unknown;
  }): void {
    if (this.#known.has(callId)) return;
    this.#known.add(callId);
    this.#open.set(callId, { hasStarted: false, isDenied: false });
    const { redaction, emit, onRequest } = this.#options;
    onRequest();
    emit({
      stream: 'tool',
      data: {
        phase: 'requested',
        callId,
        name: redaction.text(name),
        input: redaction.json(input, { maxCharacters: MAX_INPUT_CHARACTERS }),
      },
    });
  }

  started(callId: string): void {
    const call = this.#open.get(callId);
    if (call === undefined || call.hasStarted) return;
    call.hasStarted = true;
    this.#options.emit({ stream: 'tool', data: { phase: 'started', callId } });
  }

  /** It was not permitted. The program still tells how it took that. */
  denied(callId: string): void {
    const call = this.#open.get(callId);
    if (call !== undefined) call.isDenied = true;
  }

  /** What has an outcome of its own must have run: a program need not tell when it began. */
  ended({
    callId,
    outcome,
    output,
  }: {
    readonly callId: string;
    readonly outcome: BackendToolOutcome;
    readonly output: unknown;
  }): void {
    const call = this.#open.get(callId);
    if (call === undefined) return;
    const actual = outcome === 'failed' && call.isDenied && !call.hasStarted ? 'denied' : outcome;
    if (actual === 'completed' || actual === 'failed') this.started(callId);
    this.#open.delete(callId);
    const { redaction, emit } = this.#options;
    emit({
      stream: 'tool',
      data: {
        phase: 'ended',
        callId,
        outcome: actual,
        output: redaction.json(output ?? '', { maxCharacters: MAX_OUTPUT_CHARACTERS }),
      },
    });
  }

  /**
   * The program is gone. What it had not told the end of was cut short where we stopped it; else it is unknown what
   * came of it.
   */
  endAll(wasStopped: boolean): void {
    const end = wasStopped
      ? ({ outcome: 'cancelled', output: 'The run was stopped.' } as const)
      : ({ outcome: 'unknown', output: UNKNOWN_END } as const);
    for (const [callId, { isDenied }] of this.#open)
      this.ended({ callId, ...end, ...(isDenied ? { outcome: 'denied' } : {}) });
  }
}
