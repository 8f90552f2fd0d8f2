/**
 * Runs the tool calls of one model step, a few at a time, each as an actor of its own under the wake. Whatever a model asks for and
 * whatever a tool does, every call ends with exactly one result: a tool that does not stop when it is told to is left behind.
 */
import { createActor, fromPromise, toPromise } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_CONCURRENT_TOOL_CALLS, MAX_TOOL_CALLS_PER_STEP, MAX_TOOL_RESULT_CHARACTERS } from '../../machines/session/limits.ts';
import { toolCallMachine } from '../../machines/turn/tool-call-machine.ts';
import type { ToolCallInput, ToolCallResult } from '../../machines/turn/tool-call-machine.ts';
import { readToolInput } from '../../machines/turn/tool-schema.ts';
import type { Clock } from '../clock/clock.ts';
import { settledOrStopped } from './settled-or-stopped.ts';
import type { Tool, ToolContext } from './tool.ts';

export interface ToolStep {
  /** In the order the model asked. */
  readonly calls: readonly ToolCallInput[];
  /** The tools this wake offers, by name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly context: Omit<ToolContext, 'callId'>;
  /** The wake's actor. */
  readonly parent: AnyActorRef;
  /** Says in the log that a call begins to take effect. The tool runs after it resolves; when it rejects, as `onResult`. */
  readonly onStart: (call: ToolCallInput) => Promise<void>;
  /** Stores a result. Called once per call, as each one ends. When it rejects the step rejects, after everything has stopped. */
  readonly onResult: (call: ToolCallInput, result: ToolCallResult) => Promise<void>;
}

type Execute = (call: ToolCallInput) => Promise<ToolCallResult>;

export interface ToolExecutorOptions {
  readonly clock: Clock;
}

export class ToolExecutor {
  readonly #clock: Clock;
  /** How to execute the calls that are running, by call id: one provided chart serves all of them. */
  readonly #running = new Map<string, Execute>();
  readonly #logic = toolCallMachine.provide({
    actors: { execute: fromPromise<ToolCallResult, ToolCallInput>(({ input }) => this.#execute(input)) },
  });

  constructor({ clock }: ToolExecutorOptions) {
    this.#clock = clock;
  }

  /** Resolves when every call has ended and its result is stored. */
  async runStep(step: ToolStep): Promise<void> {
    const waiting = step.calls.entries();
    const failures: unknown[] = [];
    const stop = new AbortController();
    const signal = AbortSignal.any([step.context.signal, stop.signal]);
    const stoppable = { ...step, context: { ...step.context, signal } };
    const work = async (): Promise<void> => {
      for (const [index, call] of waiting) {
        try {
          await step.onResult(call, await this.#runCall(stoppable, call, index));
        } catch (error) {
          failures.push(error);
          stop.abort('the result of another call could not be stored');
        }
        // Without a place to store results nothing more may begin, and nothing that runs is of use.
        if (failures.length > 0) return;
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_TOOL_CALLS }, work));
    if (failures.length > 0) throw failures[0];
  }

  async #runCall(step: ToolStep, call: ToolCallInput, index: number): Promise<ToolCallResult> {
    const { signal } = step.context;
    let failure: { readonly error: unknown } | undefined;
    const start = async (): Promise<void> => {
      try {
        await step.onStart(call);
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    this.#running.set(call.callId, () => executeCall(step, call, { index, clock: this.#clock, start }));
    const actor = createActor(this.#logic, { input: call, id: call.callId, parent: step.parent });
    const cancel = (): void => {
      // XState complains on the console about events to an actor that has ended.
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'CANCEL', reason: stopReasonOf(signal) });
    };
    try {
      actor.start();
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      else actor.send({ type: 'RUN' });
      const result = await toPromise(actor);
      if (failure !== undefined) throw failure.error;
      return result;
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#running.delete(call.callId);
    }
  }

  #execute(call: ToolCallInput): Promise<ToolCallResult> {
    const execute = this.#running.get(call.callId);
    if (execute !== undefined) return execute(call);
    throw new RuntimeError('TOOL_CALL_UNKNOWN', `tool call ${call.callId} is not running here`, { category: 'crash' });
  }
}

interface Execution {
  /** Position of the call in its step. */
  readonly index: number;
  readonly clock: Clock;
  readonly start: () => Promise<void>;
}

async function executeCall({ tools, context }: ToolStep, { callId, name, input }: ToolCallInput, { index, clock, start }: Execution): Promise<ToolCallResult> {
  if (index >= MAX_TOOL_CALLS_PER_STEP) return failed(`At most ${MAX_TOOL_CALLS_PER_STEP} tool calls are run in one step; this one was not run.`);
  const tool = tools.get(name);
  if (tool === undefined) return failed(`There is no tool "${name}". Available: ${[...tools.keys()].join(', ') || 'none'}.`);
  const reading = readToolInput(tool.definition, input);
  if (!reading.ok) return failed(reading.reason);
  const { signal } = context;
  await start();
  if (signal.aborted) return cancelled(signal);
  const run = async (): Promise<ToolCallResult> => storable(await tool.run(reading.input, { ...context, callId }));
  const givenUp = (): ToolCallResult => cancelled(signal, 'The tool did not stop in time and may still be at work.');
  try {
    return await settledOrStopped(run(), { signal, clock, graceMs: tool.stopGraceMs, givenUp });
  } catch (error) {
    return signal.aborted ? cancelled(signal) : failed(describe(error));
  }
}

/** A result as the log can hold it: JSON, and not larger than a model could read. */
function storable(output: unknown): ToolCallResult {
  const text: string | undefined = JSON.stringify(output);
  if (text === undefined) return { outcome: 'completed', output: null };
  if (text.length <= MAX_TOOL_RESULT_CHARACTERS) return { outcome: 'completed', output: JSON.parse(text) as unknown };
  const cut = `${text.slice(0, MAX_TOOL_RESULT_CHARACTERS)}\n[${text.length - MAX_TOOL_RESULT_CHARACTERS} more characters were cut off]`;
  return { outcome: 'completed', output: cut };
}

function cancelled(signal: AbortSignal, remark = ''): ToolCallResult {
  return { outcome: 'cancelled', output: `The call was stopped: ${stopReasonOf(signal)}. ${remark}`.trim() };
}

function failed(output: string): ToolCallResult {
  return { outcome: 'failed', output };
}

function describe(error: unknown): string {
  const hint = RuntimeError.is(error) && error.hint !== undefined ? ` ${error.hint}` : '';
  return `${messageOf(error)}${hint}`;
}

function stopReasonOf(signal: AbortSignal): string {
  return messageOf(signal.reason);
}
