/**
 * What agents answer, in the shapes that are needed here. What an agent adds, or leaves out where it may, is no matter.
 */
import * as z from 'zod';
import { describeIssues } from '../../machines/validate.ts';
import { RunFailed } from './run-failed.ts';

const flag = z.boolean().catch(false).default(false);
const isGiven = z
  .unknown()
  .transform((value) => typeof value === 'object' && value !== null)
  .catch(false);

const initialized = z.object({
  protocolVersion: z.number(),
  agentCapabilities: z
    .object({
      loadSession: flag,
      promptCapabilities: z
        .object({ image: flag, embeddedContext: flag })
        .prefault({})
        .catch({ image: false, embeddedContext: false }),
      mcpCapabilities: z.object({ http: flag, sse: flag }).prefault({}).catch({ http: false, sse: false }),
      sessionCapabilities: z.object({ resume: isGiven.optional() }).prefault({}).catch({}),
    })
    .prefault({}),
  authMethods: z
    .array(z.object({ id: z.string(), name: z.string().catch('') }))
    .catch([])
    .default([]),
});

const choice = z.object({ value: z.string(), name: z.string().catch('') });
const configOption = z.object({
  id: z.string(),
  category: z.string().nullish().catch(undefined),
  currentValue: z.unknown().optional(),
  /** Values, or groups of them. */
  options: z
    .array(
      z.union([
        choice.transform((one) => [one]),
        z.object({ options: z.array(choice) }).transform(({ options }) => options),
      ]),
    )
    .transform((groups) => groups.flat())
    .catch([])
    .default([]),
});

export const configOptions = z.array(configOption);

const sessionState = {
  configOptions: configOptions.nullish().catch(undefined),
  modes: z
    .object({ availableModes: z.array(z.object({ id: z.string() })), currentModeId: z.string().catch('') })
    .nullish()
    .catch(undefined),
  /** Of agents that are older than the setting for it. */
  models: z
    .object({ availableModels: z.array(z.object({ modelId: z.string(), name: z.string().catch('') })) })
    .nullish()
    .catch(undefined),
};

const opened = z.object({ sessionId: z.string().min(1), ...sessionState });
const taken = z.object(sessionState).nullish();

const tokens = z.number().int().nonnegative().nullish().catch(undefined);
/** Where Gemini CLI tells them. */
const geminiCounts = z
  .object({ quota: z.object({ token_count: z.object({ input_tokens: tokens, output_tokens: tokens }) }) })
  .transform(({ quota: { token_count: count } }) => ({
    inputTokens: count.input_tokens,
    outputTokens: count.output_tokens,
  }))
  .nullish()
  .catch(undefined);
const prompted = z.object({
  stopReason: z.string(),
  usage: z
    .object({
      inputTokens: tokens,
      outputTokens: tokens,
      cachedReadTokens: tokens,
      cachedWriteTokens: tokens,
      thoughtTokens: tokens,
    })
    .nullish()
    .catch(undefined),
  _meta: geminiCounts,
});

/** Of the setting that is the mode of an agent, for agents that have it there. */
export const MODE_CATEGORY = 'mode';

export function settingOf(settings: readonly ConfigOption[], what: string): ConfigOption | undefined {
  return settings.find(({ category, id }) => (category ?? id) === what);
}

export type Initialized = Readonly<z.output<typeof initialized>>;
export type ConfigOption = Readonly<z.output<typeof configOption>>;
export type SessionState = NonNullable<z.output<typeof taken>>;
export type Prompted = Readonly<z.output<typeof prompted>>;

const SHAPES = {
  initialize: initialized,
  'session/new': opened,
  'session/load': taken,
  'session/resume': taken,
  'session/prompt': prompted,
} as const;

/** @throws RunFailed `format` when it is not what the protocol says */
export function readAnswer<Method extends keyof typeof SHAPES>(
  method: Method,
  answer: unknown,
): z.output<(typeof SHAPES)[Method]> {
  const reading = SHAPES[method].safeParse(answer);
  if (!reading.success)
    throw new RunFailed(
      'format',
      `its answer to ${method} is not what the protocol says: ${describeIssues(reading.error).join('; ')}`,
    );
  // The compiler does not follow the method into the table.
  return reading.data as z.output<(typeof SHAPES)[Method]>;
}
