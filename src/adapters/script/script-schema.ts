/** The script format `wakechart-script/1`: what a model says, written down beforehand. */
import * as z from 'zod';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { runFailureKind } from '../../machines/run/run-failure.ts';
import { runUsage } from '../../machines/run/run-output.ts';
import { MAX_TOOL_CALLS_PER_STEP } from '../../machines/session/limits.ts';
import { MAX_SCRIPT_CHARACTERS, MAX_SCRIPT_STEPS } from '../../machines/session/session-script.ts';
import { parseOrThrow } from '../../machines/validate.ts';

/** A day. */
const MAX_DELAY_MS = 86_400_000;

/**
 * What was read as JSON is JSON: a check that goes through it could only fail, on what is deep, and lose what is named
 * "__proto__".
 */
const json = z.unknown();

const texts = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

const expectation = z
  .strictObject({
    /** Text, or texts, that the results of the last tool calls contain. */
    lastToolResultIncludes: texts.optional(),
    lastToolResultExcludes: texts.optional(),
    lastToolResultOutcome: z.enum(['completed', 'failed', 'denied', 'cancelled', 'unknown']).optional(),
    /** Text, or texts, that the newest message from outside contains. */
    lastUserMessageIncludes: texts.optional(),
  })
  .refine((given) => Object.keys(given).length > 0, 'expected at least one expectation');

const scriptStep = z
  .strictObject({
    text: z.string().optional(),
    reasoning: z.string().optional(),
    toolCalls: z
      .array(z.strictObject({ name: z.string().min(1), input: json.default({}) }))
      .max(MAX_TOOL_CALLS_PER_STEP + 1)
      .optional(),
    /** Given to the runtime as it stands: a malformed one is how a malformed one is tested. */
    directive: json.optional(),
    usage: runUsage.optional(),
    /** How long it says nothing. */
    delayMs: z.number().nonnegative().max(MAX_DELAY_MS).optional(),
    /** How long it says nothing more after its text, before it asks for tools, fails or ends. */
    pauseMs: z.number().nonnegative().max(MAX_DELAY_MS).optional(),
    /** The step fails like this after what it says, if it says anything. */
    error: z
      .strictObject({
        kind: runFailureKind,
        message: z.string().min(1),
        retryAfterMs: z.number().nonnegative().optional(),
      })
      .optional(),
    expect: expectation.optional(),
  })
  .refine(
    (step) => step.error === undefined || (step.toolCalls ?? step.directive) === undefined,
    'a step that fails with an error can ask for nothing',
  );

const script = z.strictObject({
  format: z.literal('wakechart-script/1'),
  /** For people. */
  description: z.string().optional(),
  /** For people: what a recording could not say. */
  notes: z.array(z.string()).optional(),
  steps: z.array(scriptStep).max(MAX_SCRIPT_STEPS),
  /** Sessions that begin with such a message play other steps: the first that fits. */
  conversations: z
    .array(z.strictObject({ firstUserMessageIncludes: texts, steps: z.array(scriptStep).max(MAX_SCRIPT_STEPS) }))
    .max(100)
    .optional(),
  /** What comes after the last step: nothing more to say, the last step again, or a failure. */
  onEnd: z.enum(['sleep', 'repeat-last', 'error']).default('sleep'),
});

export type Script = Readonly<z.output<typeof script>>;
export type ScriptStep = Script['steps'][number];
export type ScriptExpectation = NonNullable<ScriptStep['expect']>;

const HINT = 'See the script backend in the documentation of the command line.';

/** Reads a script. @throws RuntimeError SCRIPT_INVALID naming the file, and the step where it can */
export function parseScript(source: string, fileName: string): Script {
  const what = `script ${fileName}`;
  if (source.length > MAX_SCRIPT_CHARACTERS) {
    throw new RuntimeError(
      'SCRIPT_INVALID',
      `${what} is not valid: expected at most ${MAX_SCRIPT_CHARACTERS} characters, received ${source.length}`,
      { category: 'validation' },
    );
  }
  return parseOrThrow(script, parseJson(source, what), { what, code: 'SCRIPT_INVALID', hint: HINT });
}

function parseJson(source: string, what: string): unknown {
  try {
    // An editor may have put a byte order mark in front.
    return JSON.parse(source.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new RuntimeError('SCRIPT_INVALID', `${what} is not JSON: ${messageOf(cause)}`, {
      category: 'validation',
      hint: HINT,
      cause,
    });
  }
}
