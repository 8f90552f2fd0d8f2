/**
 * Tells what the sources do with charts from what tests do with them: a test that walks along a chart by itself has not
 * shown that anything of the runtime goes that way.
 */
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCES = `${CHECKOUT}src/`;

/**
 * Charts, what compiles them and what walks along any of them as it is told, and all else that does nothing by itself:
 * a test that folds a log of its own making has moved no session. Who follows a chart is whoever calls these.
 */
const PURE = `${SOURCES}machines/`;
const PASSED_THROUGH =
  /\/node_modules\/xstate\/|\/chart-hits|\/(?:charted-life|xstate-child|xstate-system|chart-model-watch)\.ts$/;
const CHECKED = 30;

/** Whether the first caller beyond XState and what is pure is a file of src/. */
export function isAskedBySources(): boolean {
  const caller = callers().find(
    (file) => !file.startsWith(PURE) && !file.startsWith('node:') && !PASSED_THROUGH.test(file),
  );
  return caller?.startsWith(SOURCES) === true;
}

/**
 * Absolute paths, innermost first. Vitest's own reading of stacks is left out: it maps each line, which costs a hundred
 * times as much.
 */
function callers(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = CHECKED;
  Error.prepareStackTrace = (_error, sites) => sites.map((site) => site.getFileName() ?? '');
  try {
    // What `prepareStackTrace` returns is what `stack` is.
    const files = new Error('for its stack').stack as unknown as readonly string[];
    return files
      .filter((file) => file !== '')
      .map((file) => (file.startsWith('file:') ? fileURLToPath(file) : file).replace(/\?.*$/, ''));
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}
