/**
 * Records in their order, of all actors or of one, by their place: for lists of which only what is seen is asked for.
 * It always tells of what there is now.
 */
import { countUpTo } from './inspected-actor.ts';
import type { InspectedSystem } from './inspected-system.ts';
import type { InspectionRecord } from './inspection-record.ts';

export class RecordSequence {
  readonly #system: InspectedSystem;
  readonly #actor: string | undefined;

  constructor(system: InspectedSystem, actor: string | undefined) {
    this.#system = system;
    this.#actor = actor;
  }

  get length(): number {
    return this.#positions?.length ?? this.#system.blocks.kept;
  }

  /** How many there were before the first, which are forgotten. Of an actor that was forgotten: none. */
  get vanished(): number {
    return this.#actor === undefined
      ? this.#system.blocks.first
      : (this.#system.actors.get(this.#actor)?.vanished ?? 0);
  }

  at(index: number): InspectionRecord | undefined {
    const position = this.#positions === undefined ? this.#system.blocks.first + index : this.#positions[index];
    return position === undefined ? undefined : this.#system.blocks.record(position);
  }

  /** The place of the last with this number or a lower one; -1 where there is none. */
  indexUpTo(seq: number): number {
    return countUpTo(this.length, (index) => (this.at(index) as InspectionRecord).s <= seq) - 1;
  }

  get #positions(): readonly number[] | undefined {
    return this.#actor === undefined ? undefined : (this.#system.actors.get(this.#actor)?.records ?? []);
  }
}
