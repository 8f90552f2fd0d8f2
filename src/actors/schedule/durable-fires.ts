/**
 * What the slots of one durable schedule do in this worker: each is checked against the definition and the state as
 * they are now, then sends into its session or runs its command, and how that went is recorded.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { RUN_SILENCE_MS, beginRun, endRun, withSignOfLife } from '../../machines/schedule/schedule-state.ts';
import type { RunEnding, ScheduleState, StatusReason } from '../../machines/schedule/schedule-state.ts';
import { sendKeyOf } from '../../machines/schedule/schedule-definition.ts';
import type { CommandTarget, ScheduleDefinition, SessionTarget } from '../../machines/schedule/schedule-definition.ts';
import { instantOf } from '../../machines/schedule/slot-record.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskRequestInput } from '../../machines/task/task-request.ts';
import type { BackgroundTaskResult, BackgroundTaskState } from '../../machines/task/task-state.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import type { ChildTasks } from '../task/task-runner.ts';
import type { ScheduledSessions } from './durable-ports.ts';
import type { ScheduleRegistry } from './durable-registry.ts';
import type { SlotOwners } from './slot-owners.ts';

export interface DurableFiresOptions {
  readonly registry: ScheduleRegistry;
  readonly sessions: ScheduledSessions;
  readonly clock: Clock;
  /** The value of a variable of this worker. */
  readonly environment: (name: string) => string | undefined;
  /** Names this worker. Never used before. */
  readonly owner: string;
  /** Whether another worker lives. */
  readonly isAlive: SlotOwners['isAlive'];
  /** Ends what the commands of workers that are gone have left running. */
  readonly endLeft: () => Promise<unknown>;
  /** The definition as it was when the schedule's task was started. */
  readonly started: Pick<ScheduleDefinition, 'id' | 'series'>;
  readonly children: ChildTasks;
  /** The schedule has another status now. */
  readonly onStatus: (state: ScheduleState) => void;
  /** Something that is not the fault of the slot went wrong. */
  readonly onTrouble: (error: unknown) => void;
}

interface OpenRun {
  readonly definition: ScheduleDefinition;
  readonly slot: string;
}

/** A dead session takes no message ever again; one with a full queue does, later. */
const SESSION_GONE: ReadonlySet<string> = new Set(['SESSION_TERMINATED', 'SESSION_NOT_FOUND']);
const SESSION_FULL = 'SESSION_QUEUE_FULL';

/** Several signs of life fit into the silence after which a run is taken for dead. */
const SIGN_EVERY_MS = RUN_SILENCE_MS / 4;

export class DurableFires implements ChildTasks {
  readonly #options: DurableFiresOptions;
  /** Runs of commands, by the id of their task. */
  readonly #open = new Map<string, OpenRun>();
  /** What waits for the last run to end. */
  #onIdle: (() => void) | undefined = undefined;
  #starting = 0;

  constructor(options: DurableFiresOptions) {
    this.#options = options;
  }

  /** Calls `listener` once no run goes on; at once when none does. */
  whenIdle(listener: () => void): void {
    this.#onIdle = listener;
    this.#settle();
  }

  async spawn(request: BackgroundTaskRequestInput): Promise<BackgroundTaskState> {
    this.#starting += 1;
    try {
      return await this.#fire(request);
    } finally {
      this.#starting -= 1;
      this.#settle();
    }
  }

  async wait(taskId: string): Promise<BackgroundTaskResult> {
    const run = this.#open.get(taskId);
    // A message that is sent is all there is to it.
    if (run === undefined) return { taskId, output: '' };
    const stopSigns = this.#giveSignsOfLife(run);
    try {
      const result = await this.#options.children.wait(taskId);
      await this.#end(run, endingOf(result));
      return result;
    } catch (thrown) {
      await this.#end(run, { outcome: isCancelled(thrown) ? 'cancelled' : 'failed', note: messageOf(thrown) });
      throw thrown;
    } finally {
      stopSigns();
      this.#open.delete(taskId);
      this.#settle();
    }
  }

