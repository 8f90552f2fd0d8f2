/** Bounds how long a client waits for what a source is asked. */
import { Refusal } from './refusal.ts';

/**
 * What `value` resolves with, unless that takes so long that the client is told rather than left waiting. @throws
 * Refusal 504
 */
export async function soon<Value>(value: Promise<Value>, requestMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new Refusal(504, 'INSPECTOR_SOURCE_SLOW', `there was no answer within ${requestMs} ms`, {
            hint: 'Try again: an answer to a request counts once, however often it is sent.',
          }),
        ),
      requestMs,
    );
  });
  return Promise.race([value, late]).finally(() => clearTimeout(timer));
}
