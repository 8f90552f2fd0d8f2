/**
 * Runs subagent jobs in this process: each is a session of the runtime. In a worker process it is what does the work of
 * the job it was made for.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { isWakeOnly, sessionOf } from '../../machines/subagent/subagent-request.ts';
import { checkSessionId } from '../../machines/session/session-requests.ts';
import { SessionRelay } from './session-relay.ts';
import { SessionWork } from './session-work.ts';
import type { SessionWorkPorts } from './session-work.ts';
import type { SubagentJobHandle, SubagentJobResult, SubagentJobStart, SubagentRunner } from './subagent-runner.ts';

/** The runner of a runtime's own sessions; `runtime.localSubagents` is one. */
export function createInProcessSubagentRunner(ports: SessionWorkPorts): SubagentRunner {
  return {
    start: (start) => (isWakeOnly(start.request) ? startWake(start, ports) : startWork(start, ports)),
  };
}

function startWork(start: SubagentJobStart, ports: SessionWorkPorts): SubagentJobHandle {
  const sessionId = sessionOf(start.request) ?? ports.ids.next();
  const work = new SessionWork(start, sessionId, ports);
  const result = work.run();
  result.catch(() => undefined);
  return {
    jobId: start.jobId,
    result,
    send: (prompt) => work.send(prompt),
    answerPermission: (requestId, allowed) => work.answer(requestId, allowed),
    async cancel(reason = 'the job was cancelled') {
      work.stop(reason);
      await result.catch(() => undefined);
    },
  };
}

/**
 * One wake of a session that is to run in the process that was made for it. What the session is for does not matter
 * here.
 */
function startWake({ jobId, request, emit }: SubagentJobStart, { trigger }: SessionWorkPorts): SubagentJobHandle {
  const sessionId = checkSessionId(sessionOf(request));
  const stop = new AbortController();
  const relay = new SessionRelay(jobId, emit);
  const wake = async (): Promise<SubagentJobResult> => {
    const humans = request.permissionPolicy === 'prompt' ? 'reachable' : 'none';
    const outcome = await trigger(sessionId, {
      signal: stop.signal,
      isHere: true,
      humans,
      onRunEvent: relay.run,
      onToolProgress: relay.alive,
    });
    return { jobId, output: outcome.summary, metadata: { outcome: { ...outcome } } };
  };
  const result = wake();
  result.catch(() => undefined);
  return {
    jobId,
    result,
    send: () => {
      throw new RuntimeError(
        'SUBAGENT_TAKES_NO_INPUT',
        `job ${jobId} is one wake of session ${sessionId} and takes no messages`,
        {
          category: 'runner',
          hint: `Send to the session: wakechart session send --session ${sessionId} --message TEXT`,
        },
      );
    },
    async cancel(reason = 'the wake was stopped') {
      stop.abort(new Error(messageOf(reason)));
      await result.catch(() => undefined);
    },
  };
}
