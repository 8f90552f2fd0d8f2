/** What `wakechart inspect` checks, with what is known of its secrets. */
import type { InspectionSource } from '../../actors/inspection/inspection-source.ts';

export interface InspectedSecrets {
  /** Takes secrets out of every text. Undefined: none is known. */
  readonly redact: ((text: string) => string) | undefined;
  /** Those that it does not know of, by name: a program would have to be run for them, or they cannot be had here. */
  readonly unknownSecrets: readonly string[];
}

export const NO_SECRETS_KNOWN: InspectedSecrets = { redact: undefined, unknownSecrets: [] };

export interface OpenedSource extends InspectedSecrets {
  readonly source: InspectionSource;
  /** Releases it. */
  readonly close: () => Promise<void>;
}
