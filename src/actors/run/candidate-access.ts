/**
 * What a run asks of the accounts and of the experience with candidates. Trouble with either is told and does not check
 * like a model that fails.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { profileNotFound } from '../../machines/run/auth-profile.ts';
import { candidateKey } from '../../machines/run/candidate.ts';
import type { Candidate } from '../../machines/run/candidate.ts';
import type { OrderOptions, OrderedCandidate } from '../../machines/run/candidate-order.ts';
import type { ReportedAttempt } from '../../machines/run/breaker.ts';
import type { CandidateHealth } from '../../machines/run/candidate-health.ts';
import { classifyRunFailure } from '../../machines/run/classify-failure.ts';
import type { RunFailure, RunFailureKind } from '../../machines/run/run-failure.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { AgentRuntime, RunCredential } from './agent-runtime.ts';
import type { ExecuteAgentRunOptions } from './run-options.ts';

type Access = Pick<ExecuteAgentRunOptions, 'clock' | 'profiles' | 'candidateHealth' | 'models' | 'onListenerError'>;

export type CredentialAnswer =
  | { readonly kind: 'found'; readonly value: RunCredential | undefined }
  | { readonly kind: 'failed'; readonly failure: RunFailure };

export class CandidateAccess {
  readonly #options: Access;
  #profiles: ReadonlyMap<string, readonly string[]> | undefined;
  #known = new Map<string, CandidateHealth>();
  #refusals: CandidateHealth[] = [];
  /** The attempt that was last asked for. */
  #asked: ReportedAttempt = {};
  /** Who has been admitted to a probe and has not reported. */
  #probed: Candidate | undefined;

  constructor(options: Access) {
    this.#options = options;
  }

  /** Reads what is known now. @throws when the profiles cannot be read for sure */
  async check(): Promise<Pick<OrderOptions, 'profilesOf' | 'healthOf'>> {
    this.#refusals = [];
    this.#profiles ??= await this.#readProfiles();
    const profiles = this.#profiles;
    const profilesOf = (provider: string): readonly string[] => profiles.get(provider) ?? [];
    await this.#readHealth(profilesOf);
    return { profilesOf, healthOf: (candidate) => this.#known.get(candidateKey(candidate)) };
  }

  /** Undefined when it may be tried now. @param isAgain it was waited for by this run, so what made it rest is over */
  async ask({ candidate, isPinned }: OrderedCandidate, isAgain: boolean): Promise<CandidateHealth | undefined> {
    const health = this.#known.get(candidateKey(candidate));
    this.#asked = { startedAt: isoTimeOf(this.#options.clock.now()), isProbe: false };
    if (this.#options.candidateHealth === undefined || health === undefined || health.state === 'closed')
      return undefined;
    const admission = await this.#safely(() =>
      this.#options.candidateHealth?.admit(candidate, { isPinned: isPinned || isAgain }),
    );
    if (admission?.kind === 'refused') return admission.health;
    this.#asked = { ...this.#asked, isProbe: admission?.isProbe ?? false };
    if (admission?.isProbe === true) this.#probed = candidate;
    return undefined;
  }

  noteRefusal(health: CandidateHealth): void {
    this.#refusals.push(health);
  }

  /** Of those that were refused at the last check: the one that recovers first. */
  soonest(): { readonly atMs: number; readonly kind: RunFailureKind } | undefined {
    const known = this.#refusals.flatMap(({ until, because }) =>
      until === undefined ? [] : [{ atMs: Date.parse(until), kind: because?.kind ?? ('unknown' as const) }],
    );
    return known.toSorted((one, other) => one.atMs - other.atMs)[0];
  }

  /**
   * When it may be tried again, in milliseconds since the epoch: a time that is past for one that may be now, undefined
   * when nothing is known.
   */
  recoversAt(candidate: Candidate): number | undefined {
    const health = this.#known.get(candidateKey(candidate));
    if (health === undefined) return undefined;
    return health.state === 'closed' || health.until === undefined ? 0 : Date.parse(health.until);
  }

  /** Gives back a probe that was never made, so that another run need not wait until it is forgotten. */
  async release(): Promise<void> {
    if (this.#probed !== undefined) await this.report(this.#probed, { kind: 'aborted', message: 'it was not tried' });
  }

  /** What became of an attempt. Where a lone candidate does well nothing is written. */
  async report(
    candidate: Candidate,
    error: RunFailure | undefined,
    { isPlayed = false }: Pick<AgentRuntime, 'isPlayed'> = {},
  ): Promise<void> {
    this.#forget(candidate, error);
    const { candidateHealth } = this.#options;
    if (candidateHealth === undefined) return;
    this.#probed = undefined;
    const health = this.#known.get(candidateKey(candidate));
    const isUnmarked =
      health === undefined || (health.state === 'closed' && health.failures === 0 && health.billingFailures === 0);
    if (error === undefined && isUnmarked && this.#known.size <= 1) return;
    const isOurs = error?.kind === 'aborted' || error?.kind === 'coordination' || error?.isLocal === true || isPlayed;
    await this.#safely(() =>
      candidateHealth.report(
        candidate,
        error === undefined
          ? { kind: 'succeeded' }
          : isOurs
            ? { kind: 'abandoned' }
            : { kind: 'failed', failure: error },
        this.#asked,
      ),
    );
  }

  /**
   * What opens the account, which must be one with this provider: no other may see it. A value that is not there is a
   * failure of this account only.
   */
  async credential({ profile, provider }: Candidate, signal: AbortSignal): Promise<CredentialAnswer> {
    const { profiles } = this.#options;
    if (profile === undefined) return { kind: 'found', value: undefined };
    try {
      const all = (await profiles?.list()) ?? [];
      const found = all.find(({ id }) => id === profile);
      if (profiles === undefined || found === undefined)
        throw profileNotFound(
          profile,
          all.filter((other) => other.provider === provider).map(({ id }) => id),
        );
      if (found.provider !== provider)
        return { kind: 'failed', failure: foreignAccount(profile, found.provider, provider) };
      return { kind: 'found', value: await profiles.credential(profile, signal) };
    } catch (error) {
      if (signal.aborted) return { kind: 'failed', failure: { kind: 'aborted', message: messageOf(signal.reason) } };
      return { kind: 'failed', failure: localFailure(error) };
    }
  }

  /** What the provider has refused may have been replaced where it is kept. */
  #forget({ profile }: Candidate, error: RunFailure | undefined): void {
    if (
      profile === undefined ||
      error?.isLocal === true ||
      (error?.kind !== 'auth' && error?.kind !== 'auth_permanent')
    )
      return;
    try {
      this.#options.profiles?.forget?.(profile);
    } catch (thrown) {
      this.#options.onListenerError(thrown, 'listener');
    }
  }

  async #readProfiles(): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, string[]>();
    for (const { provider, id } of (await this.#options.profiles?.list()) ?? [])
      found.set(provider, [...(found.get(provider) ?? []), id]);
    return found;
  }

  async #readHealth(profilesOf: (provider: string) => readonly string[]): Promise<void> {
    const { candidateHealth, models } = this.#options;
    if (candidateHealth === undefined) return;
    const candidates = models.flatMap(({ provider, model, profile, profiles }): Candidate[] => {
      const names = profile === undefined ? (profiles ?? profilesOf(provider)) : [profile];
      return names.length === 0 ? [{ provider, model }] : names.map((name) => ({ provider, model, profile: name }));
    });
    const read = await this.#safely(() => candidateHealth.read(candidates));
    this.#known = new Map((read ?? []).map((health) => [candidateKey(health.candidate), health]));
  }

  /** Experience that cannot be read or kept must not stop a run that could go well. */
  async #safely<Answer>(ask: () => Promise<Answer> | undefined): Promise<Answer | undefined> {
    try {
      return await ask();
    } catch (error) {
      this.#options.onListenerError(error, 'listener');
      return undefined;
    }
  }
}

function foreignAccount(profile: string, owner: string, provider: string): RunFailure {
  return {
    kind: 'format',
    isLocal: true,
    message: `the account "${profile}" is one with "${owner}", and was not given to "${provider}"; correct the agent file, or add an account with: wakechart auth add NAME --provider ${provider}`,
  };
}

/** No provider was asked: whatever went wrong lies here, and so does what puts it right. */
export function localFailure(error: unknown): RunFailure {
  const { kind, message } = classifyRunFailure(error);
  const hint = RuntimeError.is(error) && error.hint !== undefined ? `. ${error.hint}` : '';
  return {
    kind: RuntimeError.is(error) && error.code === 'AUTH_VALUE_MISSING' ? 'auth' : kind,
    message: `${message}${hint}`,
    isLocal: true,
  };
}
