/** What a model says in one step: told as it comes, and put together as it will be kept. */
import type { RunEvents } from '../../actors/run/run-events.ts';
import type { OpaquePart, RunPayload } from '../../machines/run/run-output.ts';
import type { PieceRedaction, SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { FinishPart, ModelStreamPart } from './language-model.ts';
import { brokenAnswer } from './step-failure.ts';

/**
 * Characters of everything that is said and reasoned. No model writes as much; a server that never ends would fill the
 * memory.
 */
const MAX_ANSWER_CHARACTERS = 32_000_000;

interface Block {
  readonly kind: 'text' | 'reasoning';
  readonly pieces: PieceRedaction<string>;
  text: string;
  /** For reasoning: what the provider wants to be given back. */
  opaque: Record<string, JsonObject>;
}

type Metadata = Extract<ModelStreamPart, { readonly type: 'reasoning-end' }>['providerMetadata'];
type JsonObject = NonNullable<Metadata>[string];
type ToolCallPart = Extract<ModelStreamPart, { readonly type: 'tool-call' }>;

export interface AnswerOptions {
  readonly events: RunEvents;
  readonly redaction: SecretRedaction;
  readonly provider: string;
  readonly model: string;
}

export class Answer {
  readonly #options: AnswerOptions;
  readonly #parts: (Block | Extract<RunPayload, { readonly type: 'tool_call' }>)[] = [];
  /** Those that go on, by kind and the provider's id. */
  readonly #open = new Map<string, Block>();
  #characters = 0;
  #finish: FinishPart | undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** Undefined until the provider says that this is all. */
  get finish(): FinishPart | undefined {
    return this.#finish;
  }

  /** Whether there is anything to work with. */
  get isEmpty(): boolean {
    return !this.#parts.some((part) => ('kind' in part ? part.kind === 'text' && part.text.trim() !== '' : true));
  }

  get text(): string {
    return this.#parts.flatMap((part) => ('kind' in part && part.kind === 'text' ? [part.text] : [])).join('\n\n');
  }

  /** What is nothing that is said is passed over. @throws StepFailure when there is too much of it */
  add(part: ModelStreamPart): void {
    if (part.type === 'finish') this.#finish = part;
    else if (part.type === 'text-start' || part.type === 'reasoning-start')
      this.#begin(kindOf(part), part.id, part.providerMetadata);
    else if (part.type === 'text-delta' || part.type === 'reasoning-delta')
      this.#say(this.#blockOf(kindOf(part), part.id, part.providerMetadata), part.delta);
    else if (part.type === 'text-end' || part.type === 'reasoning-end')
      this.#end(kindOf(part), part.id, part.providerMetadata);
    // What the provider runs itself is nothing that we are asked for.
    else if (part.type === 'tool-call' && part.providerExecuted !== true) this.#call(part);
  }

  /** Nothing comes any more: tells what was held back. */
  close(): void {
    for (const block of this.#open.values()) this.#tell(block, block.pieces.end());
    this.#open.clear();
  }

  /** @param options `isPartial`: it was cut off, so that what it asks for is not run */
  payloads({ isPartial }: { readonly isPartial: boolean }): RunPayload[] {
    const opaque = isPartial ? new Map<Block, OpaquePart>() : this.#opaqueParts();
    return this.#parts.flatMap((part): RunPayload[] => {
      if (!('kind' in part)) return isPartial ? [] : [part];
      if (part.kind === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
      const own = opaque.get(part);
      return part.text === '' && own === undefined
        ? []
        : [{ type: 'reasoning', text: part.text, ...(own === undefined ? {} : { opaque: own }) }];
    });
  }

  #begin(kind: Block['kind'], id: string, metadata: Metadata): Block {
    this.#end(kind, id, undefined);
    const block: Block = { kind, pieces: this.#options.redaction.pieces(), text: '', opaque: {} };
    this.#parts.push(block);
    this.#open.set(`${kind} ${id}`, block);
    note(block, metadata);
    return block;
  }

  #blockOf(kind: Block['kind'], id: string, metadata: Metadata): Block {
    const block = this.#open.get(`${kind} ${id}`) ?? this.#begin(kind, id, undefined);
    note(block, metadata);
    return block;
  }

  #end(kind: Block['kind'], id: string, metadata: Metadata): void {
    const block = this.#open.get(`${kind} ${id}`);
    if (block === undefined) return;
    note(block, metadata);
    this.#open.delete(`${kind} ${id}`);
    this.#tell(block, block.pieces.end());
  }

  #say(block: Block, delta: string): void {
    this.#characters += delta.length;
    if (this.#characters > MAX_ANSWER_CHARACTERS)
      throw brokenAnswer(`it has more than ${MAX_ANSWER_CHARACTERS} characters`);
    this.#tell(block, block.pieces.add(delta));
  }

  #tell(block: Block, text: string): void {
    if (text === '') return;
    block.text += text;
    this.#options.events.emit({ stream: 'assistant', data: { kind: block.kind, text } });
  }

  #call({ toolCallId, toolName, input }: ToolCallPart): void {
    this.#characters += input.length;
    if (this.#characters > MAX_ANSWER_CHARACTERS)
      throw brokenAnswer(`it has more than ${MAX_ANSWER_CHARACTERS} characters`);
    const { redaction, events } = this.#options;
    const call = { callId: toolCallId, name: toolName, input: redaction.json(inputOf(input)) };
    this.#parts.push({ type: 'tool_call', ...call });
    events.emit({ stream: 'tool', data: { phase: 'requested', ...call } });
  }

  /**
   * Reasoning that OpenAI keeps under an id cannot be given back by that id, since it is asked to keep nothing: only
   * what is encrypted can.
   */
  #opaqueParts(): Map<Block, OpaquePart> {
    const { provider, model } = this.#options;
    const blocks = this.#parts.filter((part) => 'kind' in part).filter(({ opaque }) => Object.keys(opaque).length > 0);
    const encrypted = new Set(
      blocks.flatMap(({ opaque: { openai } }) =>
        openai?.['reasoningEncryptedContent'] === undefined ? [] : [openai['itemId']],
      ),
    );
    const usable = blocks.filter(({ opaque: { openai } }) => openai === undefined || encrypted.has(openai['itemId']));
    // Through JSON: values that are absent are none.
    return new Map(
      usable.map((block) => [
        block,
        { provider, model, data: JSON.parse(JSON.stringify(block.opaque)) as OpaquePart['data'] },
      ]),
    );
  }
}

function kindOf({ type }: ModelStreamPart): Block['kind'] {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

/** Later values count: a signature comes at the end, encrypted reasoning is empty at the start. */
function note(block: Block, metadata: Metadata): void {
  if (block.kind !== 'reasoning' || metadata === undefined) return;
  for (const [name, values] of Object.entries(metadata)) {
    const told = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '');
    if (told.length > 0) block.opaque[name] = { ...block.opaque[name], ...Object.fromEntries(told) };
  }
}

/** What is no JSON is given as it came: the check against the tool tells the model. */
function inputOf(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
