/**
 * The tool calls of a log that is being imported: by the ids of their source, which need not be unique, and the ones
 * that they get here.
 */

export interface ImportedCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly source: string | undefined;
  request?: CallRequest;
  /** The answer to its question. */
  response?: string;
  isDenied: boolean;
}

interface CallRequest {
  readonly requestId: string;
  readonly kind: 'permission' | 'question';
  /** As the source names it. */
  readonly source: string | undefined;
  isAnswered?: boolean;
}

export interface CallWords {
  readonly callId?: string | undefined;
  readonly name?: string | undefined;
}

const MAX_CALL_ID_CHARACTERS = 200;

/** Every check is as cheap with many open calls as with one. */
export class ImportedCalls {
  /** In the order in which they began, by the ids that they have here. */
  readonly #open = new Map<string, ImportedCall>();
  readonly #bySource = new Map<string, ImportedCall>();
  /** The newest one last; those that have ended are taken away when they are met. */
  readonly #byName = new Map<string, ImportedCall[]>();
  readonly #byRequest = new Map<string, ImportedCall>();
  readonly #used = new Set<string>();
  /** Ids of the source whose call has come to its end, with what was called. */
  readonly #ended = new Map<string, string>();

  /** A call that is in no log yet. */
  make({ source, name, input }: Pick<ImportedCall, 'source' | 'name' | 'input'>, fresh: () => string): ImportedCall {
    const canKeep = source !== undefined && source.length <= MAX_CALL_ID_CHARACTERS && !this.#used.has(source);
    return { callId: canKeep ? source : fresh(), name, input, source, isDenied: false };
  }

  begin(call: ImportedCall): void {
    this.#used.add(call.callId);
    this.#open.set(call.callId, call);
    if (call.source !== undefined) this.#bySource.set(call.source, call);
    const sameName = this.#byName.get(call.name);
    if (sameName === undefined) this.#byName.set(call.name, [call]);
    else sameName.push(call);
  }

  ask(call: ImportedCall, request: CallRequest): void {
    call.request = request;
    this.#byRequest.set(request.requestId, call);
    if (request.source !== undefined) this.#byRequest.set(request.source, call);
  }

  /** Whether the same call is in the log already. */
  isSame(source: string, { name, input }: Pick<ImportedCall, 'name' | 'input'>): boolean {
    const open = this.#bySource.get(source);
    const known = open === undefined ? this.#ended.get(source) : printOf(open);
    return known !== undefined && known === printOf({ name, input });
  }

  hasEnded(source: string): boolean {
    return this.#ended.has(source);
  }

  /** The open call that is meant: by its id, else the newest one of that name, else the only one. */
  find({ callId, name }: CallWords): ImportedCall | undefined {
    if (callId !== undefined) return this.#bySource.get(callId);
    if (name === undefined) return this.#open.size === 1 ? [...this.#open.values()][0] : undefined;
    const named = this.#byName.get(name) ?? [];
    while (named.length > 0 && !this.#isOpen(named.at(-1))) named.pop();
    return named.at(-1);
  }

  /** The open call that waits for an answer to this request. */
  asking({
    callId,
    requestId,
  }: {
    readonly callId?: string | undefined;
    readonly requestId?: string | undefined;
  }): ImportedCall | undefined {
    const call =
      requestId !== undefined
        ? this.#byRequest.get(requestId)
        : callId !== undefined
          ? this.#bySource.get(callId)
          : undefined;
    return call !== undefined && call.request !== undefined && this.#isOpen(call) ? call : undefined;
  }

  close(call: ImportedCall): void {
    this.#open.delete(call.callId);
    if (call.source === undefined) return;
    this.#bySource.delete(call.source);
    this.#ended.set(call.source, printOf(call));
  }

  stillOpen(): readonly ImportedCall[] {
    return [...this.#open.values()];
  }

  #isOpen(call: ImportedCall | undefined): boolean {
    return call !== undefined && this.#open.get(call.callId) === call;
  }
}

function printOf({ name, input }: Pick<ImportedCall, 'name' | 'input'>): string {
  return `${name}\n${JSON.stringify(input)}`;
}
