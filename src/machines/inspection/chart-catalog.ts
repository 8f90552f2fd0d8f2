/** The charts of this runtime, each with all that is known about it: for audits, diagrams, coverage and inspectors. */
import { durableScheduleEvents } from '../schedule/durable-events.ts';
import { durableScheduleMachine } from '../schedule/durable-machine.ts';
import { scheduleEvents } from '../schedule/schedule-events.ts';
import { scheduleMachine } from '../schedule/schedule-machine.ts';
import { activationEvents } from '../session/activation-events.ts';
import { activationMachine } from '../session/activation-machine.ts';
import { sessionChartEvents } from '../session/session-chart-events.ts';
import { sessionMachine } from '../session/session-machine.ts';
import { workerEvents } from '../session/worker-events.ts';
import { workerMachine } from '../session/worker-machine.ts';
import { subagentEvents } from '../subagent/subagent-events.ts';
import { subagentMachine } from '../subagent/subagent-machine.ts';
import { worktreeEvents } from '../subagent/worktree-events.ts';
import { worktreeMachine } from '../subagent/worktree-machine.ts';
import { supervisorEvents } from '../task/supervisor-events.ts';
import { supervisorMachine } from '../task/supervisor-machine.ts';
import { taskEvents } from '../task/task-events.ts';
import { taskMachine } from '../task/task-machine.ts';
import { mcpConnectionEvents } from '../turn/mcp-connection-events.ts';
import { mcpConnectionMachine } from '../turn/mcp-connection-machine.ts';
import { toolCallEvents } from '../turn/tool-call-events.ts';
import { toolCallMachine } from '../turn/tool-call-machine.ts';
import type { ToolCallInput, ToolCallResult } from '../turn/tool-call-machine.ts';
import { breakerEvents } from '../run/breaker-events.ts';
import { breakerMachine } from '../run/breaker-machine.ts';
import { runDecision } from '../run/run-attempt.ts';
import { runChartEvents } from '../run/run-chart-events.ts';
import { RUN_BEGINNING, runMachine } from '../run/run-machine.ts';
import type { AttemptAnswer, RunChoice, RunInput, SelectAnswer } from '../run/run-machine.ts';
import { leaseEvents } from '../wake/lease-events.ts';
import { leaseMachine } from '../wake/lease-machine.ts';
import { wakeEvents } from '../wake/wake-events.ts';
import { wakeAnswers } from '../wake/wake-answers.ts';
import { wakeMachine } from '../wake/wake-machine.ts';
import type { WakeInput } from '../wake/wake-machine.ts';
import type { Chart } from './chart.ts';

const wake: Chart = {
  machine: wakeMachine,
  events: wakeEvents,
  about: 'one wake of a session',
  input: { sessionId: 'session', wakeId: 'wake' } satisfies WakeInput,
  outputs: wakeAnswers,
};

const toolCall: Chart = {
  machine: toolCallMachine,
  events: toolCallEvents,
  about: 'one tool call that a model has asked for',
  input: { callId: 'call', name: 'tool', input: {} } satisfies ToolCallInput,
  outputs: {
    execute: [
      { outcome: 'completed', output: 'done' },
      { outcome: 'cancelled', output: 'stopped' },
      { outcome: 'failed', output: 'broken' },
    ] satisfies readonly ToolCallResult[],
  },
};

const CHOICE: RunChoice = { candidate: { provider: 'script', model: 'm' }, because: 'It is the first.' };

const run: Chart = {
  machine: runMachine,
  events: runChartEvents,
  about: 'one run of an agent over models and accounts',
  input: { runId: 'run' } satisfies RunInput,
  outputs: {
    select: [
      { next: 'chosen', course: RUN_BEGINNING, choice: CHOICE },
      { next: 'wait', course: RUN_BEGINNING, waitMs: 1_000 },
      { next: 'none', course: RUN_BEGINNING },
    ] satisfies readonly SelectAnswer[],
    attempt: (['answered', ...runDecision.options] as const).map(
      (next) => ({ next, course: RUN_BEGINNING }) satisfies AttemptAnswer,
    ),
    moveOn: [RUN_BEGINNING],
    wait: [RUN_BEGINNING],
    compact: [RUN_BEGINNING],
  },
};

const all: readonly Chart[] = [
  { machine: taskMachine, events: taskEvents, about: 'one background task' },
  { machine: supervisorMachine, events: supervisorEvents, about: 'the supervisor of the background tasks' },
  { machine: scheduleMachine, events: scheduleEvents, about: 'a schedule in the process that runs it' },
  {
    machine: durableScheduleMachine,
    events: durableScheduleEvents,
    about: 'a schedule that any worker may run, as it is recorded',
  },
  { machine: sessionMachine, events: sessionChartEvents, about: 'a session, as clients see it' },
  { machine: activationMachine, events: activationEvents, about: 'one session in the hands of a worker' },
  {
    machine: workerMachine,
    events: workerEvents,
    about: 'a worker, which wakes the sessions that have something to do',
  },
  {
    machine: leaseMachine,
    events: leaseEvents,
    about: 'the right to wake a session, as one process seeks and holds it',
  },
  wake,
  toolCall,
  run,
  { machine: breakerMachine, events: breakerEvents, about: 'a breaker, which keeps runs away from what fails' },
  {
    machine: mcpConnectionMachine,
    events: mcpConnectionEvents,
    about: 'the connection to one MCP server, which the wakes of an agent share',
  },
  { machine: subagentMachine, events: subagentEvents, about: 'one subagent job, from the moment its task has a slot' },
  { machine: worktreeMachine, events: worktreeEvents, about: 'one worktree that was made for a subagent' },
];

export const charts: readonly Chart[] = all.map((chart) => ({ ...chart, isStrict: true }));
