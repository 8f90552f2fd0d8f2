/** One way to attempt a run: a backend, a provider, a model and the account that pays. */
import * as z from 'zod';

const name = z.string().min(1).max(200);

export const candidate = z.object({
  provider: name,
  model: name,
  /** Id of the backend; absent: the one that serves the provider. */
  backend: name.optional(),
  /** Id of the auth profile; absent: the backend finds its credentials itself. */
  profile: name.optional(),
});

export type Candidate = Readonly<z.output<typeof candidate>>;

/** A model that an agent names, with the accounts that may pay for it. */
export const modelChoice = z.strictObject({
  /** Who serves it, as agent files name it. */
  provider: name,
  /** As the provider calls it. */
  model: name,
  backend: name.optional(),
  /** The one profile to use, whatever its health: the user insists. */
  profile: name.optional(),
  /** The only profiles to use, in this order. Absent: all of the provider, the least recently used first. */
  profiles: z.array(name).min(1).max(50).optional(),
});

export type ModelChoice = Readonly<z.output<typeof modelChoice>>;

/**
 * Names what cools down together: a model of a provider, for one account. Failures of one model say nothing about
 * another.
 */
export function candidateKey({ provider, model, profile }: Candidate): string {
  return JSON.stringify([provider, model, profile ?? null]);
}

/**
 * Names one way to attempt a run. Two backends may reach the same model with the same account: those cool down
 * together, and are two ways.
 */
export function attemptKey({ backend, ...rest }: Candidate): string {
  return JSON.stringify([candidateKey(rest), backend ?? null]);
}

/** For people: `anthropic/claude-sonnet-4-5 (work)`. */
export function candidateText({ provider, model, profile }: Candidate): string {
  return `${provider}/${model}${profile === undefined ? '' : ` (${profile})`}`;
}
