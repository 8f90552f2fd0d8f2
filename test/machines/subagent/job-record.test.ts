/** Records of jobs as text. */
import { describe, expect, it } from 'vitest';
import { jobRecordOf, jobRecordText } from '../../../src/machines/subagent/job-record.ts';

const record = (changes: object = {}): object => ({
  version: 1,
  jobId: 'agent_1',
  stage: 'accepted',
  acceptedAt: '2026-01-01T00:00:00.000Z',
  request: { kind: 'agent' },
  task: {
    id: 'agent_1',
    kind: 'agent',
    label: 'x',
    status: 'queued',
    mode: 'background',
    parentSessionId: 's',
    depth: 0,
    cwd: '/',
    updatedAt: '',
    unread: false,
    agentType: 'x',
  },
  ...changes,
});

describe('the record of a job', () => {
  it('comes back as it was written', () => {
    expect(jobRecordOf(JSON.parse(jobRecordText(record())))).toEqual(record());
  });

  it('keeps what JSON has no words for as what comes closest', () => {
    const metadata = { big: 12n, map: new Map([['a', 1]]), set: new Set([1]), date: new Date(0) };
    expect(JSON.parse(jobRecordText(record({ request: { metadata } })))).toMatchObject({
      request: { metadata: { big: '12', map: [['a', 1]], set: [1], date: '1970-01-01T00:00:00.000Z' } },
    });
  });

  it('says so where metadata goes round in circles, and keeps the rest', () => {
    const metadata: Record<string, unknown> = {};
    metadata['self'] = metadata;
    expect(JSON.parse(jobRecordText(record({ request: { metadata, prompt: 'Fix it.' } })))).toMatchObject({
      request: { prompt: 'Fix it.', metadata: { notPlainData: expect.any(String) } },
    });
  });

  it.each([undefined, null, 7, [], {}, record({ version: 2 }), record({ stage: 'lost' }), record({ task: {} })])(
    'is not read out of %j',
    (value) => {
      expect(jobRecordOf(value)).toBeUndefined();
    },
  );
});
