/**
 * The script backend: plays a written script instead of asking a model. Offline and deterministic.
 *
 * It keeps nothing between runs: its position is the number of model steps in the session's log, so it goes on after a
 * restart exactly where it was. A step that fails as written counts as a step; one whose expectation is not met does
 * not, and is tried again.
 */
import { resolve } from 'node:path';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { ProviderMessage, ToolMessage, UserMessage } from '../../machines/turn/provider-message.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams, AgentRuntime } from '../../actors/run/agent-runtime.ts';
import { createAgentRuntime } from '../../actors/run/create-agent-runtime.ts';
import type { RunEnding, RunVoice } from '../../actors/run/create-agent-runtime.ts';
import type { OnListenerError } from '../../actors/streams/listener-errors.ts';
import { pause } from '../system/waiting.ts';
import { ParsedFiles } from '../system/parsed-files.ts';
import { parseScript } from './script-schema.ts';
import type { Script, ScriptExpectation, ScriptStep } from './script-schema.ts';

export const SCRIPT_RUNTIME_ID = 'script';

interface ScriptAgentRuntimeOptions {
  readonly clock: Clock;
  /** Default: `script`. */
  readonly id?: string | undefined;
  readonly onListenerError?: OnListenerError | undefined;
}

/**
 * Scripts that are kept at once: a long one is played step by step, and reading all of it at each step would be
 * quadratic.
 */
const MAX_KEPT_SCRIPTS = 8;

/** Why no step can be played. It has not moved the script on. */
class Unplayable extends Error {
  readonly failure: RunFailure;

