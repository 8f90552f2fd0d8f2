/** The port to environments. */
import type { EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import type { ErrorRecord } from '../../machines/errors.ts';

/** What is there under a name: an environment, or the reason why it cannot be read. */
export type EnvironmentListing =
  | { readonly environmentId: string; readonly definition: EnvironmentDefinition; readonly isBuiltIn: boolean }
  | { readonly environmentId: string; readonly error: ErrorRecord };

export interface EnvironmentCatalog {
  /** Every environment, by id, the built-in ones included. */
  list(): Promise<readonly EnvironmentListing[]>;
  /**
   * @throws RuntimeError ENVIRONMENT_NOT_FOUND naming those that are there; ENVIRONMENT_INVALID naming file and line
   */
  get(environmentId: string): Promise<EnvironmentDefinition>;
  /**
   * Reads a definition without storing it; `fileName` is what errors call it. @throws RuntimeError ENVIRONMENT_INVALID
   */
  validate(environmentId: string, source: string, fileName?: string): EnvironmentDefinition;
  /** Validates first. @throws RuntimeError ENVIRONMENT_EXISTS, ENVIRONMENT_INVALID */
  create(environmentId: string, source: string): Promise<EnvironmentDefinition>;
  /** Keeps what a fingerprint stands for, so that wakes can be compared after the file has changed. Idempotent. */
  remember(fingerprint: string, definition: EnvironmentDefinition): Promise<void>;
  /** Undefined for one that was never remembered. */
  recall(fingerprint: string): Promise<EnvironmentDefinition | undefined>;
}
