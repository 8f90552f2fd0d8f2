/**
 * Hooks that run when a worktree has been made for a subagent and when it has been removed: what they are told, and how
 * they are named.
 */
import * as z from 'zod';
import { BackgroundTaskError } from '../task/task-error.ts';
import { parsedOrRefused } from '../task/task-validation.ts';

export type WorktreeHookEvent = 'WorktreeCreate' | 'WorktreeRemove';

/**
 * What a hook is told. The names are those of the hooks that other agent programs have, so that one script serves them
 * all.
 */
export interface WorktreeHookInput {
  /** The session that the job works for. */
  readonly session_id: string;
  /**
   * WorktreeCreate: the folder that the agent is going to work in. WorktreeRemove: the one that the job was asked for
   * in.
   */
  readonly cwd: string;
  readonly hook_event_name: WorktreeHookEvent;
  readonly tool_name: 'Agent';
  readonly tool_input: {
    readonly jobId: string;
    readonly agentType: string;
    readonly worktreePath: string;
    readonly branchName: string;
    readonly removed: boolean;
  };
}

interface WorktreeHookContext {
  /** Aborted when the hook has run out of time, or when its job is to stop. */
  readonly signal: AbortSignal;
}

/** A hook in this process. What it throws is its failure. */
export type WorktreeHookFunction = (input: WorktreeHookInput, context: WorktreeHookContext) => unknown;

/** One hook as a configuration names it; `type` says who executes it, the rest is for that one. */
export interface HookDefinition {
  readonly type: string;
  /** Default: the runner's `hookTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  readonly [setting: string]: unknown;
}

interface HookGroup {
  /** A regular expression for the whole name of the tool, which is `Agent`. Absent, empty or `*`: every tool. */
  readonly matcher?: string | undefined;
  readonly hooks: readonly HookDefinition[];
}

type HookEntries = WorktreeHookFunction | readonly (WorktreeHookFunction | HookGroup)[];

export type WorktreeHooks = { readonly [Event in WorktreeHookEvent]?: HookEntries | undefined };

const FUNCTION_TYPE = 'function';

const hookFunction = z.custom<WorktreeHookFunction>((value) => typeof value === 'function', 'expected a function');

const definition = z.looseObject({ type: z.string().min(1), timeoutMs: z.number().positive().optional() });

const matcher = z
  .string()
  .refine(
    (text) => text === '*' || patternOf(text) !== undefined,
    'expected a regular expression, "*" or an empty text',
  );

const group = z.strictObject({ matcher: matcher.optional(), hooks: z.array(definition) });

const entries = z.union([hookFunction, z.array(z.union([hookFunction, group]))]);

const configuration = z.strictObject({ WorktreeCreate: entries.optional(), WorktreeRemove: entries.optional() });

const TOOL_NAME = 'Agent';

/** The hooks of each event, in the order in which they are to run. */
export type PlannedHooks = Readonly<Record<WorktreeHookEvent, readonly HookDefinition[]>>;

/**
 * The configuration as a plan: functions as definitions of the type `function`, groups that are meant for other tools
 * left out.
 * @param types the types that an executor is there for, besides `function`
 * @throws BackgroundTaskError category `validation`, also for a type without an executor
 */
export function plannedHooks(hooks: WorktreeHooks, types: readonly string[]): PlannedHooks {
  const checked = parsedOrRefused(configuration, hooks, { what: 'worktree hooks', code: 'SUBAGENT_HOOKS_INVALID' });
  const planned = { WorktreeCreate: listed(checked.WorktreeCreate), WorktreeRemove: listed(checked.WorktreeRemove) };
  for (const { type, run } of [...planned.WorktreeCreate, ...planned.WorktreeRemove]) {
    if (type === FUNCTION_TYPE ? typeof run === 'function' : types.includes(type)) continue;
    const expected =
      type === FUNCTION_TYPE
        ? 'a function hook needs a `run` function'
        : `no executor for hooks of the type "${type}"; there are: ${[FUNCTION_TYPE, ...types].join(', ')}`;
    throw new BackgroundTaskError('validation', `invalid worktree hooks: ${expected}`, {
      code: 'SUBAGENT_HOOKS_INVALID',
      hint: 'Pass an executor for the type in `hookTypeExecutors`.',
    });
  }
  return planned;
}

function listed(given: HookEntries | undefined): readonly HookDefinition[] {
  const all = typeof given === 'function' ? [given] : (given ?? []);
  return all.flatMap((entry): readonly HookDefinition[] => {
    if (typeof entry === 'function') return [{ type: FUNCTION_TYPE, run: entry }];
    return matches(entry.matcher) ? entry.hooks : [];
  });
}

function matches(text: string | undefined): boolean {
  return text === undefined || text === '' || text === '*' || patternOf(text)?.test(TOOL_NAME) === true;
}

/** The pattern for a whole name; undefined when the text is none. */
function patternOf(text: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${text})$`);
  } catch {
    return undefined;
  }
}
