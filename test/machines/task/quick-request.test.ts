import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quickRequest } from '../../../src/machines/task/quick-request.ts';
import { backgroundTaskRequest } from '../../../src/machines/task/task-request.ts';
import { agentRequest, processRequest, scheduledRequest } from '../../support/task-requests.ts';

const anyValue = fc.oneof(
  fc.string(),
  fc.constant(''),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(undefined),
  fc.constant(null),
  fc.constant(Number.NaN),
  fc.constant(Infinity),
  fc.constant(-0),
  fc.constantFrom('background', 'foreground', 'process', 'agent', 'scheduled', 'inherit-allowlist', 'deny'),
  fc.object({ maxDepth: 1 }),
);
const key = fc.constantFrom(
  'kind',
  'label',
  'mode',
  'parentSessionId',
  'parentTaskId',
  'depth',
  'cwd',
  'priority',
  'timeoutMs',
  'idleTimeoutMs',
  'maxRuntimeMs',
  'metadata',
  'command',
  'shell',
  'env',
  'stdin',
  'outputLimitBytes',
  'agentType',
  'prompt',
  'permissionPolicy',
  'model',
  'isolation',
  'allowedTools',
  'unknown',
  '__proto__',
  'constructor',
  'toString',
  'scheduleId',
  'cronExpression',
  'agentInstruction',
  'timezone',
  'catchUp',
  'overlap',
);
const changed = fc
  .tuple(
    fc.constantFrom<object>(processRequest(), agentRequest(), scheduledRequest(), {}),
    fc.array(fc.tuple(key, anyValue), { maxLength: 4 }),
  )
  .map(([base, changes]) =>
    changes.reduce<object>(
      (request, [name, value]) =>
        Object.defineProperty(request, name, { value, enumerable: true, writable: true, configurable: true }),
      { ...base },
    ),
  );

describe('a request read without the schema', () => {
  it('is what the schema would have made of it, or is left to the schema', () => {
    let quick = 0;
    fc.assert(
      fc.property(changed, (request) => {
        const own = quickRequest(request);
        if (own === undefined) return;
        quick += 1;
        const parsed = backgroundTaskRequest.safeParse(request);
        expect(parsed.success).toBe(true);
        expect(own).toStrictEqual(parsed.data);
      }),
      { numRuns: 5_000 },
    );
    expect(quick).toBeGreaterThan(100);
  });

  it('is a copy', () => {
    const request = processRequest();
    expect(quickRequest(request)).not.toBe(request);
  });

  it.each([undefined, null, 'process', 7, [], () => undefined])('leaves %s to the schema', (value) => {
    expect(quickRequest(value)).toBeUndefined();
  });
});
