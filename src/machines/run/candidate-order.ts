/**
 * In which order the ways to attempt a run are tried: the models as the agent names them, and within a model its
 * accounts. Pure.
 */
import { cutText } from '../cut-text.ts';
import { attemptKey, candidateText } from './candidate.ts';
import type { Candidate, ModelChoice } from './candidate.ts';
import type { CandidateHealth } from './candidate-health.ts';

/** Of the error for which one rests. */
const MAX_MESSAGE_CHARACTERS = 200;

export interface OrderedCandidate {
  readonly candidate: Candidate;
  /** The user insists on this account: its health does not matter. */
  readonly isPinned: boolean;
  /** Its place among the models, from 0. */
  readonly modelIndex: number;
  /** Why it stands where it stands, as one sentence. */
  readonly because: string;
}

export interface OrderOptions {
  readonly models: readonly ModelChoice[];
  /** Ids of a provider's profiles, in the order in which they were added. */
  readonly profilesOf: (provider: string) => readonly string[];
  readonly healthOf: (candidate: Candidate) => CandidateHealth | undefined;
}

/** Every candidate once. Those that rest come last within their model, the soonest to recover first. */
export function orderCandidates({ models, profilesOf, healthOf }: OrderOptions): OrderedCandidate[] {
  const seen = new Set<string>();
  return models.flatMap((choice, modelIndex) =>
    ofModel(choice, profilesOf, healthOf).flatMap((ordered) => {
      const key = attemptKey(ordered.candidate);
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ ...ordered, modelIndex, because: `${modelText(modelIndex)}${ordered.because}` }];
    }),
  );
}

function ofModel(
  { provider, model, backend, profile, profiles }: ModelChoice,
  profilesOf: OrderOptions['profilesOf'],
  healthOf: OrderOptions['healthOf'],
): Omit<OrderedCandidate, 'modelIndex'>[] {
  const base = { provider, model, ...(backend === undefined ? {} : { backend }) };
  if (profile !== undefined)
    return [{ candidate: { ...base, profile }, isPinned: true, because: ', with the account that was asked for' }];
  const names = profiles ?? profilesOf(provider);
  if (names.length === 0) return [{ candidate: base, isPinned: false, because: '' }];
  const all = names.map((name) => ({ ...base, profile: name }));
  const ready = all.filter((candidate) => !isResting(healthOf(candidate)));
  const resting = all
    .filter((candidate) => isResting(healthOf(candidate)))
    .toSorted((one, other) => recoversAt(healthOf(one)) - recoversAt(healthOf(other)));
  const first =
    profiles === undefined ? ready.toSorted((one, other) => usedAt(healthOf(one)) - usedAt(healthOf(other))) : ready;
  const why =
    profiles === undefined
      ? ', with the account that was used the longest ago'
      : ', with the accounts in the order that was given';
  return [
    ...first.map((candidate) => ({
      candidate,
      isPinned: false,
      because: all.length === 1 ? ', with its one account' : why,
    })),
    ...resting.map((candidate) => ({ candidate, isPinned: false, because: ', with an account that was resting' })),
  ];
}

function isResting(health: CandidateHealth | undefined): boolean {
  return health !== undefined && health.state !== 'closed';
}

function recoversAt(health: CandidateHealth | undefined): number {
  return health?.until === undefined ? 0 : Date.parse(health.until);
}

function usedAt(health: CandidateHealth | undefined): number {
  return health?.lastUsedAt === undefined ? 0 : Date.parse(health.lastUsedAt);
}

function modelText(index: number): string {
  return index === 0 ? 'The first choice' : `Fallback ${index}`;
}

/** Why a candidate is not tried, as one sentence. */
export function restingText(candidate: Candidate, { state, until, because }: CandidateHealth): string {
  const what = {
    closed: 'is ready',
    cooling: 'cools down',
    half_open: 'is being tried by another run',
    disabled: 'is disabled',
  }[state];
  return `${candidateText(candidate)} ${what}${until === undefined ? '' : ` until ${until}`}${because === undefined ? '' : ` (${because.kind}: ${cutText(because.message, MAX_MESSAGE_CHARACTERS)})`}`;
}
