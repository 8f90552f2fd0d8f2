/**
 * Writes the records of one log, in order: the charts before their first actors, the lives of actors as they go through
 * those.
 */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import { cutText } from '../cut-text.ts';
import type { ChartDescription } from '../inspection/chart-description.ts';
import { invokesOf } from '../inspection/chart-reading.ts';
import { exploredMachine } from '../inspection/explored-machine.ts';
import type { ExploredMachine, TriedSnapshot } from '../inspection/explored-machine.ts';
import { boundedData } from './bounded-data.ts';
import { MAX_NAME_CHARACTERS } from './inspection-record.ts';
import type { InspectedStatus, InspectedValue, InspectionRecord } from './inspection-record.ts';

/** Records differ by kind, and are checked where they are read; what is common to all is added here. */
type Body = { readonly [Record in InspectionRecord as Record['k']]: Omit<Record, 's' | 't'> }[InspectionRecord['k']];

export class SessionRecordWriter {
  readonly #boot: string;
  readonly #charts = new Set<string>();
  #records: InspectionRecord[] = [];
  #number = 0;
  #actors = 0;
  #events = 0;
  /** When what is written now happened. */
  t = 0;

  constructor(boot: string) {
    this.#boot = boot;
  }

  write(body: Body): void {
    this.#number += 1;
    this.#records.push({ s: this.#number, t: this.t, ...body });
  }

  /** @returns what was written since it was asked last */
  take(): readonly InspectionRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  /** @returns the number of the event */
  send(
    a: string,
    { from, type, data }: { readonly from?: string | undefined; readonly type: string; readonly data?: unknown },
  ): number {
    this.#events += 1;
    this.write({
      k: 'event',
      a,
      e: this.#events,
      ...(from === undefined ? {} : { from }),
      type: nameOf(type),
      ...(data === undefined ? {} : boundedData(data)),
    });
    return this.#events;
  }

  /** @returns the key of the actor */
  begin(
    chart: () => ChartDescription,
    kind: string,
    {
      parent,
      id,
      value,
      facts,
    }: {
      readonly parent?: string;
      readonly id: string;
      readonly value: InspectedValue;
      readonly facts: Readonly<Record<string, string | undefined>>;
    },
  ): string {
    const a = `${this.#boot}:x:${this.#actors}`;
    this.#actors += 1;
    if (!this.#charts.has(kind)) {
      this.#charts.add(kind);
      this.write({ k: 'machine', a, id: kind, chart: chart() });
    }
    const given = Object.entries(facts).flatMap(([name, fact]) => (fact === undefined ? [] : [[name, nameOf(fact)]]));
    this.write({
      k: 'actor',
      a,
      ...(parent === undefined ? {} : { parent }),
      id: nameOf(id),
      kind,
      chart: kind,
      value,
      status: 'active',
      facts: Object.fromEntries(given) as Record<string, string>,
    });
    return a;
  }
}

function nameOf(text: string): string {
  return cutText(text, MAX_NAME_CHARACTERS);
}

/** One actor that is taken through its chart by what the log tells of it. */
export class ToldLife {
  readonly key: string;
  readonly #writer: SessionRecordWriter;
  readonly #machine: ExploredMachine;
  #snapshot: TriedSnapshot | undefined;

  constructor(writer: SessionRecordWriter, { chart, machine, ...told }: LifeOptions) {
    this.#writer = writer;
    this.#machine = machine;
    this.#snapshot = machine.start(told.input).snapshot;
    this.key = writer.begin(chart, machine.machine.id, {
      parent: told.parent,
      id: told.id,
      value: this.#value,
      facts: told.facts,
    });
  }

  /** The path of the innermost state, such as `running.stepping`; undefined where the life has ended. */
  get state(): string | undefined {
    return this.#snapshot?.status === 'active' ? pathOf(this.#value) : undefined;
  }

  /** Nothing is written where the chart does not take it. @param from who sent it */
  send(event: AnyEventObject, from: string): void {
    this.#step(event, () => this.#writer.send(this.key, { from, type: event.type }));
  }

  /** The invoked actor `id` of the state has answered. */
  done(id: string, output?: unknown): void {
    const invoked = (this.#snapshot?._nodes ?? []).flatMap(invokesOf).find(({ invocation }) => invocation.id === id);
    if (invoked !== undefined)
      this.#step({ type: `xstate.done.actor.${invoked.raw}`, actorId: invoked.raw, output }, () => undefined);
  }

  /** The log tells no more of it. @param value where it ended, if that is not where it was seen last */
  end(
    status: InspectedStatus,
    { value = this.#value, output }: { readonly value?: InspectedValue | undefined; readonly output?: unknown } = {},
  ): void {
    const { data, cut } = boundedData(output);
    this.#writer.write({
      k: 'snap',
      a: this.key,
      value,
      status,
      ...(data === undefined ? {} : { output: data }),
      ...(cut === undefined ? {} : { cut }),
    });
    this.#snapshot = undefined;
  }

  get #value(): InspectedValue {
    return (this.#snapshot?.value ?? '') as InspectedValue;
  }

  #step(event: AnyEventObject, sent: () => number | undefined): void {
    if (this.#snapshot === undefined) return;
    const { snapshot, taken } = this.#machine.step(this.#snapshot, event);
    if (snapshot === undefined || taken.length === 0) return;
    const e = sent();
    this.#snapshot = snapshot;
    this.#writer.write({
      k: 'step',
      a: this.key,
      ...(e === undefined ? {} : { e }),
      type: nameOf(event.type),
      taken: [...taken],
      value: this.#value,
      status: snapshot.status === 'done' ? 'done' : 'active',
    });
  }
}

interface LifeOptions {
  readonly chart: () => ChartDescription;
  readonly machine: ExploredMachine;
  readonly input: unknown;
  readonly parent: string;
  readonly id: string;
  readonly facts: Readonly<Record<string, string | undefined>>;
}

/** A copy of the chart that can be gone through without anything happening, made when it is first needed. */
export function lazilyExplored(machine: AnyStateMachine): () => ExploredMachine {
  let explored: ExploredMachine | undefined;
  return () => (explored ??= exploredMachine(machine));
}

function pathOf(value: InspectedValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([key, inner]) => `${key}.${pathOf(inner)}`)
    .join(' + ');
}

/** The state that a path of one leaf stands for. */
export function valueOf(path: string): InspectedValue {
  return (
    path
      .split('.')
      .reduceRight<InspectedValue | undefined>(
        (inner, key) => (inner === undefined ? key : { [key]: inner }),
        undefined,
      ) ?? ''
  );
}
