import { describe, expect, it } from 'vitest';
import {
  checkedSpawnRequest,
  continuesSession,
  sessionOf,
  taskRequestOf,
} from '../../../src/machines/subagent/subagent-request.ts';
import type { AgentTaskRequest } from '../../../src/machines/task/task-request.ts';

const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';
const REQUEST = { type: 'fixer', prompt: 'Fix it.', cwd: '/work' };

function refusal(changes: object): { readonly code?: string; readonly message: string } {
  try {
    checkedSpawnRequest({ ...REQUEST, ...changes });
  } catch (error) {
    return error as { readonly code?: string; readonly message: string };
  }
  return { message: 'none' };
}

describe('a request for a job', () => {
  it.each(['wakechart.sessionId', 'wakechart.wakeOnly', 'wakechart.run', 'wakechart.continues', 'wakechart.later'])(
    'has no metadata of the runtime, such as %s',
    (key) => {
      expect(refusal({ metadata: { mine: 1, [key]: SESSION } })).toMatchObject({
        code: 'SUBAGENT_REQUEST_INVALID',
        message: expect.stringContaining(key),
      });
    },
  );

  it('keeps the metadata of its own beside what the runtime puts there', () => {
    const task = taskRequestOf(
      { ...REQUEST, sessionId: SESSION, metadata: { mine: 1, 'their.key': 2 } },
      { continues: true },
    ) as AgentTaskRequest;
    expect(task.metadata).toMatchObject({ mine: 1, 'their.key': 2 });
    expect([sessionOf(task), continuesSession(task)]).toEqual([SESSION, true]);
    expect(continuesSession(taskRequestOf({ ...REQUEST, sessionId: SESSION }) as AgentTaskRequest)).toBe(false);
  });

  it.each<[string, object]>([
    ['a key', { name: 'anthropic', apiKey: 'hidden-value' }],
    ['an address with a password', { name: 'openai', baseUrl: 'https://u:hidden-value@127.0.0.1:9/v1' }],
    ['a header that authorizes', { name: 'anthropic', options: { headers: { Authorization: 'hidden-value' } } }],
    ['a secret by its name, nested', { name: 'anthropic', options: { list: [{ 'x-api-key': 'hidden-value' }] } }],
    ['a list of secrets', { name: 'anthropic', options: { credentials: ['hidden-value'] } }],
    ['an access token', { name: 'anthropic', options: { accessToken: 'hidden-value' } }],
    ['a value that logs somebody in', { name: 'anthropic', options: { note: 'Bearer hidden-value' } }],
    ['a value that is a well-known key', { name: 'anthropic', options: { note: ['sk-hidden-value-1234'] } }],
    ['a secret as a name', { name: 'anthropic', options: { 'sk-hidden-value-1234': true } }],
  ])('is refused with %s in its provider profile, and the value is in no error', (_what, providerProfile) => {
    const { code, message } = refusal({ providerProfile });
    expect(code).toBe('PROVIDER_PROFILE_INVALID');
    expect(message).not.toContain('hidden-value');
  });

  it.each<[unknown]>([
    ['anthropic'],
    [{ name: 'anthropic', apiKeyEnv: 'MY_KEY', model: 'large' }],
    [
      {
        name: 'openai',
        options: {
          maxTokens: 10,
          thinking: { budgetTokens: 5 },
          promptCacheKey: 'a',
          reasoningEffort: 'high',
          serviceTier: 'flex',
        },
      },
    ],
  ])('may have a profile that names no secret: %j', (providerProfile) => {
    expect(checkedSpawnRequest({ ...REQUEST, providerProfile })).toMatchObject({ providerProfile });
  });
});
