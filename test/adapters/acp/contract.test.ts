import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import { agentRuntimeContract } from '../../../src/testing/agent-runtime-contract.ts';
import type {
  AgentRuntimeUnderTest,
  ContractToolUse,
  RunSetting,
} from '../../../src/testing/agent-runtime-contract-subject.ts';
import type { Step } from '../../fixtures/acp-agents/agent.mjs';
import { acpHouse } from './acp-house.ts';
import type { AcpHouse } from './acp-house.ts';

const FAILURES: Partial<Record<RunFailureKind, readonly Step[]>> = {
  auth: [{ rpcError: { code: -32000, message: 'Authentication required' } }],
  rate_limit: [
    { rpcError: { code: -32603, message: 'Internal error', data: { details: 'API Error: 429 rate limit exceeded' } } },
  ],
  overloaded: [{ rpcError: { code: -32603, message: 'Internal error', data: 'Overloaded' } }],
  context_overflow: [{ rpcError: { code: -32603, message: 'prompt is too long: 210000 tokens > 200000 maximum' } }],
  session_expired: [{ rpcError: { code: -32002, message: 'Resource not found', data: { sessionId: 's' } } }],
  refusal: [{ stop: 'refusal' }],
  format: [{ hugeLine: 17 * 1024 * 1024 }, { hang: true }],
  server_error: [{ exit: 1 }],
  empty_response: [{}],
};

const changeOf = async (house: AcpHouse, ...steps: readonly Step[]): Promise<Partial<RunSetting>> => ({
  model: await house.scenario(...steps),
});

async function subject(): Promise<AgentRuntimeUnderTest> {
  const house = await acpHouse();
  const tools = (uses: readonly ContractToolUse[], more: Partial<Step>): readonly Step[] =>
    uses.map((use) => ({ use, ...more }));
  return {
    runtime: house.runtime,
    setting: {
      sessionId: 'session_1',
      provider: 'agent',
      model: 'default',
      config: { providers: { agent: house.settings() } },
      workspaceDir: house.workspaceDir,
      agentDir: house.directory,
      modelStepsTaken: 0,
    },
    situations: {
      answers: (text) => changeOf(house, { say: text }),
      reasons: (reasoning, text) => changeOf(house, { think: reasoning }, { say: text }),
      fails: (kind) => changeOf(house, ...(FAILURES[kind] ?? [])),
      tells: async (secret) => ({
        ...(await changeOf(house, { tellSecret: true })),
        credential: { profileId: 'p', secret },
      }),
      hangs: () => changeOf(house, { hang: true }),
      hangsAfter: (text) => changeOf(house, { say: text }, { hang: true }),
      usesTools: (uses, text) => changeOf(house, ...tools(uses, {}), { say: text }),
      usesToolsIfAllowed: (uses, text) =>
        changeOf(house, ...tools(uses, { ask: ['allow_always', 'allow_once', 'reject_once'] }), { say: text }),
      hangsInTool: (use) => changeOf(house, { use: { ...use, hangs: true } }),
      losesSession: (id) => rm(join(house.directory, 'acp-sessions', id), { force: true }),
      heard: () =>
        Promise.resolve(
          JSON.stringify(
            house
              .notes()
              .findLast(({ prompt }) => prompt !== undefined)
              ?.prompt?.map(({ text }) => text),
          ),
        ),
    },
    leftBehind: () => house.left(),
    close: () => house.close(),
  };
}

describe('an agent of the Agent Client Protocol', () => {
  const cases = agentRuntimeContract(subject, {
    runs: 'turn',
    failures: Object.keys(FAILURES) as RunFailureKind[],
    cannot: {
      asksForTools: 'A run is a turn.',
      awaitsMessage: 'The protocol knows no message into a turn that is under way.',
    },
  });

  it.each(cases.filter(({ skipped }) => skipped === undefined).map((each) => [each.name, each] as const))(
    '%s',
    async (_name, each) => {
      await expect(each.run()).resolves.toBeUndefined();
    },
  );

  it('leaves out what the protocol cannot do, and nothing else', () => {
    expect(cases.flatMap(({ name, skipped }) => (skipped === undefined ? [] : [name]))).toHaveLength(1);
  });
});
