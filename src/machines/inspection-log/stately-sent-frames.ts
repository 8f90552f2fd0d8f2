/**
 * The records of an inspection as frames for another program's inspector. Actors, events and states go out; actions,
 * timers and emitted events have no frame there. How the actors that live stand is remembered, so that a later listener
 * can be told.
 */
import type { ChartDescription } from '../inspection/chart-description.ts';
import { isRecord } from '../validate.ts';
import type { InspectedStatus, InspectedValue, InspectionRecord, InspectionRecordOf } from './inspection-record.ts';
import { definitionOf } from './stately-config-writer.ts';
import { STATELY_VERSION } from './stately-frames.ts';
import type { StatelyText } from './stately-text.ts';

/** JSON. */
export type SentFrame = Readonly<Record<string, unknown>>;

/** Parents further up than this are not searched for. */
const MAX_DEPTH = 1_000;

interface Known {
  readonly told: InspectionRecordOf<'actor'>;
  value: InspectedValue | undefined;
  status: InspectedStatus;
  context: unknown;
}

export interface SentFramesOptions {
  readonly text: StatelyText;
  /** Living actors of which something is remembered. Further ones are sent and not told again. */
  readonly maxActors: number;
}

export class SentFrames {
  readonly #options: SentFramesOptions;
  readonly #charts = new Map<string, ChartDescription>();
  readonly #known = new Map<string, Known>();

  constructor(options: SentFramesOptions) {
    this.#options = options;
  }

  of(record: InspectionRecord): readonly SentFrame[] {
    switch (record.k) {
      case 'machine':
        this.#charts.set(record.id, record.chart);
        return [];
      case 'actor':
        return this.#told(record);
      case 'event':
        return [
          {
            ...this.#common(record, '@xstate.event'),
            ...(record.from === undefined ? {} : { sourceId: record.from }),
            event: this.#event(record.type, record.data),
          },
        ];
      case 'step':
        return this.#stood(record, record.type, { context: this.#payload(record.context) });
      case 'snap':
        return this.#stood(record, '', {
          output: this.#payload(record.output),
          ...(record.error === undefined
            ? {}
            : { error: { message: this.#options.text.message(record.error.message) } }),
        });
      case 'error':
        return this.#stood({ ...record, status: 'error' }, '', {
          error: { message: this.#options.text.message(record.message) },
        });
      case 'action':
      case 'emit':
      case 'timer':
      case 'cancel':
        return [];
    }
  }

  /** The actors that live, as they stand, parents before their children where they were told so. */
  again(t: number): readonly SentFrame[] {
    return [...this.#known.values()].map((known) => this.#actor(known, t));
  }

  #told(record: InspectionRecordOf<'actor'>): readonly SentFrame[] {
    const before = this.#known.get(record.a);
    const known: Known = {
      told: record,
      value: record.value ?? before?.value,
      status: record.status,
      context: before?.context,
    };
    if (before !== undefined || this.#known.size < this.#options.maxActors) this.#known.set(record.a, known);
    const frame = this.#actor(known, record.t);
    if (record.status !== 'active') this.#known.delete(record.a);
    return [frame];
  }

  #actor({ told, value, status, context }: Known, t: number): SentFrame {
    const { parent, id } = told;
    const chart = told.chart === undefined ? undefined : this.#charts.get(told.chart);
    const { text } = this.#options;
    return {
      ...this.#common({ ...told, t }, '@xstate.actor'),
      name: text.name(id),
      ...(parent === undefined ? {} : { parentId: parent }),
      definition: chart === undefined ? JSON.stringify({ id: text.name(id) }) : definitionOf(chart),
      snapshot: { status, ...(value === undefined ? {} : { value }), context: context ?? {} },
    };
  }

  #stood(
    record: {
      readonly a: string;
      readonly t: number;
      readonly status: InspectedStatus;
      readonly value?: InspectedValue | undefined;
    },
    type: string,
    said: Readonly<Record<string, unknown>>,
  ): readonly SentFrame[] {
    const known = this.#known.get(record.a);
    const value = record.value ?? known?.value;
    const context = said['context'] ?? known?.context;
    if (known !== undefined) {
      known.value = value;
      known.status = record.status;
      known.context = context;
    }
    const frame = {
      ...this.#common(record, '@xstate.snapshot'),
      event: { type: this.#options.text.name(type) },
      snapshot: { ...said, status: record.status, ...(value === undefined ? {} : { value, context: context ?? {} }) },
    };
    if (record.status !== 'active') this.#known.delete(record.a);
    return [frame];
  }

  #common({ a, t }: { readonly a: string; readonly t: number }, type: string): SentFrame {
    return {
      type,
      _version: STATELY_VERSION,
      createdAt: String(Math.trunc(t)),
      id: null,
      rootId: this.#rootOf(a),
      sessionId: a,
    };
  }

  #rootOf(key: string): string {
    let root = key;
    for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
      const parent = this.#known.get(root)?.told.parent;
      if (parent === undefined || parent === key) return root;
      root = parent;
    }
    return root;
  }

  #event(type: string, data: unknown): SentFrame {
    const beside = this.#payload(data);
    const named = { type: this.#options.text.name(type) };
    if (beside === undefined) return named;
    return isRecord(beside) ? { ...beside, ...named } : { ...named, data: beside };
  }

  #payload(value: unknown): unknown {
    return value === undefined ? undefined : this.#options.text.payload(value).data;
  }
}
