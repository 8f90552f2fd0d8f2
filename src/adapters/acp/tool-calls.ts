/** The calls of an agent's own tools: put together from its news, and told once there is enough to tell. */
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import { isNestedTooDeeply } from '../../machines/vault/secret-redaction.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import { shortened } from '../../machines/vault/shortened.ts';
import type { RunPermissionRequest } from '../../actors/run/agent-runtime.ts';
import { blockText } from './session-updates.ts';
import type { ToolCallNews, ToolContent } from './session-updates.ts';
import { changesIn, hasInput, saysWhat, toolInput, toolMeaning, toolName } from './tool-meaning.ts';
import type { ToolCallFacts, ToolChange } from './tool-meaning.ts';

const MAX_OUTPUT_CHARACTERS = 30_000;

interface Call {
  readonly callId: string;
  facts: ToolCallFacts;
  output: unknown;
  /** What was shown when it asked, and what of that was allowed. */
  offered: readonly ToolChange[];
  allowed: readonly ToolChange[];
  /** It was told before it ran. */
  wasPending: boolean;
}

export class ToolCalls {
  readonly #ledger: ToolLedger;
  readonly #redaction: SecretRedaction;
  /** Those that have not ended. */
  readonly #calls = new Map<string, Call>();
  /** Told by the agent before it had their input; held back so far. */
  readonly #held = new Set<string>();

  constructor(ledger: ToolLedger, redaction: SecretRedaction) {
    this.#ledger = ledger;
    this.#redaction = redaction;
  }

  /** With those that are held back. */
  get count(): number {
    return this.#ledger.count + this.#held.size;
  }

  /** @param isStopping then nothing fails any more: it is cut short */
  take(news: ToolCallNews, isStopping: boolean): void {
    const call = this.#merged(news);
    if (call === undefined) return;
    const { callId } = call;
    if (news.status === 'pending') call.wasPending = true;
    const isEnd = news.status === 'completed' || news.status === 'failed';
    if (isEnd || news.status === 'in_progress' || saysWhat(call.facts.rawInput)) this.#announce(call);
    else if (!this.#ledger.isKnown(callId)) this.#held.add(callId);
    call.output = outputAfter(call.output, news);
    if (news.status === 'in_progress') this.#goesOn(call);
    if (!isEnd) return;
    this.#calls.delete(callId);
    this.#ledger.ended({
      callId,
      outcome: news.status === 'completed' ? 'completed' : isStopping ? 'cancelled' : 'failed',
      output: call.output,
    });
  }

  /**
   * What has to be asked before a call runs, which is told now; undefined when it has ended, or no person could judge
   * it.
   */
  request(news: ToolCallNews): RunPermissionRequest | undefined {
    const call = this.#merged(news);
    if (call === undefined) return undefined;
    this.#announce(call);
    const { callId, facts } = call;
    call.offered = changesIn(facts.content);
    if (isNestedTooDeeply(toolInput(facts))) {
      this.#ledger.denied(callId);
      return undefined;
    }
    const means = toolMeaning(facts);
    return { callId, name: toolName(facts), input: toolInput(facts), ...(means === undefined ? {} : { means }) };
  }

  /** The call of that question may do what it has shown. */
  allowed(callId: string): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) call.allowed = call.offered;
  }

  /** Whether a call that was allowed and goes on has shown just this: then it has been asked for. */
  hasAllowedWrite(path: string, content: string): boolean {
    return [...this.#calls.values()].some(({ allowed }) =>
      allowed.some((change) => change.path === path && change.newText === content),
    );
  }

  /** Something else is told next: what is held back comes before it. */
  release(): void {
    for (const callId of this.#held) {
      const call = this.#calls.get(callId);
      if (call !== undefined) this.#announce(call);
    }
  }

  #merged(news: ToolCallNews): Call | undefined {
    const callId = this.#redaction.text(news.toolCallId);
    const known = this.#calls.get(callId);
    // What has ended stays as it is.
    if (known === undefined && this.#ledger.isKnown(callId)) return undefined;
    const call: Call = known ?? { callId, facts: {}, output: undefined, offered: [], allowed: [], wasPending: false };
    call.facts = mergedFacts(call.facts, news);
    this.#calls.set(callId, call);
    return call;
  }

  /** OpenCode says so of what was pending before it asks for it, and again when it runs. */
  #goesOn(call: Call): void {
    if (call.wasPending) call.wasPending = false;
    else this.#ledger.started(call.callId);
  }

  #announce({ callId, facts }: Call): void {
    this.#held.delete(callId);
    this.#ledger.requested({ callId, name: toolName(facts), input: toolInput(facts) });
  }
}

/** A change tells only what has changed. */
function mergedFacts(known: ToolCallFacts, news: ToolCallNews): ToolCallFacts {
  return {
    title: news.title ?? known.title,
    name: news.name ?? known.name,
    kind: news.kind ?? known.kind,
    content: news.content?.filter(({ type }) => type === 'diff') ?? known.content,
    locations: news.locations ?? known.locations,
    rawInput: inputAfter(known.rawInput, news.rawInput),
  };
}

/**
 * OpenCode leaves out of its question what it has told before, such as the folder of a command, and may ask before it
 * has told more than that.
 */
function inputAfter(known: unknown, told: unknown): unknown {
  if (!hasInput(told) || isPartOf(told, known)) return known;
  const isWhereOnly = hasInput(known) && !saysWhat(known);
  return isWhereOnly && typeof told === 'object' && typeof known === 'object' ? { ...known, ...told } : told;
}

function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null || typeof whole !== 'object' || whole === null) return false;
  const known = new Map<string, unknown>(Object.entries(whole));
  return Object.entries(part).every(([name, value]) => typeof value !== 'object' && known.get(name) === value);
}

/** What the call has given so far: it replaces what was told before, also by nothing. */
function outputAfter(before: unknown, news: ToolCallNews): unknown {
  return outputIn(news) ?? (Array.isArray(news.content) ? undefined : before);
}

/** What the model of the agent was shown, or else what the tool gave; undefined when this tells nothing of it. */
function outputIn({ content, rawOutput }: ToolCallNews): unknown {
  const text = (content ?? []).map(contentText).join('\n');
  if (text !== '') return shortened(text, MAX_OUTPUT_CHARACTERS);
  return rawOutput ?? undefined;
}

function contentText(each: ToolContent): string {
  const { type, content, path, terminalId } = each;
  if (type === 'content' && typeof content === 'object' && content !== null)
    return blockText(content as Readonly<Record<string, unknown>>);
  if (type === 'diff') return `[It changed ${String(path)}.]`;
  if (type === 'terminal') return `[It ran in the terminal ${String(terminalId)}.]`;
  return '';
}