  async cancel(taskId: string, reason?: string): Promise<void> {
    if (this.#open.has(taskId)) await this.#options.children.cancel(taskId, reason);
  }

  async close(taskId: string): Promise<void> {
    await this.#options.children.close(taskId);
  }

  async #fire(request: BackgroundTaskRequestInput): Promise<BackgroundTaskState> {
    const slot = String(request.metadata?.['slot']);
    const definition = await this.#current();
    await this.#begin({ definition, slot });
    try {
      return definition.target.kind === 'session'
        ? await this.#send(definition, definition.target, request, slot)
        : await this.#run(definition, definition.target, request, slot);
    } catch (thrown) {
      await this.#end({ definition, slot }, endingOfRefusal(thrown));
      throw BackgroundTaskError.from(thrown, 'runner');
    }
  }

  /** It may have been replaced, or removed, and we have not been told yet. */
  async #current(): Promise<ScheduleDefinition> {
    const { registry, started } = this.#options;
    const definition = await registry.definition(started.id);
    if (definition.series === started.series) return definition;
    throw new BackgroundTaskError('not_found', `schedule "${started.id}" was removed; another one has its id now`, {
      code: 'SCHEDULE_NOT_FOUND',
    });
  }

  /** @throws BackgroundTaskError that says why the slot does not run */
  async #begin({ definition, slot }: OpenRun): Promise<void> {
    const { registry, owner, onStatus } = this.#options;
    let refusal: StatusReason | undefined;
    let before: ScheduleState['status'] | undefined;
    const deadOwner = await this.#deadOwner(definition);
    const state = await registry.change(definition, (now) => {
      before = now.status;
      const decision = beginRun(definition, now, { slot, owner, at: this.#now(), deadOwner });
      refusal = decision.kind === 'refused' ? decision.reason : undefined;
      return decision.state;
    });
    if (state.status !== before) onStatus(state);
    if (refusal !== undefined) throw new BackgroundTaskError('conflict', refusal.message, { code: refusal.code });
  }

  /**
   * The owner of the run that goes on by the record and whose process is gone. Nothing of that run is left when this
   * resolves.
   */
  async #deadOwner(definition: ScheduleDefinition): Promise<string | undefined> {
    const { registry, owner, isAlive, endLeft, onTrouble } = this.#options;
    const { lastRun } = await registry.stateOf(definition);
    if (lastRun?.outcome !== 'running' || lastRun.owner === owner || (await isAlive(lastRun.owner)) !== false)
      return undefined;
    await endLeft().catch(onTrouble);
    return lastRun.owner;
  }

  /** Once, whichever worker sends it and however often it is tried: the key is that of the slot. */
  async #send(
    definition: ScheduleDefinition,
    { sessionId, text, delivery }: SessionTarget,
    request: BackgroundTaskRequestInput,
    slot: string,
  ): Promise<BackgroundTaskState> {
    const options = {
      idempotencyKey: sendKeyOf(definition.id, slot),
      ...(delivery === undefined || delivery === 'queue' ? {} : { delivery }),
    };
    const { seq } = await this.#options.sessions.send(sessionId, { type: 'user.message', text }, options);
    await this.#end({ definition, slot }, { outcome: 'completed', note: `sent as event ${seq}` });
    return sentState(request, { id: `${sessionId}#${seq}`, at: this.#now() });
  }

  async #run(
    definition: ScheduleDefinition,
    target: CommandTarget,
    request: BackgroundTaskRequestInput,
    slot: string,
  ): Promise<BackgroundTaskState> {
    const { command, cwd, timeoutMs } = target;
    const { label, parentSessionId, depth, priority, metadata } = request;
    const state = await this.#options.children.spawn({
      kind: 'process',
      label,
      // No person will ever type into it.
      mode: 'foreground',
      command,
      cwd,
      ...present({ parentSessionId, depth, priority, metadata, timeoutMs }),
      ...(target.env === undefined ? {} : { env: this.#variables(target.env) }),
    });
    this.#open.set(state.id, { definition, slot });
    return state;
  }

  #variables(names: readonly string[]): Record<string, string> {
    const values = names.map((name) => [name, this.#options.environment(name)] as const);
    const missing = values.filter(([, value]) => value === undefined).map(([name]) => name);
    if (missing.length > 0) {
      throw new BackgroundTaskError('validation', `the worker has no variable ${missing.join(', ')}`, {
        code: 'SCHEDULE_ENVIRONMENT',
        hint: 'Start the worker with it.',
      });
    }
    return Object.fromEntries(values.map(([name, value]) => [name, value ?? '']));
  }

  /** What happened has happened: that it cannot be recorded must not look as if it had failed. */
  async #end({ definition, slot }: OpenRun, ending: Pick<RunEnding, 'outcome' | 'note' | 'ends'>): Promise<void> {
    const { registry, owner, onStatus, onTrouble } = this.#options;
    try {
      let before: ScheduleState['status'] | undefined;
      const state = await registry.change(definition, (now) => {
        before = now.status;
        return endRun(definition, now, { slot, owner, at: this.#now(), ...ending });
      });
      if (state.status !== before) onStatus(state);
    } catch (error) {
      onTrouble(error);
    }
  }

  /** Lets other workers know that the run goes on. Returns the function that ends it. */
  #giveSignsOfLife({ definition, slot }: OpenRun): () => void {
    const { registry, owner, clock, onTrouble } = this.#options;
    let timer: TimerHandle | undefined;
    let isOver = false;
    const arm = (): void => {
      timer = clock.setTimeout(() => {
        registry
          .change(definition, (state) => (isOver ? undefined : withSignOfLife(state, { slot, owner, at: this.#now() })))
          .catch(onTrouble)
          .finally(() => {
            if (!isOver) arm();
          });
      }, SIGN_EVERY_MS);
    };
    arm();
    return () => {
      isOver = true;
      clock.clearTimeout(timer);
    };
  }

  #settle(): void {
    if (this.#open.size > 0 || this.#starting > 0) return;
    this.#onIdle?.();
    this.#onIdle = undefined;
  }

  #now(): string {
    return instantOf(this.#options.clock.now());
  }
}

function endingOf({ exitCode, signalCode, output }: BackgroundTaskResult): Pick<RunEnding, 'outcome' | 'note'> {
  const lastLine = output.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (exitCode === 0) return { outcome: 'completed', note: 'exit 0' };
  return {
    outcome: 'failed',
    note: `${exitCode === undefined ? (signalCode ?? 'no exit code') : `exit ${exitCode}`}${lastLine === '' ? '' : `: ${lastLine}`}`,
  };
}

function endingOfRefusal(thrown: unknown): Pick<RunEnding, 'outcome' | 'note' | 'ends'> {
  const code = RuntimeError.is(thrown) ? thrown.code : '';
  const note = messageOf(thrown);
  if (code === SESSION_FULL) return { outcome: 'missed', note };
  return { outcome: 'failed', note, ...(SESSION_GONE.has(code) ? { ends: { code, message: note } } : {}) };
}

function isCancelled(thrown: unknown): boolean {
  return RuntimeError.is(thrown) && ['TASK_CANCELLED', 'TASK_MANAGER_SHUT_DOWN'].includes(thrown.code);
}

/** A message is stored at once: there is no task to wait for, only what one would look like that has ended. */
function sentState(
  { label, metadata }: BackgroundTaskRequestInput,
  { id, at }: { readonly id: string; readonly at: string },
): BackgroundTaskState {
  return {
    id,
    kind: 'agent',
    label,
    status: 'completed',
    mode: 'background',
    parentSessionId: 'local',
    depth: 1,
    cwd: '.',
    updatedAt: at,
    completedAt: at,
    unread: false,
    ...present({ metadata }),
  };
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;
}
