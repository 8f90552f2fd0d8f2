/**
 * What a session has used, wake by wake, told from its log: its own model steps and what judged its outcome. What its
 * children used is in their own logs.
 */
import { priceOf } from '../run/prices.ts';
import type { ModelPrice, PriceTable } from '../run/prices.ts';
import type { RunUsage } from '../run/run-output.ts';
import { costKnown } from '../run/step-cost.ts';
import type { SessionEvent, SessionEventData, SessionEventOf } from '../session/session-event.ts';

/** Older wakes are counted, and not listed. */
const MAX_WAKES = 200;
/** A session asks fewer. */
const MAX_MODELS = 100;

export interface InspectedWake {
  readonly wakeId: string;
  /** ISO-8601. */
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  /** Absent while it runs. */
  readonly outcome?: SessionEventData<'wake.ended'>['outcome'] | undefined;
  readonly steps: number;
  readonly toolCalls: number;
  readonly tokens: number;
  /** In US dollars. Absent: no price is known of any of it. */
  readonly cost?: number | undefined;
}

/** What a session has used so far, as far as its providers told. */
export interface InspectedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars. Absent: no price is known of any of it. */
  readonly cost?: number | undefined;
  /** Some of it has no known price, so that it cost more. */
  readonly isCostPartial: boolean;
  /** The last 200, oldest first. */
  readonly wakes: readonly InspectedWake[];
  readonly wakeCount: number;
  /** Of the models that it has asked, by `provider/model`, as far as they are known. */
  readonly prices?: PriceTable | undefined;
}

type Counting = { -readonly [Name in keyof InspectedWake]: InspectedWake[Name] };

export class SessionUsage {
  readonly #prices: PriceTable;
  readonly #wakes: Counting[] = [];
  #wakeCount = 0;
  #open: Counting | undefined;
  #inputTokens = 0;
  #outputTokens = 0;
  #cost: number | undefined;
  #isCostPartial = false;
  readonly #asked = new Map<string, ModelPrice>();
  /** Who is asked in the step that runs. */
  #model: { readonly provider: string; readonly model: string } | undefined;

  /** @param prices one's own; the known ones come after them */
  constructor(prices: PriceTable = {}) {
    this.#prices = prices;
  }

  get used(): InspectedUsage {
    return {
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      ...(this.#cost === undefined ? {} : { cost: this.#cost }),
      isCostPartial: this.#isCostPartial,
      wakes: this.#wakes.map((wake) => ({ ...wake })),
      wakeCount: this.#wakeCount,
      ...(this.#asked.size === 0 ? {} : { prices: Object.fromEntries(this.#asked) }),
    };
  }

  /** The events in the order of the log, from its first on. */
  see(event: SessionEvent): void {
    if (event.type === 'wake.started') this.#begin(event);
    else if (event.type === 'wake.ended') this.#end(event);
    else if (event.type === 'span.started') this.#model = { provider: event.data.provider, model: event.data.model };
    else if (event.type === 'run.candidate_selected')
      this.#model = { provider: event.data.candidate.provider, model: event.data.candidate.model };
    else if (event.type === 'span.completed') this.#step(event.data);
    else if (event.type === 'agent.tool_use' && this.#open !== undefined) this.#open.toolCalls += 1;
    else if (event.type === 'outcome.evaluated' && event.data.usage !== undefined)
      this.#use(event.data.usage, undefined);
  }

  #begin({ at, data: { wakeId } }: SessionEventOf<'wake.started'>): void {
    this.#open = { wakeId, startedAt: at, steps: 0, toolCalls: 0, tokens: 0 };
    this.#wakeCount += 1;
    this.#wakes.push(this.#open);
    if (this.#wakes.length > MAX_WAKES) this.#wakes.shift();
  }

  /** Another wake may write the end of one that was lost. */
  #end({ at, data: { wakeId, outcome } }: SessionEventOf<'wake.ended'>): void {
    const wake = this.#wakes.findLast((each) => each.wakeId === wakeId);
    if (wake !== undefined) Object.assign(wake, { endedAt: at, outcome } satisfies Partial<Counting>);
    if (this.#open?.wakeId === wakeId) this.#open = undefined;
  }

  #step({ kind, outcome, usage }: SessionEventData<'span.completed'>): void {
    const price = this.#model === undefined ? undefined : priceOf(this.#model, this.#prices);
    if (this.#model !== undefined && price !== undefined && this.#asked.size < MAX_MODELS)
      this.#asked.set(`${this.#model.provider}/${this.#model.model}`, price);
    this.#model = undefined;
    if (this.#open !== undefined && kind === 'model_step' && outcome === 'completed') this.#open.steps += 1;
    this.#use(usage ?? {}, price);
  }

  #use(usage: RunUsage, price: ModelPrice | undefined): void {
    const { inputTokens = 0, outputTokens = 0 } = usage;
    this.#inputTokens += inputTokens;
    this.#outputTokens += outputTokens;
    if (this.#open !== undefined) this.#open.tokens += inputTokens + outputTokens;
    const cost = costKnown(usage, price);
    if (cost === undefined) {
      this.#isCostPartial = true;
      return;
    }
    this.#cost = (this.#cost ?? 0) + cost;
    if (this.#open !== undefined) this.#open.cost = (this.#open.cost ?? 0) + cost;
  }
}
