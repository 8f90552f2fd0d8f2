/** Loads code of another program. */
import { RuntimeError } from '../machines/errors.ts';

export interface WatchedLoading {
  /** As errors call it. */
  readonly file: string;
  readonly timeoutMs: number;
  /** Of the error when it does not come to its end. */
  readonly code: string;
  /** What to do then. */
  readonly hint: string;
}

/**
 * While code of another program is loaded: what it prints goes to standard error, since standard output is for the
 * answer; and when it ends the process, waits for what never comes, or for too long, that is said, and is no success.
 */
export function watchLoading({ file, timeoutMs, code, hint }: WatchedLoading): {
  readonly tooLate: Promise<never>;
  readonly stop: () => void;
} {
  const { stdout, stderr } = process;
  const written = Object.getOwnPropertyDescriptor(stdout, 'write');
  Object.defineProperty(stdout, 'write', { configurable: true, writable: true, value: stderr.write.bind(stderr) });
  const onExit = (): void => {
    process.exitCode = 1;
    stderr.write(
      `error: ${file} ended the process while it was loaded, or waits for something that never comes [${code}]\n  hint: ${hint}\n`,
    );
  };
  process.once('exit', onExit);
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const late = (): void =>
      reject(
        new RuntimeError(code, `${file} was not loaded within ${timeoutMs / 1000} s`, {
          category: 'timeout',
          hint: `See what it waits for at its top level. ${hint}`,
        }),
      );
    timer = setTimeout(late, timeoutMs);
    // When nothing else is going on, waiting is in vain.
    timer.unref();
  });
  return {
    tooLate,
    stop: () => {
      clearTimeout(timer);
      process.removeListener('exit', onExit);
      // It is the method of the stream's class, unless other code put another in its place.
      if (written === undefined) Reflect.deleteProperty(stdout, 'write');
      else Object.defineProperty(stdout, 'write', written);
    },
  };
}
