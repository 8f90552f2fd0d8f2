/**
 * How a run reaches its model: the settings of its provider, the key that opens it, and the package that speaks its
 * interface.
 */
import type { AgentRunParams } from '../../actors/run/agent-runtime.ts';
import { messageOf } from '../../machines/errors.ts';
import type { CheckedProviderSettings } from '../../machines/run/provider-settings.ts';
import { settingsOf } from '../../machines/run/provider-settings.ts';
import { looksLikeKey } from '../../machines/run/auth-profile-check.ts';
import type { Heard } from './event-lines.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { LanguageModel } from './language-model.ts';
import { DEFAULT_BASE_URLS, loadModelMaker } from './load-models.ts';
import type { HttpInterface } from './load-models.ts';
import { StepFailure } from './step-failure.ts';

export interface ProviderAccess {
  readonly api: HttpInterface;
  readonly settings: CheckedProviderSettings;
  readonly baseUrl: string;
  /** Empty when none is wanted. */
  readonly key: string;
  /** The variable that it was read from. Absent: it is that of an account, or there is none. */
  readonly keyVariable?: string | undefined;
}

/** @throws StepFailure `format` when the provider is not set up, `auth` when its key is missing */
export function providerAccess(
  { provider, config, credential }: AgentRunParams,
  environment: NodeJS.ProcessEnv,
): ProviderAccess {
  const settings = checkedSettings(provider, config.providers);
  const { api } = settings;
  if (api === undefined) throw notSetUp(provider, 'has no "api": expected anthropic, openai or openai-chat');
  const baseUrl = settings.baseUrl ?? DEFAULT_BASE_URLS[api];
  if (baseUrl === undefined) throw notSetUp(provider, 'has no "baseUrl", which the interface openai-chat needs');
  return {
    api,
    settings,
    baseUrl,
    key: keyOf(provider, settings, credential?.secret ?? variable(environment, settings.keyVariable)),
    ...(credential === undefined && settings.needsKey !== false ? { keyVariable: settings.keyVariable } : {}),
  };
}

function checkedSettings(provider: string, providers: AgentRunParams['config']['providers']): CheckedProviderSettings {
  let settings: CheckedProviderSettings | undefined;
  try {
    settings = settingsOf(provider, providers);
  } catch (error) {
    throw notSetUp(provider, `has settings that are not valid: ${messageOf(error)}`);
  }
  if (settings === undefined) throw notSetUp(provider, 'is not known and not set up');
  return settings;
}

function notSetUp(provider: string, what: string): StepFailure {
  return new StepFailure({ kind: 'format', message: `the provider "${provider}" ${what}`, isLocal: true });
}

function variable(environment: NodeJS.ProcessEnv, name: string | undefined): string | undefined {
  return name === undefined ? undefined : environment[name];
}

function keyOf(
  provider: string,
  { needsKey = true, keyVariable }: CheckedProviderSettings,
  given: string | undefined,
): string {
  // A newline at the end is what files and commands leave, and no header takes it.
  const key = given?.trim() ?? '';
  if (key === '') {
    if (!needsKey) return '';
    throw new StepFailure({
      kind: 'auth',
      message: `the provider "${provider}" needs a key, and there is none. ${adviceFor(provider, keyVariable)}`,
      isLocal: true,
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new StepFailure({
      kind: 'auth',
      message: `the key for the provider "${provider}" holds characters that no header can carry`,
      isLocal: true,
    });
  return key;
}

function adviceFor(provider: string, keyVariable: string | undefined): string {
  // A user who puts the key itself where its name belongs must not read it again in a log.
  const isName = keyVariable !== undefined && !looksLikeKey(keyVariable);
  const set =
    keyVariable === undefined
      ? 'Add'
      : isName
        ? `Set ${keyVariable}, or add`
        : 'What stands in "keyVariable" looks like a key itself: put the name of a variable there, and set that; or add';
  return `${set} an account with: wakechart auth add NAME --provider ${provider} --env ${isName ? keyVariable : 'VARIABLE'}`;
}

const KEY_HEADERS: readonly string[] = ['authorization', 'x-api-key'];

export interface ReachedModelOptions extends ProviderAccess {
  readonly model: string;
  readonly fetch: typeof globalThis.fetch;
  readonly onHeard: (heard: Heard) => void;
}

/** @throws RuntimeError AI_SDK_MISSING */
export async function reachedModel({
  api,
  settings,
  baseUrl,
  key,
  model,
  fetch,
  onHeard,
}: ReachedModelOptions): Promise<LanguageModel> {
  const make = await loadModelMaker(api);
  const { headers = {} } = settings;
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const leftOut = key === '' ? KEY_HEADERS.filter((name) => !own.has(name)) : [];
  return make({ model, baseUrl, key, headers, fetch: guardedFetch({ leftOut, onHeard, fetch }) });
}
