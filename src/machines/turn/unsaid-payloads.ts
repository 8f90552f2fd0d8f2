/** What of an answer is not in the log yet: a backend that runs tools itself has said some of it before them. */
import type { RunPayload } from '../run/run-output.ts';

/**
 * The payloads without the text that was said already, which is the beginning of their texts one after another. Where
 * it is not, nothing is left out: to say something twice is better than not at all.
 * @param said as it was streamed
 */
export function unsaidPayloads(payloads: readonly RunPayload[], said: string): readonly RunPayload[] {
  const all = payloads.flatMap((payload) => (payload.type === 'text' ? [payload.text] : [])).join('');
  if (said === '' || !all.startsWith(said)) return payloads;
  let left = said.length;
  let isFirst = true;
  return payloads.flatMap((payload) => {
    if (payload.type !== 'text' || !isFirst) return [payload];
    const text = payload.text.slice(left);
    left -= payload.text.length - text.length;
    if (text.trim() === '') return [];
    isFirst = false;
    // What parted it from what was said before.
    return [{ ...payload, text: text.trimStart() }];
  });
}
