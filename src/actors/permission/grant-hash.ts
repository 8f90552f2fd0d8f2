/** What a permission is bound to: exactly this tool with exactly this input in exactly this folder. */
import { canonicalJson } from '../../machines/canonical-json.ts';

export interface GrantedCall {
  readonly tool: string;
  /** The validated input: a JSON value. */
  readonly input: unknown;
  /** Absolute. */
  readonly cwd: string;
}

/** SHA-256 as 64 hexadecimal digits; the same for inputs that differ in the order of keys only. @throws RuntimeError NOT_JSON */
export async function grantHash({ tool, input, cwd }: GrantedCall): Promise<string> {
  // A list, so that no choice of name or folder can look like another one.
  const bytes = new TextEncoder().encode(canonicalJson([tool, input ?? null, cwd]));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
