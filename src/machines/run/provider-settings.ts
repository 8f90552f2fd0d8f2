/** How a provider is reached, as data: which backend serves it and what that backend has to know. */
import * as z from 'zod';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const webAddress = z
  .url({ protocol: /^https?$/, error: 'expected an address that begins with http:// or https://' })
  .refine(
    (address) => !/^[^/]*\/\/[^/?#]*@/.test(address),
    'expected an address without a name and a password in it: those belong into an account (wakechart auth add --help)',
  );

/**
 * What a backend over HTTP speaks. `openai`: the Responses interface. `openai-chat`: Chat Completions, which most
 * others speak.
 */
const httpInterface = z.enum(['anthropic', 'openai', 'openai-chat']);

const program = z.strictObject({
  /** The program, found in PATH when it is no path. */
  command: z.string().min(1),
  /** Before those that the backend adds. */
  args: z.array(z.string()).max(200).default([]),
  /** Names of variables it gets from our environment, besides the usual ones. */
  pass: z.array(z.string().regex(NAME)).max(200).default([]),
  /** Variables it gets besides. No secrets: those belong into an auth profile. */
  set: z.record(z.string().regex(NAME), z.string()).default({}),
});

export const providerSettings = z.strictObject({
  /** Id of the backend. */
  backend: z.string().min(1),
  /** For `embedded`: the interface that it speaks. */
  api: httpInterface.optional(),
  /** For `embedded`: its base address, where that is not the usual one of the interface. */
  baseUrl: webAddress.optional(),
  /** Sent with each request. No secrets: those belong into an auth profile. */
  headers: z.record(z.string(), z.string()).optional(),
  /** Name of the variable that holds the key, where no auth profile does. */
  keyVariable: z.string().regex(NAME).optional(),
  /** Local servers want none. Default true for `embedded`. */
  needsKey: z.boolean().optional(),
  /** For `cli-agent` and `acp`. */
  program: program.optional(),
  /** For `cli-agent`: the family of its stream. */
  dialect: z.enum(['claude', 'codex']).optional(),
  /**
   * How long a run may say nothing, in milliseconds, before it counts as hung. Default: 300,000 for `embedded`, 900,000
   * for the others.
   */
  idleTimeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  /**
   * For `embedded`: files that its models can be shown. Default: images and PDFs for `anthropic` and `openai`, images
   * for `openai-chat`.
   */
  reads: z.array(z.enum(['image', 'pdf'])).optional(),
  /**
   * How many tools it takes in one request. Default: 128 for `openai` and `openai-chat`, as OpenAI does; no limit for
   * `anthropic`.
   */
  maxTools: z.number().int().min(1).max(100_000).optional(),
  /** What the provider's own interface takes besides, as it calls it: a reasoning effort, a service tier. */
  options: z.record(z.string(), z.json()).optional(),
});

export type ProviderSettings = Readonly<z.input<typeof providerSettings>>;

export type CheckedProviderSettings = Readonly<z.output<typeof providerSettings>>;

/** By the name under which agents name them. */
export const providerTable = z.record(
  z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9._-]{0,63}$/,
      'expected a name of lower-case letters, digits, ".", "_" and "-", 64 at most',
    ),
  providerSettings,
);

export type ProviderTable = Readonly<Record<string, ProviderSettings>>;

/** Providers that need no setting up besides a key or a program. */
export const KNOWN_PROVIDERS: ProviderTable = {
  anthropic: { backend: 'embedded', api: 'anthropic', keyVariable: 'ANTHROPIC_API_KEY' },
  openai: { backend: 'embedded', api: 'openai', keyVariable: 'OPENAI_API_KEY' },
  ollama: { backend: 'embedded', api: 'openai-chat', baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false },
  vllm: { backend: 'embedded', api: 'openai-chat', baseUrl: 'http://127.0.0.1:8000/v1', needsKey: false },
  'lm-studio': { backend: 'embedded', api: 'openai-chat', baseUrl: 'http://127.0.0.1:1234/v1', needsKey: false },
  openrouter: {
    backend: 'embedded',
    api: 'openai-chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  'claude-code': { backend: 'cli-agent', dialect: 'claude', program: { command: 'claude' } },
  codex: { backend: 'cli-agent', dialect: 'codex', program: { command: 'codex' } },
};

/** What is set for a provider, else what is known of it. Settings of one's own replace the known ones whole. */
export function settingsOf(provider: string, own: ProviderTable = {}): CheckedProviderSettings | undefined {
  const found = Object.hasOwn(own, provider)
    ? own[provider]
    : Object.hasOwn(KNOWN_PROVIDERS, provider)
      ? KNOWN_PROVIDERS[provider]
      : undefined;
  return found === undefined ? undefined : providerSettings.parse(found);
}

const MAX_TOOLS: Readonly<Record<z.output<typeof httpInterface>, number>> = {
  anthropic: Infinity,
  openai: 128,
  'openai-chat': 128,
};

/**
 * How many tools the provider takes in one request; undefined where it has no limit, or its own program sees to that.
 */
export function maxToolsOf(provider: string, own: ProviderTable = {}): number | undefined {
  const found: ProviderSettings | undefined = Object.hasOwn(own, provider)
    ? own[provider]
    : Object.hasOwn(KNOWN_PROVIDERS, provider)
      ? KNOWN_PROVIDERS[provider]
      : undefined;
  const most = found?.maxTools ?? (found?.api === undefined ? Infinity : MAX_TOOLS[found.api]);
  return most === Infinity ? undefined : most;
}
