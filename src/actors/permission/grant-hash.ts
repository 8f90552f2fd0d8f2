/**
 * What a permission is bound to: exactly this tool with exactly this input in exactly this folder, shut in exactly as
 * it was when a person was asked.
 */
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import { sha256Hex } from '../sha256.ts';

export interface GrantedCall {
  readonly tool: string;
  /** The validated input: a JSON value. */
  readonly input: unknown;
  /** Absolute, or where it is in a workspace that goes from machine to machine. */
  readonly cwd: GrantPlace;
}

/**
 * SHA-256 as 64 hexadecimal digits; the same for inputs that differ in the order of keys only. @throws RuntimeError
 * NOT_JSON
 */
export async function grantHash({ tool, input, cwd }: GrantedCall): Promise<string> {
  // A list, so that no choice of name or folder can look like another one.
  return sha256Hex(canonicalJson([tool, input ?? null, cwd]));
}

/**
 * What shuts a call in: what the environment says, and what of the host stands behind that. Undefined where the runtime
 * knows of no environments.
 */
export async function environmentHash(environment: SessionEnvironment | undefined): Promise<string | undefined> {
  if (environment === undefined) return undefined;
  return environmentDigest(
    environment,
    environment.mounts.map(({ kind, path, directory = null, access }) => [kind, path, directory, access]),
  );
}

/**
 * The same on every machine whose home has them in the same places: folders of the home stand as they are reached from
 * the workspace. What the environment mounts of the machine's own stays as it is.
 */
export async function movingEnvironmentHash(environment: SessionEnvironment | undefined): Promise<string | undefined> {
  const workspace = environment?.mounts.find(({ kind }) => kind === 'workspace')?.directory;
  if (environment === undefined || workspace === undefined) return environmentHash(environment);
  const placed = environment.mounts.map(({ kind, path, directory, access }) => {
    const isOfHome = kind !== 'declared' && directory !== undefined;
    return [kind, path, isOfHome ? { fromWorkspace: fromFolder(workspace, directory) } : (directory ?? null), access];
  });
  return environmentDigest(environment, placed);
}

function environmentDigest(
  { definition, fingerprint, within, sandbox }: SessionEnvironment,
  places: readonly unknown[],
): Promise<string> {
  return sha256Hex(
    canonicalJson([
      definition.environmentId,
      fingerprint,
      within,
      sandbox?.kind ?? 'off',
      definition.network,
      definition.vaults,
      places,
    ]),
  );
}

// Where something that was allowed happens, told so that it is the same on every machine: a session's own workspace
// goes from machine to machine, and lies in another folder on each of them.

/** From the session's own workspace, with slashes; empty for the workspace itself. */
interface InWorkspace {
  readonly inWorkspace: string;
}

/** A text is an absolute path of one machine. The two never look alike. */
export type GrantPlace = string | InWorkspace;

const STEPS_OUT = new Set(['', '.', '..']);

/**
 * @param roots the names that the workspace has here, absolute: as the runtime calls it, and with every link followed
 */
export function placeInWorkspace(path: string, roots: readonly string[]): GrantPlace {
  for (const root of roots) {
    if (path === root) return { inWorkspace: '' };
    const rest = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
    // A path that is not plain may lead out of it.
    if (rest?.split('/').some((step) => STEPS_OUT.has(step)) === false) return { inWorkspace: rest };
  }
  return path;
}

/** How a folder is reached from another one: `../runtime`. @param from absolute and plain @param to likewise */
export function fromFolder(from: string, to: string): string {
  const [base, target] = [from.split('/'), to.split('/')];
  const parts = base.findIndex((name, index) => name !== target[index]);
  const shared = parts === -1 ? base.length : parts;
  return [...base.slice(shared).map(() => '..'), ...target.slice(shared)].join('/');
}
