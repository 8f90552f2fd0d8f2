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
import { acpSetup } from './acp-setup.ts';
import type { AcpSetup } from './acp-setup.ts';

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

const changeOf = async (setup: AcpSetup, ...steps: readonly Step[]): Promise<Partial<RunSetting>> => ({
  model: await setup.scenario(...steps),
});

async function subject(): Promise<AgentRuntimeUnderTest> {
  const setup = await acpSetup();
  const tools = (uses: readonly ContractToolUse[], more: Partial<Step>): readonly Step[] =>
    uses.map((use) => ({ use, ...more }));
  return {
    runtime: setup.runtime,
    setting: {
      sessionId: 'session_1',
      provider: 'agent',
      model: 'default',
      config: { providers: { agent: setup.settings() } },
      workspaceDir: setup.workspaceDir,
      agentDir: setup.directory,
      modelStepsTaken: 0,
    },
    situations: {
      answers: (text) => changeOf(setup, { say: text }),
      reasons: (reasoning, text) => changeOf(setup, { think: reasoning }, { say: text }),
      fails: (kind) => changeOf(setup, ...(FAILURES[kind] ?? [])),
      tells: async (secret) => ({
        ...(await changeOf(setup, { tellSecret: true })),
        credential: { profileId: 'p', secret },
      }),
      hangs: () => changeOf(setup, { hang: true }),
      hangsAfter: (text) => changeOf(setup, { say: text }, { hang: true }),
      usesTools: (uses, text) => changeOf(setup, ...tools(uses, {}), { say: text }),
      usesToolsIfAllowed: (uses, text) =>
        changeOf(setup, ...tools(uses, { ask: ['allow_always', 'allow_once', 'reject_once'] }), { say: text }),
      hangsInTool: (use) => changeOf(setup, { use: { ...use, hangs: true } }),
      losesSession: (id) => rm(join(setup.directory, 'acp-sessions', id), { force: true }),
      heard: () =>
        Promise.resolve(
          JSON.stringify(
            setup
              .notes()
              .findLast(({ prompt }) => prompt !== undefined)
              ?.prompt?.map(({ text }) => text),
          ),
        ),
    },
    leftBehind: () => setup.left(),
    close: () => setup.close(),
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
