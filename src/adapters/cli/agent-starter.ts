/** The agent that `agent create` makes when nobody says otherwise: it plays a script, so that it works offline and at once. */
import type { AgentScript } from './agent-script.ts';

const SCRIPT_FILE = 'script.json';

export function starterAgent(name: string): string {
  return `---
name: ${JSON.stringify(name)}
description: Plays script.json, step by step
provider: script
model: ${SCRIPT_FILE}
tools: [shell_run]
---

You are ${name}. Replace these lines with what the agent is to do.
`;
}

const SCRIPT = {
  format: 'wakechart-script/1',
  description: 'Each step is what a model would say. See docs/sessions.md.',
  steps: [
    { text: 'I look around first.', toolCalls: [{ name: 'shell_run', input: { command: 'pwd && ls -A' } }] },
    {
      expect: { lastToolResultOutcome: 'completed' },
      text: 'This is my workspace.',
      directive: { outcome: 'sleep', summary: 'Looked at the workspace.' },
    },
  ],
  onEnd: 'sleep',
};

export function starterScript(): AgentScript {
  return { fileName: SCRIPT_FILE, source: `${JSON.stringify(SCRIPT, undefined, 2)}\n` };
}
