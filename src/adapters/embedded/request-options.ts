/** The settings of a provider as the SDK takes them: some for every model, the others for the interface alone. */
import type { CheckedProviderSettings } from '../../machines/run/provider-settings.ts';
import type { ModelCall } from './language-model.ts';
import type { HttpInterface } from './load-models.ts';

type JsonOptions = NonNullable<CheckedProviderSettings['options']>;
type Json = JsonOptions[string];
type CallSettings = Pick<
  ModelCall,
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'maxOutputTokens'
>;

export interface RequestOptions {
  readonly settings: CallSettings;
  readonly options: JsonOptions;
}

/** What every model knows, by the names that interfaces have for it. */
const NUMBERS: Readonly<Record<string, Exclude<keyof CallSettings, 'stopSequences'>>> = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  seed: 'seed',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  maxTokens: 'maxOutputTokens',
  maxOutputTokens: 'maxOutputTokens',
};

const STOPS: readonly string[] = ['stop', 'stopSequences'];

/** Tokens below which Anthropic takes no budget for thinking. */
const MIN_THINKING_TOKENS = 1_024;

/**
 * Takes names as an interface writes them (`reasoning_effort`) and as the SDK does (`reasoningEffort`).
 * @param maxOutputTokens what the run may write at most
 */
export function requestOptions(
  api: HttpInterface,
  given: JsonOptions,
  maxOutputTokens: number | undefined,
): RequestOptions {
  const named = api === 'openai-chat' ? namedForChat(given) : flattened(api, inCamelCase(given));
  const settings: CallSettings = {};
  const options: Record<string, Json> = {};
  for (const [name, value] of Object.entries(named)) if (!isSetting(settings, api, name, value)) options[name] = value;
  const most = Math.min(maxOutputTokens ?? Infinity, settings.maxOutputTokens ?? Infinity);
  if (most === Infinity) return { settings, options };
  return api === 'anthropic'
    ? withinThinking({ settings, options }, most)
    : { settings: { ...settings, maxOutputTokens: most }, options };
}

/** Puts it where it belongs. Chat servers other than OpenAI take `top_k`, which the SDK would leave out. */
function isSetting(settings: CallSettings, api: HttpInterface, name: string, value: Json): boolean {
  const camel = camelCased(name);
  const setting = Object.hasOwn(NUMBERS, camel) ? NUMBERS[camel] : undefined;
  if (setting !== undefined && typeof value === 'number' && !(setting === 'topK' && api === 'openai-chat')) {
    settings[setting] = value;
    return true;
  }
  const stops = typeof value === 'string' ? [value] : value;
  if (!STOPS.includes(camel) || !Array.isArray(stops) || !stops.every((stop) => typeof stop === 'string')) return false;
  settings.stopSequences = [...stops];
  return true;
}

/** What Chat Completions takes is passed on as it is; the SDK would overwrite these two. */
function namedForChat({ reasoning_effort: effort, verbosity, ...others }: JsonOptions): JsonOptions {
  return {
    ...others,
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    ...(verbosity === undefined ? {} : { textVerbosity: verbosity }),
  };
}

/** The Responses interface nests what the SDK wants flat. */
function flattened(api: HttpInterface, { reasoning, text, ...others }: JsonOptions): JsonOptions {
  const given = {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(text === undefined ? {} : { text }),
    ...others,
  };
  if (api !== 'openai') return given;
  const { effort, summary } = objectOf(reasoning);
  const { verbosity } = objectOf(text);
  const flat = { reasoningEffort: effort, reasoningSummary: summary, textVerbosity: verbosity };
  return {
    ...others,
    ...Object.fromEntries(
      Object.entries(flat).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  };
}

/**
 * The SDK adds the budget for thinking to what may be written: together they must not be more than the run may write.
 */
function withinThinking({ settings, options }: RequestOptions, most: number): RequestOptions {
  const { thinking, ...others } = options;
  const { type, budgetTokens } = objectOf(thinking);
  if (type !== 'enabled') return { settings: { ...settings, maxOutputTokens: most }, options };
  const wanted = typeof budgetTokens === 'number' ? budgetTokens : MIN_THINKING_TOKENS;
  const budget = Math.min(wanted, Math.floor(most * 0.75));
  if (budget < MIN_THINKING_TOKENS) return { settings: { ...settings, maxOutputTokens: most }, options: others };
  return {
    settings: { ...settings, maxOutputTokens: most - budget },
    options: { ...others, thinking: { ...objectOf(thinking), budgetTokens: budget } },
  };
}

function objectOf(value: Json | undefined): Readonly<Record<string, Json | undefined>> & JsonOptions {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function inCamelCase(options: JsonOptions): JsonOptions {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      camelCased(name),
      typeof value === 'object' && value !== null && !Array.isArray(value) ? inCamelCase(value) : value,
    ]),
  );
}

function camelCased(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
