/**
 * Runs the tool calls of one model step, a few at a time, each as an actor of its own under the wake. Whatever a model
 * asks for and whatever a tool does, every call ends with exactly one result: a tool that does not stop when it is told
 * to is left behind.
 */
import { createActor, fromPromise, toPromise } from 'xstate';
import type { AnyActorRef } from 'xstate';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_CONCURRENT_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS } from '../../machines/session/limits.ts';
import { resultJson } from '../../machines/turn/result-json.ts';
import { toolCallMachine } from '../../machines/turn/tool-call-machine.ts';
import type { ToolCallEvent, ToolCallInput, ToolCallResult } from '../../machines/turn/tool-call-machine.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { canonicalJson } from '../../machines/canonical-json.ts';
import { readToolInput } from '../../machines/turn/tool-schema.ts';
import { cutOutput } from '../../machines/turn/output-cut.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import type { OutputStore } from './output-store.ts';
import type { SessionPlace } from '../session/session-directories.ts';
import { stopChild } from '../xstate-child.ts';
import { settledOrStopped } from './settled-or-stopped.ts';
import type { Tool, ToolContext, ToolProgress } from './tool.ts';

/** A call with what the log says has happened to it, as events of its chart. */
export interface KnownCall extends ToolCallInput {
  readonly history?: readonly ToolCallEvent[] | undefined;
}

export interface ToolStep {
  /** In the order the model asked. */
  readonly calls: readonly KnownCall[];
  /** The tools this wake offers, by name. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly context: Omit<ToolContext, 'callId' | 'onProgress'>;
  /** Cuts short even what may come to its end after `context.signal` has aborted. */
  readonly force?: AbortSignal | undefined;
  readonly onProgress?: ((call: ToolCallInput, progress: ToolProgress) => void) | undefined;
  /** Keeps what is too long for a model, where the agent can read it. */
  readonly outputs?: OutputStore | undefined;
  /** The wake's actor. */
  readonly parent: AnyActorRef;
  /**
   * Decides for the last time, and says in the log that a call begins to take effect. The tool runs after it resolves;
   * when it rejects, as `onResult`.
   */
  readonly onStart: (call: ToolCallInput) => Promise<StartAnswer>;
  /**
   * Stores a result. Called once per call, as each one ends. When it rejects the step rejects, after everything has
   * stopped.
   */
  readonly onResult: (call: ToolCallInput, result: ToolCallResult) => Promise<void>;
}

/**
 * `held`: the call may not run as things stand now; it has no result and stays open. Else what it was allowed to do: a
 * call that would do something else by the time it runs is not run.
 */
export type StartAnswer = 'held' | { readonly allowed: PermissionSubject } | undefined;

type Execute = () => Promise<ToolCallResult>;

/** How long a tool that may come to its end has for it once the wake stops, in milliseconds. */
const FINISH_GRACE_MS = 30_000;

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

  /**
   * Lets a call that does not run now live through what is in the log already, so that it is seen where every other
   * call is seen.
   */
  replay({ history = [], ...call }: KnownCall, next: ToolCallEvent, parent: AnyActorRef): void {
    const actor = createActor(replayed, { input: call, id: call.callId, parent }).start();
    for (const event of [...history, next]) actor.send(event);
    if (actor.getSnapshot().status === 'active') stopChild(actor);
  }

  /** Resolves when every call has ended and its result is stored. */
  async runStep(step: ToolStep): Promise<void> {
    const waiting = step.calls.entries();
    const failures: unknown[] = [];
    const stop = new AbortController();
    const signal = AbortSignal.any([step.context.signal, stop.signal]);
    const stoppable = { ...step, context: { ...step.context, signal } };
    const work = async (): Promise<void> => {
      for (const [, call] of waiting) {
        try {
          const result = await this.#runCall(stoppable, call);
          if (result !== 'held') await step.onResult(call, result);
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

  async #runCall(whole: ToolStep, { history = [], ...call }: KnownCall): Promise<ToolCallResult | 'held'> {
    const step = withSignalsOfItsOwn(whole);
    const { signal } = step.context;
    const checked = checkedCall(step, call);
    const actor = createActor(this.#logic, { input: call, id: call.callId, parent: step.parent });
    const cancelFor = (reason: string): void => {
      // XState complains on the console about events to an actor that has ended.
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'CANCEL', reason });
    };
    const cancel = (): void => cancelFor(stopReasonOf(signal));
    try {
      actor.start();
      for (const event of history) actor.send(event);
      if (signal.aborted) cancel();
      else {
        // It runs in the chart when the log says that it has begun.
        const answer = 'refusal' in checked ? undefined : await begun(step, call, cancelFor);
        if (answer === 'held') return 'held';
        this.#running.set(call.callId, () => executeCall(step, checked, { clock: this.#clock, ...call, ...answer }));
        signal.addEventListener('abort', cancel, { once: true });
        actor.send({ type: 'RUN' });
        if (signal.aborted) cancel();
      }
      return await toPromise(actor);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#running.delete(call.callId);
      if (actor.getSnapshot().status === 'active') stopChild(actor);
    }
  }

  #execute(call: ToolCallInput): Promise<ToolCallResult> {
    const execute = this.#running.get(call.callId);
    if (execute !== undefined) return execute();
    throw new RuntimeError('TOOL_CALL_UNKNOWN', `tool call ${call.callId} is not running here`, { category: 'crash' });
  }
}

