/**
 * The script backend: plays a written script instead of asking a model. Offline and deterministic.
 *
 * It keeps nothing between runs: its position is the number of model steps in the session's log, so it goes on after a restart exactly
 * where it was. A step that fails as written counts as a step; one whose expectation is not met does not, and is tried again.
 */
import { resolve } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { RunPayload } from '../../machines/run/run-output.ts';
import type { ProviderMessage } from '../../machines/turn/provider-message.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../actors/run/agent-runtime.ts';
import { RunEvents } from '../../actors/run/run-events.ts';
import { unmetExpectation } from './script-expect.ts';
import { ScriptFiles } from './script-files.ts';
import type { Script, ScriptStep } from './script-schema.ts';

export const SCRIPT_RUNTIME_ID = 'script';

export interface ScriptAgentRuntimeOptions {
  readonly clock: Clock;
  /** Default: `script`. */
  readonly id?: string | undefined;
}

/** A failure, and how far it moved the script on. */
class StepFailure extends Error {
  readonly failure: RunFailure;
  readonly modelSteps: number;

  constructor(failure: RunFailure, modelSteps: number) {
    super(failure.message);
    this.failure = failure;
    this.modelSteps = modelSteps;
  }
}

export function createScriptAgentRuntime({ clock, id = SCRIPT_RUNTIME_ID }: ScriptAgentRuntimeOptions): AgentRuntime {
  const active = new Map<string, AbortController>();
  const files = new ScriptFiles();
  return {
    id,
    async run(params) {
      const { runId, provider, model, onEvent, abortSignal } = params;
      const events = new RunEvents({ runId, clock, onEvent });
      const controller = new AbortController();
      const forward = (): void => controller.abort(abortSignal?.reason);
      abortSignal?.addEventListener('abort', forward, { once: true });
      if (abortSignal?.aborted === true) forward();
      active.set(runId, controller);
      events.emit({ stream: 'lifecycle', data: { phase: 'start', provider, model } });
      try {
        const result = await play(params, { files, clock, signal: controller.signal });
        announce(events, result);
        return result;
      } catch (thrown) {
        return failed(events, thrown);
      } finally {
        active.delete(runId);
        abortSignal?.removeEventListener('abort', forward);
      }
    },
    async abort(runId) {
      active.get(runId)?.abort('aborted by the caller');
    },
    isRunActive: (runId) => active.has(runId),
  };
}

interface Stage {
  readonly files: ScriptFiles;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Plays the step at the position. @throws StepFailure */
async function play(params: AgentRunParams, { files, clock, signal }: Stage): Promise<AgentRunResult> {
  const script = await loadScript(params, files);
  const position = params.modelStepsTaken;
  const step = stepAt(script, position, params.model);
  if (step === undefined) return { payloads: [{ type: 'directive', directive: END_OF_SCRIPT }], meta: { modelSteps: 0 } };
  if (step.delayMs !== undefined) await delay(clock, step.delayMs, signal);
  if (signal.aborted) throw new StepFailure(abortedFailure(signal), 0);
  const unmet = step.expect === undefined ? undefined : unmetExpectation(step.expect, messagesOf(params));
  if (unmet !== undefined) throw new StepFailure({ kind: 'format', message: `script ${params.model}, step ${position + 1}: ${unmet}` }, 0);
  if (step.error !== undefined) throw new StepFailure(step.error, 1);
  return { payloads: payloadsOf(step, position), ...(step.usage === undefined ? {} : { usage: { ...step.usage } }), meta: { modelSteps: 1 } };
}

/** What the backend says when a script has nothing more to say. */
const END_OF_SCRIPT = { outcome: 'sleep', summary: 'The script has no more steps.' };

async function loadScript({ model, agentDir }: AgentRunParams, files: ScriptFiles): Promise<Script> {
  try {
    return await files.load(resolve(agentDir, model), model);
  } catch (thrown) {
    if (RuntimeError.is(thrown)) throw new StepFailure({ kind: 'format', message: thrown.message }, 0);
    throw new StepFailure({ kind: 'model_not_found', message: `could not read script ${model} from the folder of the agent: ${messageOf(thrown)}` }, 0);
  }
}

function stepAt({ steps, onEnd }: Script, position: number, fileName: string): ScriptStep | undefined {
  const step = steps[position];
  if (step !== undefined || onEnd === 'sleep') return step;
  const last = steps.at(-1);
  if (onEnd === 'repeat-last' && last !== undefined) return last;
  throw new StepFailure({ kind: 'empty_response', message: `script ${fileName} has ${steps.length} steps and was asked for step ${position + 1}` }, 0);
}

function payloadsOf({ text, reasoning, toolCalls = [], directive }: ScriptStep, position: number): RunPayload[] {
  const payloads: RunPayload[] = [];
  if (reasoning !== undefined) payloads.push({ type: 'reasoning', text: reasoning });
  if (text !== undefined) payloads.push({ type: 'text', text });
  for (const [index, { name, input }] of toolCalls.entries()) {
    // The script is kept for the next step: whoever gets a part of it may change what they got.
    payloads.push({ type: 'tool_call', callId: `script_${position + 1}_${index + 1}`, name, input: structuredClone(input) });
  }
  if (directive !== undefined) payloads.push({ type: 'directive', directive: structuredClone(directive) });
  return payloads;
}

function announce(events: RunEvents, { payloads, usage }: AgentRunResult): void {
  for (const payload of payloads) {
    if (payload.type === 'text' || payload.type === 'reasoning') events.emit({ stream: 'assistant', data: { kind: payload.type, text: payload.text } });
    if (payload.type === 'tool_call') {
      const { callId, name, input } = payload;
      events.emit({ stream: 'tool', data: { phase: 'requested', callId, name, input } });
    }
  }
  events.emit({ stream: 'lifecycle', data: { phase: 'end', ...(usage === undefined ? {} : { usage }) } });
}

function failed(events: RunEvents, thrown: unknown): AgentRunResult {
  const { failure, modelSteps } = thrown instanceof StepFailure ? thrown : new StepFailure({ kind: 'unknown', message: messageOf(thrown) }, 0);
  if (failure.kind === 'aborted') events.emit({ stream: 'lifecycle', data: { phase: 'aborted', reason: failure.message } });
  else events.emit({ stream: 'lifecycle', data: { phase: 'error', error: failure } });
  return { payloads: [], meta: { error: failure, modelSteps } };
}

function messagesOf(params: AgentRunParams): readonly ProviderMessage[] {
  return params.messages ?? [{ role: 'user', content: [{ type: 'text', text: params.prompt }] }];
}

function abortedFailure(signal: AbortSignal): RunFailure {
  return { kind: 'aborted', message: messageOf(signal.reason) };
}

/** Resolves after `delayMs`, or at once when the signal aborts. */
function delay(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((settle) => {
    const done = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', done);
      settle();
    };
    const timer = clock.setTimeout(done, delayMs);
    signal.addEventListener('abort', done, { once: true });
  });
}
