/** The session of a backend belongs to whoever had the log first: a copy of the log begins one of its own. */
import { expect, it } from 'vitest';
import { answered, openBackendSetup } from '../../support/backend-setup.ts';
import type { Act } from '../../support/told-runtime.ts';

const turn: Act = ({ resume, sessionId }) => answered('Hi.', resume?.sessionId ?? `backend of ${sessionId}`);

it('a fork begins a session of its own, under a later generation, and the first goes on with its own', async () => {
  const { setup, backend, id } = await openBackendSetup([turn]);
  try {
    const { sessions } = setup.runtime;
    await setup.runtime.wake(id);
    const { sessionId } = await sessions.fork(id);
    for (const each of [sessionId, id]) {
      await sessions.send(each, { type: 'user.message', text: 'And now?' });
      await setup.runtime.wake(each);
    }
    expect(backend.asked.map((params) => [params.sessionId, params.resume?.sessionId])).toEqual([
      [id, undefined],
      [sessionId, undefined],
      [id, `backend of ${id}`],
    ]);
    expect(
      (await setup.dataOf(sessionId, 'backend.session_bound')).map((bound) => [
        bound.sessionId,
        bound.generation,
        bound.isCopied,
      ]),
    ).toEqual([
      [`backend of ${id}`, 1, true],
      [`backend of ${sessionId}`, 2, undefined],
    ]);
    await sessions.send(sessionId, { type: 'user.message', text: 'And then?' });
    await setup.runtime.wake(sessionId);
    expect(backend.asked.at(-1)?.resume?.sessionId).toBe(`backend of ${sessionId}`);
  } finally {
    await setup[Symbol.asyncDispose]();
  }
});

it('what was imported does too', async () => {
  const { setup, backend, id } = await openBackendSetup([turn]);
  try {
    const { sessions } = setup.runtime;
    await setup.runtime.wake(id);
    const lines: string[] = [];
    for await (const line of sessions.export(id)) lines.push(line);
    await sessions.delete(id);
    await sessions.import(lines);
    await sessions.send(id, { type: 'user.message', text: 'And now?' });
    await setup.runtime.wake(id);
    expect(backend.asked.at(-1)?.resume).toBeUndefined();
  } finally {
    await setup[Symbol.asyncDispose]();
  }
});