  constructor(failure: RunFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export function createScriptAgentRuntime({
  clock,
  id = SCRIPT_RUNTIME_ID,
  onListenerError,
}: ScriptAgentRuntimeOptions): AgentRuntime {
  const files = new ParsedFiles<Script>(MAX_KEPT_SCRIPTS);
  const runtime = createAgentRuntime({
    id,
    clock,
    onListenerError,
    async answer(params, voice) {
      try {
        return await play(params, { files, clock, voice });
      } catch (thrown) {
        if (thrown instanceof Unplayable) return { meta: { error: thrown.failure, modelSteps: 0 } };
        throw thrown;
      }
    },
  });
  return { ...runtime, isPlayed: true };
}

interface Stage {
  readonly files: ParsedFiles<Script>;
  readonly clock: Clock;
  readonly voice: RunVoice;
}

/** Plays the step at the position. A stop cuts it short wherever it waits. @throws Unplayable */
async function play(params: AgentRunParams, { files, clock, voice }: Stage): Promise<RunEnding> {
  const script = loadScript(params, files);
  const position = params.modelStepsTaken;
  const step = stepAt(partOf(script, params), position, params.model);
  if (step === undefined) {
    voice.direct(END_OF_SCRIPT);
    return { meta: { modelSteps: 0 } };
  }
  if (step.delayMs !== undefined) await pause(step.delayMs, { clock, signal: voice.signal });
  if (voice.signal.aborted) return {};
  const unmet = step.expect === undefined ? undefined : unmetExpectation(step.expect, messagesOf(params));
  if (unmet !== undefined)
    throw new Unplayable({ kind: 'format', message: `script ${params.model}, step ${position + 1}: ${unmet}` });
  if (step.reasoning !== undefined) voice.think(step.reasoning);
  if (step.text !== undefined) voice.say(step.text);
  if (step.pauseMs !== undefined) await pause(step.pauseMs, { clock, signal: voice.signal });
  if (!voice.signal.aborted) ask(step, position, voice);
  return {
    ...(step.usage === undefined ? {} : { usage: { ...step.usage } }),
    meta: { ...(step.error === undefined ? {} : { error: step.error }), modelSteps: 1 },
  };
}

/** What the backend says when a script has nothing more to say. */
const END_OF_SCRIPT = { outcome: 'sleep', summary: 'The script has no more steps.' } as const;

function loadScript({ model, agentDir }: AgentRunParams, files: ParsedFiles<Script>): Script {
  try {
    return files.load(resolve(agentDir, model), (text) => parseScript(text, model));
  } catch (thrown) {
    if (RuntimeError.is(thrown)) throw new Unplayable({ kind: 'format', message: thrown.message });
    throw new Unplayable({
      kind: 'model_not_found',
      message: `could not read script ${model} from the folder of the agent: ${messageOf(thrown)}`,
    });
  }
}

/** The steps of a session like this one. */
function partOf({ steps, conversations = [], onEnd }: Script, params: AgentRunParams): Pick<Script, 'steps' | 'onEnd'> {
  const messages = messagesOf(params);
  const fitting = conversations.find(({ firstUserMessageIncludes }) => beginsWith(firstUserMessageIncludes, messages));
  return { steps: fitting?.steps ?? steps, onEnd };
}

function stepAt(
  { steps, onEnd }: Pick<Script, 'steps' | 'onEnd'>,
  position: number,
  fileName: string,
): ScriptStep | undefined {
  const step = steps[position];
  if (step !== undefined || onEnd === 'sleep') return step;
  const last = steps.at(-1);
  if (onEnd === 'repeat-last' && last !== undefined) return last;
  throw new Unplayable({
    kind: 'empty_response',
    message: `script ${fileName} has ${steps.length} steps and was asked for step ${position + 1}`,
  });
}

/** The script is kept for the next step: a receiver may change the part that it got. */
function ask({ toolCalls = [], directive }: ScriptStep, position: number, voice: RunVoice): void {
  for (const [index, { name, input }] of toolCalls.entries())
    voice.call({ callId: `script_${position + 1}_${index + 1}`, name, input: structuredClone(input) });
  if (directive !== undefined) voice.relay(structuredClone(directive));
}

function messagesOf(params: AgentRunParams): readonly ProviderMessage[] {
  return params.messages ?? [{ role: 'user', content: [{ type: 'text', text: params.prompt }] }];
}

// Holds what a script expects against what came.

/** Characters of what came that an error shows. */
const MAX_SHOWN_CHARACTERS = 500;

/** What is wrong, in words that show what came, or undefined when everything is as expected. */
function unmetExpectation(expectation: ScriptExpectation, messages: readonly ProviderMessage[]): string | undefined {
  const { lastToolResultIncludes, lastToolResultExcludes, lastToolResultOutcome, lastUserMessageIncludes } =
    expectation;
  const results = lastResults(messages);
  const wantsResults = [lastToolResultIncludes, lastToolResultExcludes, lastToolResultOutcome].some(
    (wanted) => wanted !== undefined,
  );
  if (wantsResults && results === undefined) return 'expected the result of a tool call, and no tool has been called';
  const output = (results ?? []).map((result) => plainText(result.output)).join('\n');
  const said = lastUserText(messages);

  for (const wanted of listOf(lastToolResultIncludes)) {
    if (!output.includes(wanted))
      return `expected the last tool result to include ${JSON.stringify(wanted)}, received: ${shown(output)}`;
  }
  for (const unwanted of listOf(lastToolResultExcludes)) {
    if (output.includes(unwanted))
      return `expected the last tool result not to include ${JSON.stringify(unwanted)}, received: ${shown(output)}`;
  }
  const other = results?.find(
    ({ outcome }) => lastToolResultOutcome !== undefined && outcome !== lastToolResultOutcome,
  );
  if (other !== undefined)
    return `expected the last tool result to be ${lastToolResultOutcome}, received ${other.outcome}: ${shown(output)}`;
  for (const wanted of listOf(lastUserMessageIncludes)) {
    if (!said.includes(wanted))
      return `expected the last user message to include ${JSON.stringify(wanted)}, received: ${shown(said)}`;
  }
  return undefined;
}

/** A tool's output as people read it: every text in it on its own, so that quotes and line breaks need no escaping. */
function plainText(output: unknown): string {
  if (typeof output === 'string') return output;
  if (typeof output !== 'object' || output === null) return JSON.stringify(output) ?? '';
  const texts = Object.entries(output).map(([key, value]) =>
    Array.isArray(output) ? plainText(value) : `${key}: ${plainText(value)}`,
  );
  return texts.join('\n');
}

function lastResults(messages: readonly ProviderMessage[]): ToolMessage['content'] | undefined {
  return messages.findLast((message): message is ToolMessage => message.role === 'tool')?.content;
}

function lastUserText(messages: readonly ProviderMessage[]): string {
  const last = messages.findLast((message): message is UserMessage => message.role === 'user');
  return last?.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? '';
}

/** Whether a conversation began with a message that holds each of the texts. */
function beginsWith(texts: string | readonly string[], messages: readonly ProviderMessage[]): boolean {
  const first = messages.find((message): message is UserMessage => message.role === 'user');
  const said = first?.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? '';
  return listOf(texts).every((text) => said.includes(text));
}

function listOf(texts: string | readonly string[] | undefined): readonly string[] {
  if (texts === undefined) return [];
  return typeof texts === 'string' ? [texts] : texts;
}

function shown(text: string): string {
  if (text === '') return 'nothing';
  return JSON.stringify(text.length <= MAX_SHOWN_CHARACTERS ? text : `${beginningOf(text, MAX_SHOWN_CHARACTERS)}…`);
}
