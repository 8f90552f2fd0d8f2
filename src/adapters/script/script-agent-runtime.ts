/**
 * The script backend: plays a written script instead of asking a model. Offline and deterministic.
 *
 * It keeps nothing between runs: its position is the number of model steps in the session's log, so it goes on after a
 * restart exactly where it was. A step that fails as written counts as a step; one whose expectation is not met does
 * not, and is tried again.
 */
import { resolve } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams, AgentRuntime } from '../../actors/run/agent-runtime.ts';
import { createAgentRuntime } from '../../actors/run/create-agent-runtime.ts';
import type { RunEnding, RunVoice } from '../../actors/run/create-agent-runtime.ts';
import type { OnListenerError } from '../../actors/streams/listener-errors.ts';
import { pause } from '../system/waiting.ts';
import { beginsWith, unmetExpectation } from './script-expect.ts';
import { ParsedFiles } from '../system/parsed-files.ts';
import { parseScript } from './script-schema.ts';
import type { Script, ScriptStep } from './script-schema.ts';

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
