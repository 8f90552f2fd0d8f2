import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentRuntimeContract } from '../../../src/testing/agent-runtime-contract.ts';
import type {
  AgentRuntimeUnderTest,
  ContractToolUse,
  RunSetting,
} from '../../../src/testing/agent-runtime-contract-subject.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import type { Step } from '../../fixtures/cli-agents/scenario.mjs';
import { cliHouse } from './cli-house.ts';
import type { CliHouse, Family } from './cli-house.ts';

const CLAUDE_FAILURES: Partial<Record<RunFailureKind, readonly Step[]>> = {
  auth: [{ result: { is_error: true, result: 'Invalid API key · Please run /login' } }],
  rate_limit: [{ result: { is_error: true, result: 'Claude AI usage limit reached|1767225600' } }],
  overloaded: [
    {
      result: {
        is_error: true,
        api_error_status: 529,
        result: 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      },
    },
  ],
  billing: [{ result: { is_error: true, result: 'Credit balance is too low' } }],
  context_overflow: [{ result: { is_error: true, terminal_reason: 'prompt_too_long', result: 'Prompt is too long' } }],
  model_not_found: [
    {
      result: {
        is_error: true,
        api_error_status: 404,
        result: 'API Error: 404 {"type":"error","error":{"type":"not_found_error","message":"model: nope"}}',
      },
    },
  ],
  refusal: [{ result: { stop_reason: 'refusal' } }],
  format: [{ hugeLine: 17 * 1024 * 1024 }],
  server_error: [{ noResult: true, exit: 1 }],
  empty_response: [{}],
};

const CODEX_FAILURES: Partial<Record<RunFailureKind, readonly Step[]>> = {
  auth: [
    {
      result: {
        status: 'failed',
        error: {
          message: 'unexpected status 401 Unauthorized: Missing bearer or basic authentication in header',
          codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } },
        },
      },
    },
  ],
  rate_limit: [
    {
      result: {
        status: 'failed',
        error: {
          codexErrorInfo: 'usageLimitExceeded',
          message: "You've hit your usage limit. Upgrade to Pro or try again in 3 hours 12 minutes.",
        },
      },
    },
  ],
  context_overflow: [
    {
      result: {
        status: 'failed',
        error: {
          codexErrorInfo: 'contextWindowExceeded',
          message:
            "Codex ran out of room in the model's context window. Start a new conversation or clear earlier history before retrying.",
        },
      },
    },
  ],
  format: [{ hugeLine: 17 * 1024 * 1024 }],
  server_error: [{ noResult: true, exit: 1 }],
  empty_response: [{}],
};

const changeOf = async (house: CliHouse, ...steps: readonly Step[]): Promise<Partial<RunSetting>> => ({
  model: await house.scenario(...steps),
});

async function subject(family: Family): Promise<AgentRuntimeUnderTest> {
  const house = await cliHouse(family);
  const failures = family === 'claude' ? CLAUDE_FAILURES : CODEX_FAILURES;
  const nameOf = ({ name, input }: ContractToolUse): { readonly name: string; readonly input: object } => ({
    name,
    input,
  });
  const tools = (uses: readonly ContractToolUse[], more: Partial<Step>): readonly Step[] =>
    uses.map((use) => ({ use: nameOf(use), ...more }));
  const onlyClaude = {
    usesTools: (uses: readonly ContractToolUse[], text: string) => changeOf(house, ...tools(uses, {}), { say: text }),
    usesToolsIfAllowed: (uses: readonly ContractToolUse[], text: string) =>
      changeOf(house, ...tools(uses, { ask: true }), { say: text }),
  };
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
      fails: (kind) => changeOf(house, ...(failures[kind] ?? [])),
      tells: async (secret) => ({
        ...(await changeOf(house, { tellSecret: true }, { noResult: true, exit: 1 })),
        credential: { profileId: 'p', secret },
      }),
      hangs: () => changeOf(house, { hang: true }),
      hangsAfter: (text) => changeOf(house, { say: text }, { hang: true }),
      hangsInTool: (use) => changeOf(house, { use: { ...nameOf(use), hangs: true } }),
      losesSession: (id) => rm(join(house.directory, `${family}-sessions`, id), { force: true }),
      heard: async () => {
        const notes = house.notes();
        const last = notes.findLast(({ args }) => args !== undefined)?.pid;
        return notes
          .flatMap(({ pid, initialize, prompt }) =>
            pid === last ? [initialize?.appendSystemPrompt ?? '', prompt ?? ''] : [],
          )
          .join('\n');
      },
      awaitsMessage: (text: string) => changeOf(house, { say: text }, { awaitMessage: true }),
      ...(family === 'claude' ? onlyClaude : {}),
    },
    leftBehind: async () => [...house.left(), ...(await records(house))],
    close: () => house.close(),
  };
}

/** Process trees that are still on record. */
async function records({ directory }: CliHouse): Promise<readonly string[]> {
  return readdir(join(directory, 'processes')).catch(() => []);
}

const STEPS_ONLY = 'A run is a turn.';

describe.each<[Family, Partial<Record<string, string>>]>([
  ['claude', { asksForTools: STEPS_ONLY }],
  [
    'codex',
    {
      asksForTools: STEPS_ONLY,
      usesTools: 'It names its tools itself; test/adapters/cli-agent/codex.test.ts checks them.',
      usesToolsIfAllowed: 'It names its tools itself; test/adapters/cli-agent/codex.test.ts checks them.',
    },
  ],
])('over %s', (family, cannot) => {
  const failures = Object.keys(family === 'claude' ? CLAUDE_FAILURES : CODEX_FAILURES) as RunFailureKind[];
  const cases = agentRuntimeContract(() => subject(family), { runs: 'turn', failures, cannot });

  it.each(cases.filter(({ skipped }) => skipped === undefined).map((each) => [each.name, each] as const))(
    '%s',
    async (_name, each) => {
      await expect(each.run()).resolves.toBeUndefined();
    },
  );

  it('leaves out what the program cannot do, and nothing else', () => {
    const reasons = cases.flatMap(({ skipped }) => skipped ?? []);
    expect(reasons.length > 0).toBe(family === 'codex');
    expect(
      reasons.filter((reason) => !Object.values(cannot).some((words) => words !== undefined && reason.includes(words))),
    ).toEqual([]);
  });
});
