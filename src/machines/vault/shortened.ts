/**
 * A long text by its two ends. `…` stands between them: by that a redaction knows that a secret may have been cut
 * there.
 */
import { beginningOf } from '../cut-text.ts';
export function shortened(text: string, maxCharacters = Infinity): string {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor(maxCharacters / 2);
  const head = beginningOf(text, half);
  const tail = text.slice(-half).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}
