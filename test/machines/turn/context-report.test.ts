import { describe, expect, it } from 'vitest';
import { contextReport, describeContext, tokensForMessages } from '../../../src/machines/turn/context-report.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { estimateMessages } from '../../../src/machines/turn/conversation-costs.ts';
import { IMAGE_TOKENS } from '../../../src/machines/turn/token-estimate.ts';

const tools = [{ name: 'read', description: 'Reads a file.', inputSchema: { type: 'object' } }];
const messages: ProviderMessage[] = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Summary.', summarizesThroughSeq: 12 },
      { type: 'file', mediaType: 'image/png', name: 'a', path: 'a', bytes: 9, sha256: 'a' },
    ],
  },
];
const parts = { instructions: 'Be brief.', tools, messages, maxTokens: 10_000, reservedForOutput: 2_000 };

describe('the report of a context', () => {
  it('adds up', () => {
    const report = contextReport(parts);
    expect(report).toMatchObject({
      maxTokens: 10_000,
      attachments: IMAGE_TOKENS,
      reserved: 2_000,
      omittedMessages: 0,
      shortenedMessages: 0,
      compactedThroughSeq: 12,
    });
    expect(report.messages + report.attachments).toBe(estimateMessages(messages));
    expect(report.total).toBe(
      report.instructions + report.tools + report.messages + report.attachments + report.reserved,
    );
    expect(report.free).toBe(10_000 - report.total);
    expect(tokensForMessages(parts) - estimateMessages(messages)).toBe(report.free);
  });

  it('says in words what is spent on what', () => {
    expect(
      describeContext({
        maxTokens: 200_000,
        instructions: 1_000,
        tools: 2_000,
        messages: 3_456_789,
        attachments: 0,
        reserved: 8_000,
        total: 20_000,
        free: 180_000,
        omittedMessages: 12,
        shortenedMessages: 1_000,
        compactedThroughSeq: 300,
      }),
    ).toBe(
      'About 20,000 of 200,000 tokens (10 %): instructions 1,000, tools 2,000, messages 3,456,789, attachments 0, kept for the answer 8,000; 180,000 free. 12 earlier messages are left out. 1,000 messages are shortened. A summary stands for everything up to event 300.',
    );
  });

  it('says by how much it is too large', () => {
    const report = contextReport({ ...parts, maxTokens: 1_000, omittedMessages: 1, shortenedMessages: 1 });
    expect(report.free).toBe(0);
    expect(describeContext(report)).toContain(
      `${(report.total - 1_000).toLocaleString('en-US')} too many. One earlier message is left out. One message is shortened.`,
    );
    expect(tokensForMessages({ ...parts, maxTokens: 10 })).toBe(0);
    expect(describeContext(contextReport({ ...parts, maxTokens: 0 }))).toContain('of 0 tokens: ');
  });
});
