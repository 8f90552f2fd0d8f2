/** Texts that go to the operating system or over HTTP, read in one way. */
import * as z from 'zod';

/** What no argument, variable or path can carry is refused. */
export const textWithoutNul = z.string().regex(/^[^\0]*$/, 'expected text without NUL characters');

export const hostPath = z
  .string()
  .min(1)
  .max(4_096)
  .regex(/^[^\0]*$/, 'expected a path without NUL characters');

/** A token, as HTTP reads it. */
export const headerName = z
  .string()
  .max(200)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected the name of an HTTP header');
