import { describe, expect, it } from 'vitest';
import { checkDraft } from '../../../src/machines/session/session-event.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { acceptCompaction, planCompaction } from '../../../src/machines/turn/compaction.ts';
import type { CompactionPlan } from '../../../src/machines/turn/compaction.ts';
import { estimateMessages } from '../../../src/machines/turn/conversation-costs.ts';
import { estimateTokens } from '../../../src/machines/turn/token-estimate.ts';
import { TranscriptBuilder } from '../../../src/machines/turn/transcript.ts';
import {
  answered,
  asked,
  consumed,
  eventAt,
  idOf,
  logOf,
  message,
  said,
  spanStarted,
} from '../../support/session-events.ts';

/**
 * So many questions with their answers, the first one with a call, and a message that is not read yet: an exchange too.
 */
function builderOf(exchanges: number, rest: readonly SessionEventDraft[] = [message('unread')]): TranscriptBuilder {
  const drafts: SessionEventDraft[] = [];
  for (let index = 0; index < exchanges; index += 1) {
    drafts.push(message(`question ${index}`));
    const id = idOf(drafts.length);
    drafts.push(
      spanStarted(`s${index}`),
      consumed([id], `s${index}`),
      said(`answer ${index} ${'and so on '.repeat(30)}`, `s${index}`),
    );
    if (index === 0) drafts.push(asked('c', 's0'), answered('c', 'o'.repeat(20_000)));
  }
  const builder = new TranscriptBuilder();
  for (const event of logOf(...drafts, ...rest)) builder.ingest(event);
  return builder;
}

function planned(
  builder: TranscriptBuilder,
  { keepExchanges = 2, maxTokens = 10_000 } = {},
): Extract<CompactionPlan, { kind: 'planned' }> {
  const plan = planCompaction({ rows: builder.rows(), maxTokens, keepExchanges });
  if (plan.kind !== 'planned') throw new Error(plan.because);
  return plan;
}

describe('a compaction', () => {
  it('replaces exactly the messages of its plan and leaves the others as they were', () => {
    const builder = builderOf(5);
    const before = builder.messages();
    const plan = planned(builder);
    const verdict = acceptCompaction({
      throughSeq: plan.throughSeq,
      before: plan.tokens,
      summary: 'Four were answered.',
    });
    if (verdict.kind !== 'accepted') throw new Error(verdict.because);
    builder.ingest(
      eventAt(builder.head + 1, {
        type: 'context.compacted',
        data: checkDraft({ type: 'context.compacted', data: verdict.data }).data as typeof verdict.data,
      }),
    );
    const after = builder.messages();
    const [first, ...others] = before.slice(plan.messages);
    expect(after.slice(1)).toEqual(others);
    expect(after[0]?.content.slice(1)).toEqual(first?.content);
    expect(JSON.stringify(after[0])).toContain('Four were answered.');
    expect(estimateMessages(after)).toBeLessThanOrEqual(
      estimateMessages(before) - plan.tokens + verdict.data.tokensAfter,
    );
    expect(verdict.data).toMatchObject({ tokensBefore: plan.tokens, throughSeq: plan.throughSeq });
  });

  it('gives the model that summarizes the words of that part, with long outputs cut', () => {
    const { text, messages } = planned(builderOf(5));
    expect(messages).toBe(3 + 2 * 3);
    expect(text).toContain('User: question 0');
    expect(text).toContain('Assistant calls shell_run (c): {}');
    expect(text).toMatch(/Result of shell_run \(c, completed\): o+\n\[… \d+ characters left out …\]\no+/u);
    expect(text).not.toContain('question 4');
    expect(estimateTokens(planned(builderOf(5), { maxTokens: 200 }).text)).toBeLessThanOrEqual(200);
  });

  it('keeps the newest exchanges, one at least, and what no step has seen', () => {
    expect(planned(builderOf(5), { keepExchanges: 4 }).messages).toBe(3 + 2 * 1);
    expect(planned(builderOf(5), { keepExchanges: 0 }).messages).toBeLessThan(builderOf(5).messages().length);
    const unseen = builderOf(3, [asked('d', 's2'), answered('d', 'unseen'), spanStarted('failed'), message('more')]);
    expect(planned(unseen, { keepExchanges: 1 }).text).not.toContain('unseen');
  });

  it('has nothing to do when nothing old is settled, or only a summary is', () => {
    expect(planCompaction({ rows: builderOf(1).rows(), maxTokens: 1_000, keepExchanges: 2 })).toMatchObject({
      kind: 'nothing',
    });
    expect(planCompaction({ rows: [], maxTokens: 1_000, keepExchanges: 2 })).toMatchObject({ kind: 'nothing' });
    expect(planCompaction({ rows: builderOf(5).rows(), maxTokens: 1, keepExchanges: 2 })).toMatchObject({
      kind: 'nothing',
    });
  });

  it('can be made again, and then summarizes the summary', () => {
    const builder = builderOf(5);
    builder.ingest(
      eventAt(builder.head + 1, {
        type: 'context.compacted',
        data: {
          throughSeq: planned(builder, { keepExchanges: 4 }).throughSeq,
          summary: 'The first one.',
          tokensBefore: 2,
          tokensAfter: 1,
        },
      }),
    );
    expect(planned(builder).text).toContain('The first one.');
  });

  it.each([
    ['a blank one', ' \n'],
    ['one that does not shrink', 'word '.repeat(80)],
  ])('is refused with %s', (_, summary) => {
    expect(acceptCompaction({ throughSeq: 3, before: 100, summary })).toMatchObject({
      kind: 'refused',
      because: expect.stringMatching(/blank|in place of 100; at most 70/u) as string,
    });
  });
});
