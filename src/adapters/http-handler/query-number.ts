/** Numbers in the query of a request, all read alike. */
import * as z from 'zod';

const MOST = 999_999_999_999_999;

/** A whole number from `min` on, written in digits. */
export function queryNumber({ min, max = MOST }: { readonly min: number; readonly max?: number }): z.ZodType<number> {
  const range = max === MOST ? `from ${min} on` : `from ${min} to ${max}`;
  const error = `expected a whole number ${range}, in digits`;
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
    z.int({ error }).min(min, { error }).max(max, { error }),
  );
}
