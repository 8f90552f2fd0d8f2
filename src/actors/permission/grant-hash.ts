/** What a permission is bound to: exactly this tool with exactly this input in exactly this folder, shut in exactly as it was when somebody was asked. */
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';

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
  return digestOf([tool, input ?? null, cwd]);
}

/** What shuts a call in: what the environment says, and what of the host stands behind that. Undefined where the runtime knows of no environments. */
export async function environmentHash(environment: SessionEnvironment | undefined): Promise<string | undefined> {
  if (environment === undefined) return undefined;
  const { definition, fingerprint, within, mounts, sandbox } = environment;
  const places = mounts.map(({ kind, path, directory = null, access }) => [kind, path, directory, access]);
  return digestOf([definition.environmentId, fingerprint, within, sandbox?.kind ?? 'off', definition.network, definition.vaults, places]);
}

async function digestOf(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(value));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
