/**
 * How a worker checks data: its schemas are interpreted. Zod would write a function for each, which takes longer than
 * what most jobs have to check; once it is there it saves a microsecond each time.
 */
import * as z from 'zod';

/** For schemas that are made from then on. */
export function interpretSchemas(): void {
  z.config({ jitless: true });
}
