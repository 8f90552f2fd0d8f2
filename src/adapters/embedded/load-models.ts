/**
 * The provider packages of the AI SDK, each loaded with the first run that needs it: they are optional peers, and most
 * runtimes need one of them.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { LanguageModel } from './language-model.ts';
import { isSpoken } from './language-model.ts';

/** What a provider is reached by. */
export type HttpInterface = 'anthropic' | 'openai' | 'openai-chat';

export interface ModelAddress {
  readonly model: string;
  readonly baseUrl: string;
  /** Empty where none is wanted: `fetch` then leaves out what would carry it. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
}

export type ModelMaker = (address: ModelAddress) => LanguageModel;

/**
 * The base addresses are given in any case: left out, the packages would examine the environment of this process. Each
 * import has its own `try`: bundlers let a package be missing there, and nowhere else.
 */
const LOADERS: Readonly<Record<HttpInterface, () => Promise<ModelMaker>>> = {
  async anthropic() {
    try {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return ({ model, baseUrl, key, headers, fetch }) =>
        createAnthropic({ baseURL: baseUrl, apiKey: key, headers: { ...headers }, fetch }).languageModel(model);
    } catch (error) {
      throw notLoaded('anthropic', error);
    }
  },
  async openai() {
    try {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return ({ model, baseUrl, key, headers, fetch }) =>
        createOpenAI({ baseURL: baseUrl, apiKey: key, headers: { ...headers }, fetch }).responses(model);
    } catch (error) {
      throw notLoaded('openai', error);
    }
  },
  async 'openai-chat'() {
    try {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return ({ model, baseUrl, key, headers, fetch }) =>
        createOpenAICompatible({
          name: OPTIONS_NAMES['openai-chat'],
          baseURL: baseUrl,
          apiKey: key,
          headers: { ...headers },
          fetch,
          includeUsage: true,
        }).chatModel(model);
    } catch (error) {
      throw notLoaded('openai-chat', error);
    }
  },
};

/** Under which name the packages search for what is meant for them. */
export const OPTIONS_NAMES = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-chat': 'openaiCompatible',
} as const satisfies Record<HttpInterface, string>;

export const DEFAULT_BASE_URLS: Readonly<Partial<Record<HttpInterface, string>>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
};

const PACKAGES: Readonly<Record<HttpInterface, { readonly name: string; readonly versions: string }>> = {
  anthropic: { name: '@ai-sdk/anthropic', versions: '^3.0.138 || ^4.0.105' },
  openai: { name: '@ai-sdk/openai', versions: '^3.0.141 || ^4.0.118' },
  'openai-chat': { name: '@ai-sdk/openai-compatible', versions: '^2.0.87 || ^3.0.92' },
};

/** @throws RuntimeError AI_SDK_MISSING saying what to install */
export async function loadModelMaker(api: HttpInterface): Promise<ModelMaker> {
  const make = await LOADERS[api]();
  return (address) => checked(make(address), api);
}

function notLoaded(api: HttpInterface, cause: unknown): RuntimeError {
  return sdkMissing(api, `could not be loaded: ${messageOf(cause)}`, cause);
}

function checked(model: LanguageModel, api: HttpInterface): LanguageModel {
  if (isSpoken(model)) return model;
  throw sdkMissing(
    api,
    `speaks version "${model.specificationVersion}" of the specification of models, and versions 3 and 4 are understood`,
  );
}

function sdkMissing(api: HttpInterface, what: string, cause?: unknown): RuntimeError {
  const { name, versions } = PACKAGES[api];
  return new RuntimeError(
    'AI_SDK_MISSING',
    `models of the interface "${api}" need the package ${name}, which ${what}`,
    {
      category: 'not_found',
      hint: `Install it beside wakechart: npm install "${name}@${versions}"`,
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
