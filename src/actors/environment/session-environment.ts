/** The environment of one wake of a session: what was declared, and what of the host stands behind it. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import type { EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import type { Mount } from '../../machines/environment/mount-table.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CommandSandbox } from './command-sandbox.ts';
import type { SessionSecrets } from './session-secrets.ts';

export interface SessionEnvironment {
  /** With the bounds of those that hold besides it. */
  readonly definition: EnvironmentDefinition;
  /** Over everything that the definition says. */
  readonly fingerprint: string;
  /** Ids of environments whose bounds hold besides: those of the sessions that this one works for. */
  readonly within: readonly string[];
  readonly mounts: readonly Mount[];
  /** Absent: commands run on the host, since the environment says so. */
  readonly sandbox?: CommandSandbox | undefined;
  readonly secrets: SessionSecrets;
}

export interface EnvironmentRequest {
  readonly session: SessionState;
  readonly agent: AgentDefinition;
  /** Absolute; it exists. */
  readonly workspaceDirectory: string;
}

export interface SessionEnvironments {
  /**
   * The environment that a session works in, by name: the one chosen for it, else that of its agent, else the one that
   * holds for all.
   */
  idFor(session: Pick<SessionState, 'environmentId'>, agent: Pick<AgentDefinition, 'environment'> | undefined): string;
  /**
   * What binds a session besides its agent: its environment, with those of the sessions that it works for, as they are
   * declared now. Nothing is entered.
   * @throws RuntimeError ENVIRONMENT_NOT_FOUND, ENVIRONMENT_INVALID
   */
  bind(
    session: Pick<SessionState, 'environmentId' | 'restriction'>,
    agent: AgentDefinition,
  ): Promise<{ readonly environmentId: string; readonly agent: AgentDefinition }>;
  /**
   * Whether an environment of that name is there and can be read. @throws RuntimeError ENVIRONMENT_NOT_FOUND,
   * ENVIRONMENT_INVALID
   */
  require(environmentId: string): Promise<void>;
  /**
   * What a wake of the session works in, and the agent under the bounds of that.
   * @throws RuntimeError ENVIRONMENT_NOT_FOUND, ENVIRONMENT_INVALID, SANDBOX_UNAVAILABLE, MOUNT_UNAVAILABLE,
   * VAULT_INVALID
   */
  enter(
    request: EnvironmentRequest,
  ): Promise<{ readonly environment: SessionEnvironment; readonly agent: AgentDefinition }>;
}
