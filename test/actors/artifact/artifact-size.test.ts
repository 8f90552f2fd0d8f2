/** How much of a disk the artifacts of a session take whose agent has every tool that there is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentDefinition } from '../../../src/machines/agent/agent-definition.ts';
import { EMPTY_TAIL, extendTail } from '../../../src/machines/artifact/log-tail.ts';
import { sessionArtifacts } from '../../../src/machines/artifact/session-artifacts.ts';
import { HOST_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import { mountTable } from '../../../src/machines/environment/mount-table.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { contextReport } from '../../../src/machines/turn/context-report.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { created, foldAll, logOf, message, running } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let runtime: NodeRuntime;
beforeAll(async () => {
  home = await temporaryHome();
  runtime = await createNodeRuntime({ home: home.path, reconcileOnStart: false });
});
afterAll(async () => {
  await runtime.shutdown();
  await home.remove();
});

const SMALL_BYTES = 40_000;

it('is little for a small session, and what is the same in each is little of that', () => {
  const calls = Array.from({ length: 8 }, (_, index): SessionEventDraft[] => [
    {
      type: 'agent.tool_use',
      data: {
        callId: `call-${index}`,
        name: 'shell_run',
        input: { command: `npm test -- test/part-${index}.test.ts` },
        spanId: 'span-1',
      },
    },
    { type: 'agent.tool_started', data: { callId: `call-${index}` } },
    {
      type: 'agent.tool_result',
      data: {
        callId: `call-${index}`,
        name: 'shell_run',
        outcome: 'completed',
        output: { output: 'ok 12\n'.repeat(40), exitCode: 0 },
      },
    },
  ]).flat();
  const log = logOf(created, message('Run the tests, one part after the other.'), running, ...calls);
  const folders = {
    workspace: '/srv/files/sessions/one/workspace',
    agent: '/srv/files/agent',
    runtime: '/srv/files/runtime',
    learnings: '/srv/files/learnings',
    skills: '/srv/files/skills',
    agentSkills: '/srv/files/own',
  };
  const definition = {
    agentId: 'tester',
    permission: { mode: 'ask', allow: [], ask: [], deny: [] },
    budget: {},
  } as unknown as AgentDefinition;
  const artifacts = sessionArtifacts({
    state: foldAll(log),
    agent: { definition, tools: runtime.tools.map((tool) => tool.definition), skipped: [] },
    environment: {
      definition: HOST_ENVIRONMENT,
      fingerprint: 'f'.repeat(64),
      within: [],
      sandbox: undefined,
      mounts: mountTable({ folders, declared: [], vaults: [] }),
      secrets: [],
    },
    context: contextReport({ instructions: '', tools: [], messages: [], maxTokens: 100_000, reservedForOutput: 8_192 }),
    shells: [],
    tail: extendTail(EMPTY_TAIL, log),
  });
  const bytes = new Map(artifacts.map(({ name, text }) => [name, Buffer.byteLength(text)]));
  expect([...bytes.values()].reduce((sum, each) => sum + each, 0)).toBeLessThan(SMALL_BYTES);
  expect((bytes.get('tools.json') ?? 0) + (bytes.get('tools.md') ?? 0)).toBeLessThan(SMALL_BYTES / 2);
  for (const {
    definition: { name },
  } of runtime.tools)
    expect(artifacts.find((each) => each.name === 'tools.md')?.text).toContain(`| ${name} |`);
});
