/** The lifecycles themselves, as XState machines and compiled: for inspection, audits and tests of one's own. */
export { compileLifecycle } from './machines/lifecycle.ts';
export type { CompiledLifecycle, LifecycleSnapshot } from './machines/lifecycle.ts';
export { taskMachine } from './machines/task/task-machine.ts';
export { taskLifecycle } from './machines/task/task-lifecycle.ts';
export { supervisorLifecycle, supervisorMachine } from './machines/task/supervisor-machine.ts';
export { scheduleLifecycle, scheduleMachine } from './machines/schedule/schedule-machine.ts';
export { sessionLifecycle, sessionMachine } from './machines/session/session-machine.ts';
export { foldSession } from './machines/session/session-fold.ts';
export { initialSessionState } from './machines/session/session-state.ts';
export { wakeMachine } from './machines/wake/wake-machine.ts';
export { toolCallMachine } from './machines/turn/tool-call-machine.ts';
