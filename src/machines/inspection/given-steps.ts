/** Steps as a test gives them, from a story that it was told: what is misspelt is no step. */
import * as z from 'zod';

const event = z.looseObject({ type: z.string().min(1) });
const call = z.string().min(1);
const output = z.unknown().optional();

export const givenSteps = z.array(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('event'), event }),
    z.strictObject({ kind: z.literal('done'), call, output }),
    z.strictObject({ kind: z.literal('error'), call }),
    z.strictObject({ kind: z.literal('wait'), ms: z.number().nonnegative() }),
    z.strictObject({ kind: z.literal('lost'), call }),
    z.strictObject({ kind: z.literal('late'), call, output }),
    z.strictObject({ kind: z.literal('again'), event }),
    z.strictObject({ kind: z.literal('restart') }),
  ]),
);
