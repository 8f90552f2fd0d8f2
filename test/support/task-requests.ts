/** Complete requests that tests vary. */
import type { BackgroundTaskRequestInput } from '../../src/machines/task/task-request.ts';

type RequestOf<Kind extends string> = Extract<BackgroundTaskRequestInput, { kind: Kind }>;

export const processRequest = (changes: Partial<RequestOf<'process'>> = {}): RequestOf<'process'> => ({
  kind: 'process',
  label: 'a process',
  mode: 'background',
  parentSessionId: 'session_1',
  depth: 0,
  cwd: '/',
  command: 'true',
  ...changes,
});

export const agentRequest = (changes: Partial<RequestOf<'agent'>> = {}): RequestOf<'agent'> => ({
  kind: 'agent',
  label: 'an agent',
  mode: 'background',
  parentSessionId: 'session_1',
  depth: 1,
  cwd: '/',
  agentType: 'fixer',
  prompt: 'Fix it.',
  ...changes,
});

export const scheduledRequest = (changes: Partial<RequestOf<'scheduled'>> = {}): RequestOf<'scheduled'> => ({
  kind: 'scheduled',
  label: 'a schedule',
  parentSessionId: 'session_1',
  cwd: '/',
  cronExpression: '* * * * *',
  command: 'true',
  ...changes,
});
