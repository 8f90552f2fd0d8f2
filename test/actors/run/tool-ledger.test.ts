import { describe, expect, it } from 'vitest';
import { MAX_INPUT_CHARACTERS, ToolLedger } from '../../../src/actors/run/tool-ledger.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import type { AgentRunEventBody } from '../../../src/machines/run/run-output.ts';

function ledger(): { readonly tools: ToolLedger; readonly told: unknown[] } {
  const told: unknown[] = [];
  const redaction = new SecretRedaction(new Map([['KEY', 'battery-horse']]));
  const emit = ({ data }: AgentRunEventBody): void => void told.push(Object.values(data).join(' '));
  return { told, tools: new ToolLedger({ redaction, emit, onRequest: () => void told.push('(before)') }) };
}

const request = (
  callId: string,
  input: unknown = 'x',
): { readonly callId: string; readonly name: string; readonly input: unknown } => ({ callId, name: 'check', input });

describe('a tool that a program runs itself', () => {
  it('is told in order and once each, however often the program tells it', () => {
    const { tools, told } = ledger();
    for (let time = 0; time < 2; time += 1) tools.requested(request('a'));
    for (let time = 0; time < 2; time += 1) tools.started('a');
    for (let time = 0; time < 2; time += 1) tools.ended({ callId: 'a', outcome: 'completed', output: 'done' });
    tools.requested(request('a'));
    expect(told).toEqual(['(before)', 'requested a check x', 'started a', 'ended a completed done']);
    expect([tools.count, tools.isKnown('a'), tools.isOpen('a')]).toEqual([1, true, false]);
  });

  it('has started when it has an outcome of its own', () => {
    const { tools, told } = ledger();
    tools.requested(request('a'));
    tools.ended({ callId: 'a', outcome: 'failed', output: undefined });
    expect(told.slice(1)).toEqual(['requested a check x', 'started a', 'ended a failed ']);
  });

  it('that was not permitted did not fail: it was denied, unless it ran nevertheless', () => {
    const { tools, told } = ledger();
    for (const callId of ['a', 'b']) tools.requested(request(callId));
    for (const callId of ['a', 'b', 'unknown']) tools.denied(callId);
    tools.started('b');
    for (const callId of ['a', 'b']) tools.ended({ callId, outcome: 'failed', output: 'no' });
    expect(told.slice(4)).toEqual(['started b', 'ended a denied no', 'ended b failed no']);
  });

  it('that nobody requested is not told', () => {
    const { tools, told } = ledger();
    tools.started('a');
    tools.ended({ callId: 'a', outcome: 'completed', output: 'done' });
    expect(told).toEqual([]);
  });

  it('ends with its program', () => {
    const { tools, told } = ledger();
    for (const callId of ['a', 'b', 'c']) tools.requested(request(callId));
    tools.denied('b');
    tools.ended({ callId: 'c', outcome: 'completed', output: '' });
    for (let time = 0; time < 2; time += 1) tools.endAll(false);
    expect(told.slice(-2)).toEqual([
      expect.stringMatching(/^ended a unknown The program that ran this has ended/),
      expect.stringMatching(/^ended b denied /),
    ]);
  });

  it('was cut short where the run was stopped', () => {
    const { tools, told } = ledger();
    tools.requested(request('a'));
    tools.endAll(true);
    expect(told.at(-1)).toBe('ended a cancelled The run was stopped.');
  });

  it('is told without secrets, and at no greater length than is kept', () => {
    const { tools, told } = ledger();
    tools.requested(request('a', `battery-horse ${'y'.repeat(MAX_INPUT_CHARACTERS * 2)}`));
    tools.ended({ callId: 'a', outcome: 'completed', output: 'the key is battery-horse' });
    expect(told[1]).toMatch(/^requested a check \[redacted KEY\] y+\n\[… \d+ characters left out …\]\ny+$/);
    expect(String(told[1]).length).toBeLessThan(MAX_INPUT_CHARACTERS + 200);
    expect(told.at(-1)).toBe('ended a completed the key is [redacted KEY]');
  });
});
