/** A process that wakes a session until it is killed: `node dying-worker.js HOME SESSION`. */
import { endlessRuntime } from './leaky-agent.ts';
import { openLeakyRuntime } from './leaky-runtime.ts';

const [home = '', sessionId = ''] = process.argv.slice(2);
await openLeakyRuntime({ home, redacts: true, runtimes: [endlessRuntime()] }).wake(sessionId);
