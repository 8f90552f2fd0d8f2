/** fast-check, loaded with the first check: it is an optional peer, and only random runs need it. */
import { RuntimeError, messageOf } from '../machines/errors.ts';

export type FastCheck = typeof import('fast-check');

/** @throws RuntimeError FAST_CHECK_MISSING saying what to install */
export async function loadFastCheck(): Promise<FastCheck> {
  try {
    return await import('fast-check');
  } catch (cause) {
    throw new RuntimeError(
      'FAST_CHECK_MISSING',
      `random runs of a chart need the package fast-check, which could not be loaded: ${messageOf(cause)}`,
      { category: 'not_found', hint: 'Install it beside wakechart: npm install --save-dev fast-check', cause },
    );
  }
}
