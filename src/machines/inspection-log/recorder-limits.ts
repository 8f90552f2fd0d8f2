/** How much a recorder keeps, and how much of what it meets it writes down. */
import * as z from 'zod';

const bounded = (standard: number, max: number): z.ZodDefault<z.ZodInt> =>
  z.int().positive().max(max).default(standard);

export const recorderLimits = z.strictObject({
  /** The newest records are kept, so many. */
  records: bounded(100_000, 10_000_000),
  /** And as many of those as take up so many characters, payloads and all. */
  characters: bounded(64 * 1_048_576, 1_073_741_824),
  /** What is nested deeper in a payload is left out. */
  depth: bounded(6, 30),
  /** Entries of one list or object. */
  breadth: bounded(64, 1_000),
  /** Characters of one text. */
  text: bounded(2_000, 50_000),
  /** Characters of one payload, names of its keys included. */
  payload: bounded(16_384, 100_000),
  /**
   * Characters of all payloads in one turn of the event loop: further ones are left out, the records themselves are
   * not.
   */
  charactersPerTurn: bounded(1_000_000, 1_000_000_000),
  /** Milliseconds for all payloads in one turn of the event loop, as the clock measures them. */
  payloadMsPerTurn: bounded(8, 60_000),
  /** Different charts. Actors of further ones are recorded without a chart. */
  charts: bounded(1_000, 100_000),
});

export type RecorderLimits = Readonly<z.output<typeof recorderLimits>>;
