/** The wakes of a session as bars: in them their model steps with what they used, and the attempts behind those. */
import type { PriceTable } from '../run/prices.ts';
import type { RunUsage } from '../run/run-output.ts';
import { costKnown } from '../run/step-cost.ts';
import type { SessionEventData } from '../session/session-event.ts';
import { outcomeOf } from './actor-outcome.ts';
import type { GrowingBar } from './session-bar.ts';
import { modelName, sentence, wakeEndTold, wakeLabel } from './session-bar-words.ts';
import type { BarMeanings, BarTree, EndedBar } from './session-bars.ts';

/** A model step that is not over. */
interface OpenStep {
  readonly bar: GrowingBar;
  /** Who is asked now. */
  model: string;
  /** The one that runs; of a step that was asked for once only there is none. */
  attempt?: GrowingBar | undefined;
}

const LOST = 'It was lost with its process.';

type Candidate = SessionEventData<'run.attempt_failed'>['candidate'];

export class WakeBars {
  readonly #tree: BarTree;
  readonly #prices: PriceTable;
  readonly #onLost: (heard: number) => void;
  readonly #wakes = new Map<string, GrowingBar>();
  readonly #steps = new Map<string, OpenStep>();
  #open: GrowingBar | undefined;
  /** Undefined: the log is not known from its beginning. */
  #count: number | undefined;
  /** When the one that runs was heard of last. */
  #heard = 0;

  readonly means: BarMeanings = {
    'session.created': () => {
      this.#count = 0;
      return undefined;
    },
    'wake.started': ({ wakeId = '', trigger }) => {
      // Another one begins only when the one before is over, though the log does not say how.
      if (this.#open !== undefined) this.#lose(this.#open);
      this.#count = this.#count === undefined ? undefined : this.#count + 1;
      const label = wakeLabel(this.#count, trigger);
      this.#open = this.#tree.begin({ kind: 'wake', parent: this.#tree.root, label, is: 'working' });
      this.#wakes.set(wakeId, this.#open);
      return this.#open;
    },
    'wake.ended': ({ wakeId = '', ...end }) => {
      const wake = this.#wakes.get(wakeId);
      if (wake === undefined) return undefined;
      this.#wakes.delete(wakeId);
      if (end.outcome === 'lost') this.#lose(wake);
      else this.#end(wake, { outcome: outcomeOf({ status: 'done', output: end }) });
      wake.told = wakeEndTold(end) ?? wake.told;
      return wake;
    },
    'span.started': ({ spanId = '', kind, ...candidate }) => {
      const model = modelName(candidate);
      const label = kind === 'compaction' ? `Summary, ${model}` : model;
      const parent = this.#open ?? this.#tree.root;
      const before = this.#steps.get(spanId);
      if (before !== undefined) this.#endStep(before, { outcome: 'unknown' });
      const bar = this.#tree.begin({ kind: 'step', parent, label, is: 'working' });
      this.#steps.set(spanId, { bar, model });
      return bar;
    },
    'run.attempt_failed': ({ spanId = '', candidate, error }) => {
      const step = this.#steps.get(spanId);
      if (step === undefined) return undefined;
      const attempt = step.attempt ?? this.#try(step, candidate, step.bar.children.length === 0);
      step.attempt = undefined;
      this.#tree.end(attempt, { outcome: 'failed', told: sentence(error?.kind, error?.message) });
      this.#tree.set(step.bar, 'waiting');
      return attempt;
    },
    'run.candidate_selected': ({ spanId = '', candidate }) => {
      const step = this.#steps.get(spanId);
      if (step === undefined) return undefined;
      this.#tree.set(step.bar, 'working');
      if (step.attempt !== undefined) this.#tree.end(step.attempt, { outcome: 'unknown' });
      step.model = modelName(candidate ?? {});
      step.attempt = this.#try(step, candidate, false);
      return step.attempt;
    },
    'run.waiting': ({ spanId = '' }) => {
      const bar = this.#steps.get(spanId)?.bar;
      if (bar !== undefined) this.#tree.set(bar, 'waiting');
      return bar;
    },
    'span.completed': ({ spanId = '', outcome, usage, error }) => {
      const step = this.#steps.get(spanId);
      if (step === undefined) return undefined;
      this.#steps.delete(spanId);
      this.#use(step.bar, usage ?? {}, step.model);
      this.#endStep(step, {
        outcome: outcomeOf({ status: 'done', output: { outcome } }),
        told: outcome === 'lost' ? LOST : sentence(error?.kind, error?.message),
        at: outcome === 'lost' ? this.#heard : undefined,
      });
      return step.bar;
    },
    'outcome.evaluated': ({ usage }) => {
      if (usage !== undefined) this.#use(this.#open ?? this.#tree.root, usage);
      return undefined;
    },
  };

  /** @param onLost of a wake whose process died: when that was heard of last */
  constructor(tree: BarTree, prices: PriceTable, onLost: (heard: number) => void) {
    this.#tree = tree;
    this.#prices = prices;
    this.#onLost = onLost;
  }

  get open(): GrowingBar | undefined {
    return this.#open;
  }

  get heard(): number {
    return this.#heard;
  }

  hear(): void {
    this.#heard = this.#tree.time;
  }

  wake(wakeId: string): GrowingBar | undefined {
    return this.#wakes.get(wakeId);
  }

  /** One that is not over. */
  step(spanId: string): GrowingBar | undefined {
    return this.#steps.get(spanId)?.bar;
  }

  #try(step: OpenStep, candidate: Candidate | undefined, isFirst: boolean): GrowingBar {
    const label = candidate === undefined ? step.model : modelName(candidate);
    const from = isFirst ? { from: step.bar.from, event: step.bar.event } : {};
    return this.#tree.begin({ kind: 'attempt', parent: step.bar, label, is: 'working', ...from });
  }

  /** Its process died: nothing is known of what came after it was heard of last. */
  #lose(wake: GrowingBar): void {
    if (wake.to !== undefined) return;
    this.#onLost(this.#heard);
    this.#end(wake, { outcome: 'unknown', told: LOST, at: this.#heard });
  }

  #end(wake: GrowingBar, end: EndedBar): void {
    if (wake.to === undefined)
      for (const step of this.#steps.values())
        if (step.bar.parent === wake) this.#endStep(step, { outcome: 'unknown', at: end.at });
    this.#tree.end(wake, end);
    if (this.#open === wake) this.#open = undefined;
  }

  #endStep({ bar, attempt }: OpenStep, end: EndedBar): void {
    if (attempt !== undefined) this.#tree.end(attempt, end);
    this.#tree.end(bar, end);
  }

  #use(bar: GrowingBar, usage: RunUsage, model?: string): void {
    const cost = costKnown(usage, model === undefined ? undefined : this.#prices[model]);
    for (let each: GrowingBar | undefined = bar; each !== undefined; each = each.parent) {
      each.tokens += (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
      if (cost === undefined) each.isCostPartial = true;
      else each.cost = (each.cost ?? 0) + cost;
    }
  }
}
