/** Enters environments: finds out what holds for a session, shuts in what has to be, and opens what may be used. */
import { fingerprintText } from '../../machines/environment/environment-definition.ts';
import type { DeclaredMount, EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import { mountTable } from '../../machines/environment/mount-table.ts';
import type { Mount, MountFolders } from '../../machines/environment/mount-table.ts';
import { agentWithin } from '../../machines/environment/strictest-environment.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { sha256Hex } from '../sha256.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { CommandSandbox, Sandboxes } from './command-sandbox.ts';
import type { EnvironmentCatalog } from './environment-catalog.ts';
import { declaredFor, environmentNames } from './environment-names.ts';
import type { EnvironmentRequest, SessionEnvironment, SessionEnvironments } from './session-environment.ts';
import { NO_SECRETS } from './session-secrets.ts';
import type { SessionSecrets } from './session-secrets.ts';

export interface MountRequest {
  readonly session: SessionIdentity;
  /** Absolute; it exists. */
  readonly workspaceDirectory: string;
  readonly declared: readonly DeclaredMount[];
  /** What declares them, for errors. */
  readonly environmentId: string;
  /** Whether commands are shut in: then the workspace is checked as declared mounts are. */
  readonly sandbox: 'required' | 'off';
}

/** The port to the folders of the host that stand behind the mounts of a session. */
export interface MountPlaces {
  /**
   * The folders behind all mounts, every link followed. Those of the runtime's own are made where they are missing.
   * @throws RuntimeError MOUNT_UNAVAILABLE for a source that is missing, no folder, or not to be mounted, naming the
   * environment, and for a workspace or a home that no process can be shut in with; STORAGE_FAILED when a folder cannot
   * be made
   */
  resolve(
    request: MountRequest,
  ): Promise<{ readonly folders: MountFolders; readonly declared: readonly DeclaredMount[] }>;
}

export interface OpenVaultsOptions {
  /**
   * Vaults whose secrets the session may not use, and which are taken out of what it says all the same: those of the
   * sessions that it works for.
   */
  readonly takenOut?: readonly string[] | undefined;
}

/** The port to vaults: the secrets that people have put there, opened for one session. */
export interface Vaults {
  /**
   * The secrets of these vaults. One that cannot be had now is known by name and refused when it is used.
   * @throws RuntimeError VAULT_NOT_FOUND, VAULT_INVALID naming the file, never a value
   */
  open(session: SessionIdentity, vaults: readonly string[], options?: OpenVaultsOptions): Promise<SessionSecrets>;
}

export interface SessionEnvironmentPorts {
  readonly catalog: EnvironmentCatalog;
  readonly places: MountPlaces;
  /** Absent: nothing can be shut in here, so that an environment which asks for it is refused. */
  readonly sandboxes?: Sandboxes | undefined;
  /** Absent: an environment that names vaults is refused. */
  readonly vaults?: Vaults | undefined;
  /** Of sessions whose agent names none. Default `host`. */
  readonly defaultEnvironmentId?: string | undefined;
  /** Hears why an environment could not be remembered: no wake fails over it. */
  readonly onTrouble: OnListenerError;
}

export function createSessionEnvironments(ports: SessionEnvironmentPorts): SessionEnvironments {
  const names = environmentNames(ports);
  return {
    ...names,
    async enter(request) {
      const environment = await enter(request, names.idFor(request.session, request.agent), ports);
      return { environment, agent: agentWithin(request.agent, environment.definition) };
    },
  };
}

async function enter(
  { session, workspaceDirectory }: EnvironmentRequest,
  environmentId: string,
  ports: SessionEnvironmentPorts,
): Promise<SessionEnvironment> {
  const identity = { sessionId: session.sessionId, agentId: session.agentId };
  const { definition, within, all } = await declaredFor(session, environmentId, ports.catalog);
  const fingerprint = await fingerprintOf(definition, within);
  const mounts = await mountsOf(definition, { identity, workspaceDirectory, places: ports.places });
  const sandbox = await sandboxOf(definition, { identity, workspaceDirectory, mounts, sandboxes: ports.sandboxes });
  const takenOut = all.flatMap(({ vaults }) => vaults);
  const secrets = await secretsOf(definition, { identity, takenOut, vaults: ports.vaults });
  await ports.catalog.remember(fingerprint, definition).catch((error: unknown) => ports.onTrouble(error, 'listener'));
  return { definition, fingerprint, within, mounts, ...(sandbox === undefined ? {} : { sandbox }), secrets };
}

/** By text: the same environments are entered at every wake, and a digest is a trip to another thread. */
const FINGERPRINTS = new Map<string, Promise<string>>();
const MAX_FINGERPRINTS = 100;

/** SHA-256, as 64 hexadecimal digits. */
export function fingerprintOf(definition: EnvironmentDefinition, within: readonly string[] = []): Promise<string> {
  const text =
    within.length === 0
      ? fingerprintText(definition)
      : `${fingerprintText(definition)}\n${JSON.stringify(within.toSorted())}`;
  const known = FINGERPRINTS.get(text);
  if (known !== undefined) return known;
  if (FINGERPRINTS.size >= MAX_FINGERPRINTS) FINGERPRINTS.clear();
  const fingerprint = sha256Hex(text);
  FINGERPRINTS.set(text, fingerprint);
  return fingerprint;
}

interface Surroundings {
  readonly identity: SessionIdentity;
  readonly workspaceDirectory: string;
}

async function mountsOf(
  { environmentId, sandbox, mounts, vaults }: EnvironmentDefinition,
  { identity: session, workspaceDirectory, places }: Surroundings & Pick<SessionEnvironmentPorts, 'places'>,
): Promise<readonly Mount[]> {
  const { folders, declared } = await places.resolve({
    session,
    workspaceDirectory,
    declared: mounts,
    environmentId,
    sandbox,
  });
  return mountTable({ folders, declared, vaults });
}

async function sandboxOf(
  { environmentId, sandbox, network, quota }: EnvironmentDefinition,
  {
    identity,
    mounts,
    workspaceDirectory,
    sandboxes,
  }: Surroundings & Pick<SessionEnvironmentPorts, 'sandboxes'> & { readonly mounts: readonly Mount[] },
): Promise<CommandSandbox | undefined> {
  if (sandbox === 'off') return undefined;
  if (sandboxes === undefined)
    throw unavailable(
      environmentId,
      'this runtime has none',
      'Give the runtime a sandbox, or say "sandbox: off" in the environment: commands then run on the host.',
    );
  const found = await sandboxes.availability();
  if (found.kind === 'missing') throw unavailable(environmentId, found.reason, found.hint);
  const workspace = mounts.find(({ kind }) => kind === 'workspace')?.directory ?? workspaceDirectory;
  return sandboxes.open({
    sessionId: identity.sessionId,
    mounts,
    network,
    workspaceDirectory: workspace,
    ...(quota.maxBytes === undefined ? {} : { maxFileBytes: quota.maxBytes }),
  });
}

function unavailable(environmentId: string, reason: string, hint: string): RuntimeError {
  return new RuntimeError(
    'SANDBOX_UNAVAILABLE',
    `expected a sandbox for the environment "${environmentId}", which requires one: ${reason}`,
    { category: 'permission', hint, details: { environmentId } },
  );
}

async function secretsOf(
  { environmentId, vaults: names }: EnvironmentDefinition,
  {
    identity,
    takenOut,
    vaults,
  }: Pick<Surroundings, 'identity'> &
    Pick<SessionEnvironmentPorts, 'vaults'> & { readonly takenOut: readonly string[] },
): Promise<SessionSecrets> {
  // Also without any of its own: what others were given may come to it.
  if (vaults !== undefined) return vaults.open(identity, names, { takenOut });
  if (names.length === 0) return NO_SECRETS;
  throw new RuntimeError(
    'VAULT_NOT_FOUND',
    `expected vaults for the environment "${environmentId}", which names ${names.join(', ')}: this runtime has none`,
    { category: 'not_found', hint: 'Give the runtime vaults, or take them out of the environment.' },
  );
}
