/** Regular expressions from a model, as programs whose time grows with the length of a line and never faster. */
import { RE2JS } from 're2js';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_SEARCH_PROGRAM } from '../../machines/turn/files/file-limits.ts';

/** @throws RuntimeError PATTERN_INVALID naming the place */
export function compileSearch(pattern: string, { ignoreCase }: { readonly ignoreCase: boolean }): RE2JS {
  const compiled = compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  const size = compiled.programSize();
  if (size > MAX_SEARCH_PROGRAM) {
    throw invalidPattern(
      pattern,
      `it makes a program of ${size} steps; expected ${MAX_SEARCH_PROGRAM} at most`,
      'Use smaller repetitions.',
    );
  }
  return compiled;
}

/** Where the first match begins; undefined when there is none. */
export function matchAt(pattern: RE2JS, text: string): number | undefined {
  // Most lines do not match, and to say so is much cheaper than to say where.
  if (!pattern.test(text)) return undefined;
  const matcher = pattern.matcher(text);
  return matcher.find() ? matcher.start() : 0;
}

function compile(pattern: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(pattern, flags);
  } catch (error) {
    throw invalidPattern(
      pattern,
      messageOf(error),
      'The syntax is that of RE2: no look-around, no back-references; a backslash makes brackets, braces, dots and the like literal.',
      error,
    );
  }
}

function invalidPattern(pattern: string, message: string, hint: string, cause?: unknown): RuntimeError {
  return new RuntimeError('PATTERN_INVALID', `cannot search for ${JSON.stringify(pattern)}: ${message}`, {
    category: 'validation',
    hint,
    details: { pattern },
    cause,
  });
}
