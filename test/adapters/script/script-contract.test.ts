import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createScriptAgentRuntime } from '../../../src/adapters/script/script-agent-runtime.ts';
import { runFailureKind } from '../../../src/machines/run/run-failure.ts';
import type {
  AgentRuntimeContractOptions,
  AgentRuntimeUnderTest,
  RunSetting,
} from '../../../src/testing/agent-runtime-contract-subject.ts';
import { describeAgentRuntime } from '../../contracts/agent-runtime.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

// The script backend as a subject of the contract of backends: each situation is a script of its own.

const A_DAY_MS = 86_400_000;

const SCRIPT_OPTIONS = {
  runs: 'step',
  failures: runFailureKind.options.filter((kind) => kind !== 'aborted'),
  cannot: {
    tells: 'a script has no account, so no backend tells it a secret',
    awaitsMessage: 'a run is one step of a script',
    heard: 'a script reads nothing',
  },
} as const satisfies AgentRuntimeContractOptions;

async function openScriptSubject(): Promise<AgentRuntimeUnderTest> {
  const home = await temporaryHome();
  const clock = createSimulatedClock();
  let scripts = 0;
  const playing = async (step: object): Promise<Partial<RunSetting>> => {
    scripts += 1;
    const model = `script-${scripts}.json`;
    await writeFile(join(home.path, model), JSON.stringify({ format: 'wakechart-script/1', steps: [step] }));
    return { model };
  };
  return {
    runtime: createScriptAgentRuntime({ clock, onListenerError: () => undefined }),
    setting: {
      sessionId: 'session_1',
      provider: 'script',
      model: 'none.json',
      config: {},
      workspaceDir: home.path,
      agentDir: home.path,
      modelStepsTaken: 0,
    },
    situations: {
      answers: (text) => playing({ text, usage: { inputTokens: 3, outputTokens: 2 } }),
      reasons: (reasoning, text) => playing({ reasoning, text }),
      fails: (kind) => playing({ error: { kind, message: `fails as ${kind}` } }),
      hangs: () => playing({ delayMs: A_DAY_MS }),
      hangsAfter: (text) => playing({ text, pauseMs: A_DAY_MS }),
      asksForTools: (text, uses) => playing({ text, toolCalls: uses }),
    },
    leftBehind: () => Promise.resolve(clock.pendingTimers === 0 ? [] : [`${clock.pendingTimers} timers`]),
    close: () => home.remove(),
  };
}

describeAgentRuntime('the script backend', openScriptSubject, { ...SCRIPT_OPTIONS, skips: 3 });
