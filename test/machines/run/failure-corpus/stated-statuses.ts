/** Statuses that only a text tells mean what they mean when they are sent. */
import { failureCase } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';
import type { RunFailureKind } from '../../../../src/machines/run/run-failure.ts';

const MEANINGS: Partial<Record<RunFailureKind, readonly number[]>> = {
  format: [400, 405, 406, 414, 415, 422, 431],
  auth: [401, 403],
  billing: [402],
  model_not_found: [404, 410],
  timeout: [408, 504, 522, 524, 598],
  server_error: [409, 424, 425, 500, 502],
  context_overflow: [413],
  rate_limit: [429],
  overloaded: [498, 503, 529],
  aborted: [499],
};

export const statedStatusCases: readonly FailureCase[] = [
  ...Object.entries(MEANINGS).flatMap(([kind, statuses]) =>
    statuses.map((status) =>
      failureCase(
        `a text that states ${status}`,
        new Error(`gave up (HTTP ${status})`),
        kind as RunFailureKind,
        `stated status ${status}`,
      ),
    ),
  ),
  failureCase(
    'a text that states another failure of a server',
    new Error('gave up with status 507'),
    'server_error',
    'stated status 5xx',
  ),
];
