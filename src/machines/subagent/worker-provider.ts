/**
 * Provider profiles: how a caller names the model that a job's agent speaks with, and the provider settings that this
 * comes to.
 */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import type { AuthProfile } from '../run/auth-profile.ts';
import { KNOWN_PROVIDERS, providerSettings } from '../run/provider-settings.ts';
import type { ProviderSettings, ProviderTable } from '../run/provider-settings.ts';
import { parseOrThrow } from '../validate.ts';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const shape = z
  .strictObject({
    /** The name by which agents name it. Default: that of the provider. */
    name: z.string().min(1).max(64).optional(),
    /** A known provider, or a backend; what it is like is taken over where the profile says nothing else. */
    provider: z.string().min(1).max(64).optional(),
    /** The same, as others call it. */
    type: z.string().min(1).max(64).optional(),
    baseUrl: z.string().optional(),
    /** Name of the variable that holds the key. The key itself is in no message and in no argument. */
    apiKeyEnv: z.string().regex(VARIABLE, 'expected the name of a variable').optional(),
    model: z.string().min(1).optional(),
    options: z.record(z.string(), z.json()).optional(),
  })
  .refine(({ name, provider, type }) => (name ?? provider ?? type) !== undefined, 'expected a name or a provider')
  .refine(
    ({ provider, type }) => provider === undefined || type === undefined || provider === type,
    'expected provider or type, received both',
  );

export type SubagentProviderProfile = Readonly<z.input<typeof shape>>;

/** What a profile comes to. */
export interface NamedProvider {
  readonly name: string;
  /** Absent when the profile only names a provider that is set up elsewhere. */
  readonly settings?: ProviderSettings | undefined;
  readonly model?: string | undefined;
}

/** @throws RuntimeError PROVIDER_PROFILE_INVALID naming what is wrong, never a value of a secret */
export function providerOf(profile: unknown): NamedProvider {
  if (typeof profile === 'string') return { name: profile };
  const subject = {
    what: 'provider profile',
    code: 'PROVIDER_PROFILE_INVALID',
    hint: 'Pass a name, or { name, provider, baseUrl?, apiKeyEnv?, model?, options? }; the key goes into the variable that apiKeyEnv names.',
  };
  const { name, provider, type, baseUrl, apiKeyEnv, model, options } = parseOrThrow(shape, profile, subject);
  const kind = provider ?? type;
  const named = { name: name ?? kind ?? '', ...(model === undefined ? {} : { model }) };
  const known = KNOWN_PROVIDERS[kind ?? named.name];
  const own = {
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKeyEnv === undefined ? {} : { keyVariable: apiKeyEnv }),
    ...(options === undefined ? {} : { options }),
  };
  // A mere name: it is set up in the home, or known.
  if (kind === undefined && Object.keys(own).length === 0) return named;
  if (kind === undefined && known === undefined) {
    throw new RuntimeError(
      'PROVIDER_PROFILE_INVALID',
      `provider profile "${named.name}" says how to reach a provider, but not which one`,
      {
        category: 'validation',
        hint: `Add provider: one of ${Object.keys(KNOWN_PROVIDERS).join(', ')}, or the id of a backend.`,
      },
    );
  }
  const settings = parseOrThrow(providerSettings, { ...(known ?? { backend: kind }), ...own }, subject);
  return { ...named, settings };
}

/** The table with the provider of the profile in it. */
export function withProvider(table: ProviderTable, { name, settings }: NamedProvider): ProviderTable {
  return settings === undefined ? table : { ...table, [name]: settings };
}

/**
 * Names of the variables that a process that speaks with these providers may need: their keys, those of their accounts,
 * what their programs are passed.
 */
export function keyVariables(
  providers: readonly string[],
  table: ProviderTable,
  accounts: readonly AuthProfile[] = [],
): readonly string[] {
  const all: ProviderTable = { ...KNOWN_PROVIDERS, ...table };
  const variables = providers.flatMap((provider) => {
    const settings = Object.hasOwn(all, provider) ? all[provider] : undefined;
    const paying = accounts.flatMap((account) =>
      account.provider === provider && account.secret !== undefined && 'env' in account.secret
        ? [account.secret.env]
        : [],
    );
    return [
      ...(settings?.keyVariable === undefined ? [] : [settings.keyVariable]),
      ...(settings?.program?.pass ?? []),
      ...paying,
    ];
  });
  return [...new Set(variables)];
}

/** The provider in `provider/model`; none in the mere name of a model. */
export function providerIn(model: string | undefined): readonly string[] {
  const slash = model?.indexOf('/') ?? -1;
  return model === undefined || slash <= 0 ? [] : [model.slice(0, slash)];
}
