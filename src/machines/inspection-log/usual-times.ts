/**
 * How long the model steps and the calls of an agent took before, by kind, as its logs tell: what runs now for much
 * longer than that may be stuck.
 */
import type { SessionEvent } from '../session/session-event.ts';
import { callSubject } from './call-label.ts';

/** Of one kind, the last of them. */
const MAX_KEPT = 50;
const MAX_KINDS = 200;
/** Fewer tell nothing of what is usual. */
const MIN_KNOWN = 3;

/** What began in one log and has not ended there. */
export class OpenTimes {
  readonly #kinds = new Map<string, string>();
  readonly #began = new Map<string, { readonly kind: string; readonly atMs: number }>();

  see(event: SessionEvent, times: UsualTimes): void {
    const atMs = Date.parse(event.at);
    if (event.type === 'span.started') this.#began.set(event.data.spanId, { kind: STEP, atMs });
    else if (event.type === 'agent.tool_use') this.#kinds.set(event.data.callId, kindOf(event.data));
    else if (event.type === 'agent.tool_started') {
      const kind = this.#kinds.get(event.data.callId);
      if (kind !== undefined) this.#began.set(event.data.callId, { kind, atMs });
    } else if (event.type === 'span.completed')
      this.#end(event.data.spanId, event.data.outcome === 'completed' ? times : undefined, atMs);
    else if (event.type === 'agent.tool_result')
      this.#end(event.data.callId, event.data.outcome === 'completed' ? times : undefined, atMs);
  }

  /** What runs. Undefined: nothing. */
  get kind(): string | undefined {
    return [...this.#began.values()].at(-1)?.kind;
  }

  /** One that did not end well tells nothing of how long one takes. */
  #end(id: string, times: UsualTimes | undefined, atMs: number): void {
    const open = this.#began.get(id);
    this.#began.delete(id);
    this.#kinds.delete(id);
    if (open !== undefined) times?.add(open.kind, Math.max(0, atMs - open.atMs));
  }
}

/** Of one agent. */
export class UsualTimes {
  readonly #times = new Map<string, number[]>();

  add(kind: string, ms: number): void {
    const times = this.#times.get(kind) ?? [];
    if (times.length === 0 && this.#times.size >= MAX_KINDS) return;
    times.push(ms);
    if (times.length > MAX_KEPT) times.shift();
    this.#times.set(kind, times);
  }

  /** The longest of the last ones, in milliseconds. Undefined: too few are known. */
  of(kind: string): number | undefined {
    const times = this.#times.get(kind) ?? [];
    return times.length < MIN_KNOWN ? undefined : Math.max(...times);
  }
}

const STEP = 'a model step';

/** The tool, and of a command the program that it begins with: a test takes longer than a list of files. */
function kindOf({ name, input }: { readonly name: string; readonly input: unknown }): string {
  return `${name} ${callSubject(name, input).trim().split(/\s/)[0] ?? ''}`;
}
