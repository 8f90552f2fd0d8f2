// @ts-check
/** A runner of one's own: an agent that streams text, asks for a permission, and is stopped when it idles. */
import { BackgroundTaskManager, RuntimeError } from 'wakechart';

/** @typedef {import('wakechart/ports').AgentTaskRequest} AgentTaskRequest */
/** @typedef {import('wakechart/ports').BackgroundTaskRunner<AgentTaskRequest>} AgentRunner */

/** Says its prompt word by word, and asks before it says "delete". @type {AgentRunner} */
const parrot = {
  kind: 'agent',
  start({ taskId, request, emit, signal }) {
    /** Answers by request id. @type {Map<string, (allowed: boolean) => void>} */
    const waiting = new Map();

    /** @param {string} word */
    const ask = (word) =>
      new Promise((resolve) => {
        const requestId = `say-${word}`;
        waiting.set(requestId, resolve);
        emit({ type: 'background_task_permission_request', taskId, requestId, toolName: 'say', toolArgs: { word } });
      });

    const work = async () => {
      let output = '';
      for (const word of request.prompt.split(' ')) {
        if (word === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        if (signal.aborted) break;
        if (word === 'delete') await ask(word);
        emit({ type: 'background_task_text_delta', taskId, delta: `${word} ` });
        output += `${word} `;
      }
      return { taskId, output: output.trim() };
    };

    // Once the handle below is known: answers come through it.
    const result = Promise.resolve().then(work);
    return {
      taskId,
      result,
      // Resolves when nothing of the work is left: only then is the task cancelled.
      cancel: async () => {
        for (const answer of waiting.values()) answer(false);
        await result;
      },
      send: ({ permission }) => {
        if (permission !== undefined) waiting.get(permission.requestId)?.(permission.allowed);
      },
    };
  },
};

const tasks = new BackgroundTaskManager({ runners: { agent: parrot }, maxConcurrent: 2 });

try {
  tasks.subscribe((event) => {
    if (event.type === 'background_task_text_delta') console.log(`${event.taskId} says ${event.delta.trim()}`);
    if (event.type !== 'background_task_permission_request') return;
    console.log(`${event.taskId} asks for ${event.toolName}, and is ${tasks.get(event.taskId)?.status}`);
    // Somebody decides; here it is always allowed.
    tasks.send(event.taskId, { permission: { requestId: event.requestId, allowed: true } }).catch(console.error);
  });

  const common = /** @type {const} */ ({ kind: 'agent', agentType: 'parrot', cwd: process.cwd() });
  const careful = await tasks.spawn({ ...common, label: 'careful', prompt: 'please delete nothing' });
  console.log(JSON.stringify((await tasks.wait(careful.id)).output));

  const stuck = await tasks.spawn({ ...common, label: 'stuck', prompt: 'and then hang', idleTimeoutMs: 200 });
  await tasks.wait(stuck.id).catch((/** @type {unknown} */ error) => {
    if (!RuntimeError.is(error)) throw error;
    console.log(`${error.category}: ${error.message} (${tasks.get(stuck.id)?.timeoutReason})`);
  });
} finally {
  await tasks.shutdown();
}
