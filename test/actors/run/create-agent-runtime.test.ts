import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { AgentRunParams, AgentRunResult } from '../../../src/actors/run/agent-runtime.ts';
import { createAgentRuntime } from '../../../src/actors/run/create-agent-runtime.ts';
import type { RunVoice } from '../../../src/actors/run/create-agent-runtime.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';

const PARAMS: AgentRunParams = {
  runId: 'r',
  sessionId: 's',
  provider: 'p',
  model: 'm',
  config: {},
  workspaceDir: '/',
  agentDir: '/',
  modelStepsTaken: 0,
  prompt: 'hello',
};

async function answered(
  answer: Parameters<typeof createAgentRuntime>[0]['answer'],
  params: Partial<AgentRunParams> = {},
): Promise<{ readonly result: AgentRunResult; readonly events: AgentRunEvent[] }> {
  const events: AgentRunEvent[] = [];
  const runtime = createAgentRuntime({ id: 'own', clock: createSimulatedClock(), answer });
  const result = await runtime.run({
    ...PARAMS,
    ...params,
    onEvent: (event) => void events.push(event),
  } as AgentRunParams);
  return { result, events };
}

describe('a backend out of one function', () => {
  it('says its pieces as payloads, joined where they follow one another, and streams them as they come', async () => {
    const opaque = { provider: 'p', model: 'm', data: 'signature' };
    const { result, events } = await answered(async (_params, { say, think, call, direct }) => {
      think('Let me');
      think(' see.', opaque);
      say('One');
      say('');
      say(' two.');
      call({ callId: 'c', name: 'check', input: { at: 1 } });
      say('Three.');
      direct({ outcome: 'sleep', summary: 'Done.' });
    });
    expect(result).toEqual({
      payloads: [
        { type: 'reasoning', text: 'Let me see.', opaque },
        { type: 'text', text: 'One two.' },
        { type: 'tool_call', callId: 'c', name: 'check', input: { at: 1 } },
        { type: 'text', text: 'Three.' },
        { type: 'directive', directive: { outcome: 'sleep', summary: 'Done.' } },
      ],
    });
    expect(
      events.map(({ stream, data }) =>
        'text' in data ? data.text : 'phase' in data ? `${stream} ${data.phase}` : stream,
      ),
    ).toEqual(['lifecycle start', 'Let me', ' see.', 'One', ' two.', 'tool requested', 'Three.', 'lifecycle end']);
  });

  const ENCODED = Buffer.from('sk-of-me').toString('base64');

  it('fails with what its function throws, classified, and without the secret of its account', async () => {
    const { result, events } = await answered(
      (_params, { say }) => {
        say('So far.');
        return Promise.reject(
          Object.assign(new Error(`the key sk-of-me (${ENCODED}) has too many requests`), { status: 429 }),
        );
      },
      { credential: { profileId: 'p', secret: 'sk-of-me' } },
    );
    expect(result.payloads).toEqual([{ type: 'text', text: 'So far.' }]);
    expect(result.meta?.error?.kind).toBe('rate_limit');
    expect(JSON.stringify([result, events])).not.toMatch(new RegExp(`sk-of-me|${ENCODED}`));
  });

  it('says nothing more when its function has ended, whatever it still does', async () => {
    let late: RunVoice | undefined;
    const { result, events } = await answered((_params, voice) => {
      late = voice;
      voice.say('In time.');
      return Promise.resolve({ usage: { outputTokens: 2 } });
    });
    late?.say('Too late.');
    late?.call({ callId: 'c', name: 'check', input: {} });
    expect(result).toEqual({ payloads: [{ type: 'text', text: 'In time.' }], usage: { outputTokens: 2 } });
    expect(events.at(-1)).toMatchObject({ stream: 'lifecycle', data: { phase: 'end', usage: { outputTokens: 2 } } });
  });
});