/** Node.js warns on the console about the eleventh listener of a signal, which the calls of a step have together. */
function withSignalsOfItsOwn({ context, force, ...step }: ToolStep): ToolStep {
  return {
    ...step,
    context: { ...context, signal: AbortSignal.any([context.signal]) },
    force: force === undefined ? undefined : AbortSignal.any([force]),
  };
}

/** What the log tells does not happen again. */
const replayed = toolCallMachine.provide({
  actors: { execute: fromPromise<ToolCallResult, ToolCallInput>(() => new Promise(() => undefined)) },
});

/** Says in the log that a call begins. One of which it cannot be said is over before anything runs. */
async function begun({ onStart }: ToolStep, call: ToolCallInput, end: (reason: string) => void): Promise<StartAnswer> {
  try {
    return await onStart(call);
  } catch (error) {
    end(messageOf(error));
    throw error;
  }
}

type CheckedCall =
  | { readonly refusal: string }
  | { readonly tool: Tool; readonly run: NonNullable<Tool['run']>; readonly input: unknown };

function checkedCall({ tools }: ToolStep, { name, input }: ToolCallInput): CheckedCall {
  const tool = tools.get(name);
  if (tool?.run === undefined)
    return { refusal: tool === undefined ? unknownTool(name, tools) : `The tool "${name}" cannot be run here.` };
  try {
    const reading = readToolInput(tool.definition, input);
    return reading.ok ? { tool, run: tool.run.bind(tool), input: reading.input } : { refusal: reading.reason };
  } catch (error) {
    // A check that an author wrote may throw.
    return { refusal: messageOf(error) };
  }
}

interface Execution extends ToolCallInput {
  readonly clock: Clock;
  /** What it was allowed to do. */
  readonly allowed?: PermissionSubject | undefined;
}

async function executeCall(
  step: ToolStep,
  checked: CheckedCall,
  { clock, callId, name, input, allowed: subject }: Execution,
): Promise<ToolCallResult> {
  if ('refusal' in checked) return failed(checked.refusal);
  const { tool, run, input: read } = checked;
  const { context } = step;
  if (context.signal.aborted) return cancelled(context.signal);
  // Judged and run with nothing in between: what another call has changed meanwhile shows here.
  if (subject !== undefined && canonicalJson(subject) !== canonicalJson(tool.subject?.(read, context) ?? subject))
    return failed(CHANGED);
  const stop = stopOf(tool, step, clock);
  // Before it is cut: half a secret cannot be recognized.
  const redacted = (output: unknown): unknown => context.environment?.secrets.json(output) ?? output;
  const work = async (): Promise<ToolCallResult> =>
    storable(
      redacted(
        await run(read, {
          ...context,
          subject,
          signal: stop.signal,
          callId,
          onProgress: stop.onProgress({ callId, name, input }),
        }),
      ),
      { outputs: step.outputs, session: context.session, callId },
    );
  const givenUp = (): ToolCallResult =>
    cancelled(stop.signal, 'The tool did not stop in time and may still be at work.');
  try {
    return await settledOrStopped(work(), {
      signal: stop.signal,
      force: step.force,
      clock,
      graceMs: tool.stopGraceMs,
      givenUp,
    });
  } catch (error) {
    return stop.signal.aborted ? cancelled(stop.signal) : failed(describe(error));
  } finally {
    stop.dispose();
  }
}

