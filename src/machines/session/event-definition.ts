/** What an event is, as data: its version, its schema, its meaning, and how older versions are read. */
import type * as z from 'zod';

/**
 * Makes data of the next version out of data of the one before. Total: what it cannot read it passes on for the schema
 * to refuse.
 */
export type Upcaster = (data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

export interface Definition<Data extends z.ZodType> {
  /** The version that is written. */
  readonly v: number;
  readonly description: string;
  readonly data: Data;
  /** From version 1 on, one step each. */
  readonly upcasters: readonly Upcaster[];
}

/** The version follows from how many came before it. */
export function define<Data extends z.ZodType>(
  description: string,
  data: Data,
  upcasters: readonly Upcaster[] = [],
): Definition<Data> {
  return { v: upcasters.length + 1, description, data, upcasters };
}
