/** The port that runs the checks which people have set: in the environment of the session, as its commands run. */
import { messageOf } from '../../machines/errors.ts';
import type { CheckEnding } from '../../machines/outcome/outcome-verdict.ts';
import type { ShellRunInput } from '../../machines/turn/shell-run.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { SessionPlace } from '../session/session-directories.ts';
import type { Tool } from '../turn/tool.ts';

export interface CheckRequest {
  readonly session: SessionPlace;
  /** Absolute; it exists. */
  readonly workspaceDirectory: string;
  readonly environment?: SessionEnvironment | undefined;
  readonly command: string;
  readonly timeoutSeconds: number;
  /** Names the run among those of the session. */
  readonly checkId: string;
  readonly signal: AbortSignal;
}

export interface CheckRunner {
  /**
   * Runs the command to its end, with everything that it started. @throws what `signal` was aborted with; all else that
   * goes wrong is an ending
   */
  run(request: CheckRequest): Promise<CheckEnding['ended']>;
}

/**
 * The same way that `shell_run` goes: watched, bounded, in the sandbox of the environment where there is one. No person
 * is asked: people have set it.
 */
export function createCheckRunner(shellRun: Pick<Tool<ShellRunInput>, 'run'>): CheckRunner {
  return {
    async run({ command, timeoutSeconds, checkId, ...context }) {
      context.signal.throwIfAborted();
      const output = await shellRun
        .run?.({ command, timeoutMs: timeoutSeconds * 1_000 }, { ...context, callId: checkId })
        .catch((error: unknown): unknown => error ?? new Error('nothing was said'));
      context.signal.throwIfAborted();
      return endingOf(output);
    },
  };
}

function endingOf(output: unknown): CheckEnding['ended'] {
  if (typeof output !== 'object' || output === null || !('exitCode' in output))
    return { kind: 'not_run', because: output === undefined ? 'commands cannot be run here' : messageOf(output) };
  const { exitCode } = output;
  const isTimeUp = 'timedOut' in output && output.timedOut === true;
  return {
    kind: 'exited',
    exitCode: typeof exitCode === 'number' && !isTimeUp ? exitCode : null,
    ...(isTimeUp ? { isTimeUp } : {}),
  };
}
