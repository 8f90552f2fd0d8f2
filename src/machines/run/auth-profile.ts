/** An account with a provider, as data: it says where its secret is, never what it is. */
import * as z from 'zod';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Where the secret is: in a variable of our environment, or what a command of a keychain prints, without the newline at
 * its end.
 */
const secretReference = z.union([
  z.strictObject({ env: z.string().regex(VARIABLE, 'expected the name of a variable') }),
  z.strictObject({ command: z.array(z.string().min(1)).min(1).max(50) }),
]);

export const authProfile = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected lower-case letters, digits, ".", "_" and "-", 64 at most'),
  provider: z.string().min(1).max(64),
  /** Absent for programs that have their own login. */
  secret: secretReference.optional(),
  /** For programs: what tells them which account it is, such as their folder of settings. No secrets. */
  environment: z.record(z.string().regex(VARIABLE), z.string()).optional(),
});

export type AuthProfile = Readonly<z.output<typeof authProfile>>;
