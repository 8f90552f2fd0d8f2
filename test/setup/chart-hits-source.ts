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

type Verdict = 'passed through' | 'of the sources' | 'of others';

/** By the name that V8 gives a file: a stack is read for each lookup. */
const verdicts = new Map<string, Verdict>();

/**
 * Whether the first caller beyond XState and what is pure is a file of src/. Vitest's own reading of stacks is left
 * out: it maps each line, which costs a hundred times as much.
 */
export function isAskedBySources(): boolean {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = CHECKED;
  Error.prepareStackTrace = (_error, sites) => sites.map((site) => verdictOf(site.getFileName() ?? ''));
  try {
    // What `prepareStackTrace` returns is what `stack` is.
    const found = new Error('for its stack').stack as unknown as readonly Verdict[];
    return found.find((verdict) => verdict !== 'passed through') === 'of the sources';
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function verdictOf(file: string): Verdict {
  const known = verdicts.get(file);
  if (known !== undefined) return known;
  const path = (file.startsWith('file:') ? fileURLToPath(file) : file).replace(/\?.*$/, '');
  const isPassed = path === '' || path.startsWith(PURE) || path.startsWith('node:') || PASSED_THROUGH.test(path);
  const verdict = isPassed ? 'passed through' : path.startsWith(SOURCES) ? 'of the sources' : 'of others';
  verdicts.set(file, verdict);
  return verdict;
}
