/** The lifecycles themselves, as XState machines and compiled: for inspection, audits and tests of one's own. */
export { compileLifecycle } from './machines/lifecycle.ts';
export type { CompiledLifecycle, LifecycleSnapshot } from './machines/lifecycle.ts';
export { taskMachine } from './machines/task/task-machine.ts';
export { taskLifecycle } from './machines/task/task-lifecycle.ts';
export { supervisorLifecycle, supervisorMachine } from './machines/task/supervisor-machine.ts';