const CHANGED =
  'What the call would do has changed since it was allowed, and nothing of it has run. Ask again if it is still needed.';

/** What a model is told that asks for a tool which is not there. */
export function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  return `There is no tool "${name}". Available: ${[...tools.keys()].join(', ') || 'none'}.`;
}

/**
 * When a call is told to stop: with its wake, or, if it may come to its end, a while later or when no caller wants to
 * wait any more.
 */
function stopOf(
  { definition }: Tool,
  { context: { signal, environment }, force, onProgress }: ToolStep,
  clock: Clock,
): { readonly signal: AbortSignal; onProgress(call: ToolCallInput): ToolContext['onProgress']; dispose(): void } {
  const tell = (call: ToolCallInput): ToolContext['onProgress'] =>
    onProgress === undefined
      ? undefined
      : (progress) => onProgress(call, environment?.secrets.json(progress) ?? progress);
  if (definition.interruptBehavior === 'cancel') return { signal, onProgress: tell, dispose: () => undefined };
  const stop = new AbortController();
  let timer: TimerHandle | undefined;
  const wait = (): void => {
    timer ??= clock.setTimeout(() => stop.abort(signal.reason), FINISH_GRACE_MS);
  };
  const end = (): void => stop.abort(force?.reason);
  signal.addEventListener('abort', wait, { once: true });
  force?.addEventListener('abort', end, { once: true });
  if (force?.aborted === true) end();
  else if (signal.aborted) wait();
  return {
    signal: stop.signal,
    onProgress: tell,
    dispose() {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', wait);
      force?.removeEventListener('abort', end);
    },
  };
}

export interface StorableOutput {
  readonly outputs: OutputStore | undefined;
  readonly session: SessionPlace;
  readonly callId: string;
}

/**
 * A result as the log can hold it: JSON, and not larger than a model could read. What is left out lies in a file of the
 * workspace.
 */
export async function storable(output: unknown, { outputs, session, callId }: StorableOutput): Promise<ToolCallResult> {
  const { text, lost } = resultJson(output);
  if (lost !== undefined) return failed(`The call has run, and its result could not be stored. ${lost}.`);
  if (text === undefined) return { outcome: 'completed', output: null };
  if (text.length <= MAX_TOOL_RESULT_CHARACTERS) return { outcome: 'completed', output: JSON.parse(text) as unknown };
  const plain = JSON.parse(text) as unknown;
  const beside = textBeside(plain, text);
  const whole = beside?.text ?? (typeof plain === 'string' ? plain : text);
  const path = await outputs?.keep({ session, callId, text: whole }).catch(() => undefined);
  const maxCharacters = MAX_TOOL_RESULT_CHARACTERS - (beside?.rest ?? 0);
  const cut = cutOutput(whole, { maxCharacters, keptAt: path });
  return {
    outcome: 'completed',
    output: beside === undefined ? cut : { ...beside.output, output: cut },
    ...(path === undefined ? {} : { kept: { path, characters: whole.length } }),
  };
}

/** Other facts of an output may take this share of what a model is given; beyond it the output is cut as a whole. */
const MAX_REST_CHARACTERS = MAX_TOOL_RESULT_CHARACTERS / 4;

/**
 * The text of an output that has other facts beside it, and how long those are as JSON. Undefined when they are too
 * long, or there is none.
 */
function textBeside(
  output: unknown,
  json: string,
): { readonly output: object; readonly text: string; readonly rest: number } | undefined {
  if (typeof output !== 'object' || output === null || !('output' in output) || typeof output.output !== 'string')
    return undefined;
  const rest = json.length - JSON.stringify(output.output).length;
  return rest <= MAX_REST_CHARACTERS ? { output, text: output.output, rest } : undefined;
}

function cancelled(signal: AbortSignal, remark = ''): ToolCallResult {
  return { outcome: 'cancelled', output: `The call was stopped: ${stopReasonOf(signal)}. ${remark}`.trim() };
}

function failed(output: string): ToolCallResult {
  return { outcome: 'failed', output };
}

function describe(error: unknown): string {
  const message = messageOf(error);
  if (!RuntimeError.is(error) || error.hint === undefined) return message;
  return `${message}${/[.!?]$/.test(message) ? '' : '.'} ${error.hint}`;
}

function stopReasonOf(signal: AbortSignal): string {
  return messageOf(signal.reason);
}
