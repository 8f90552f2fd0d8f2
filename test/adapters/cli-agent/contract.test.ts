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
import { cliSetup } from './cli-setup.ts';
import type { CliSetup, Family } from './cli-setup.ts';

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

const changeOf = async (setup: CliSetup, ...steps: readonly Step[]): Promise<Partial<RunSetting>> => ({
  model: await setup.scenario(...steps),
});

async function subject(family: Family): Promise<AgentRuntimeUnderTest> {
  const setup = await cliSetup(family);
  const failures = family === 'claude' ? CLAUDE_FAILURES : CODEX_FAILURES;
  const nameOf = ({ name, input }: ContractToolUse): { readonly name: string; readonly input: object } => ({
    name,
    input,
  });
  const tools = (uses: readonly ContractToolUse[], more: Partial<Step>): readonly Step[] =>
    uses.map((use) => ({ use: nameOf(use), ...more }));
  const onlyClaude = {
    usesTools: (uses: readonly ContractToolUse[], text: string) => changeOf(setup, ...tools(uses, {}), { say: text }),
    usesToolsIfAllowed: (uses: readonly ContractToolUse[], text: string) =>
      changeOf(setup, ...tools(uses, { ask: true }), { say: text }),
  };
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
      fails: (kind) => changeOf(setup, ...(failures[kind] ?? [])),
      tells: async (secret) => ({
        ...(await changeOf(setup, { tellSecret: true }, { noResult: true, exit: 1 })),
        credential: { profileId: 'p', secret },
      }),
      hangs: () => changeOf(setup, { hang: true }),
      hangsAfter: (text) => changeOf(setup, { say: text }, { hang: true }),
      hangsInTool: (use) => changeOf(setup, { use: { ...nameOf(use), hangs: true } }),
      losesSession: (id) => rm(join(setup.directory, `${family}-sessions`, id), { force: true }),
      heard: async () => {
        const notes = setup.notes();
        const last = notes.findLast(({ args }) => args !== undefined)?.pid;
        return notes
          .flatMap(({ pid, initialize, prompt }) =>
            pid === last ? [initialize?.appendSystemPrompt ?? '', prompt ?? ''] : [],
          )
          .join('\n');
      },
      awaitsMessage: (text: string) => changeOf(setup, { say: text }, { awaitMessage: true }),
      ...(family === 'claude' ? onlyClaude : {}),
    },
    leftBehind: async () => [...setup.left(), ...(await records(setup))],
    close: () => setup.close(),
  };
}

/** Process trees that are still on record. */
async function records({ directory }: CliSetup): Promise<readonly string[]> {
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
