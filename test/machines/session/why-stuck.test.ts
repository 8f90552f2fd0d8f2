/** What a session that is stuck says first: what to mend, and by which command. */
import { describe, expect, it } from 'vitest';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import type { Reason } from '../../../src/machines/session/why-reason.ts';
import { explain } from '../../../src/machines/session/why.ts';
import type { ExplainOptions } from '../../../src/machines/session/why.ts';
import {
  START_MS,
  created,
  message,
  parked,
  resting,
  running,
  spanStarted,
  stateAfter,
  wakeEnded,
  wakeStarted,
} from '../../support/session-events.ts';

const awake = [created, message('Go.'), wakeStarted(1), running];
const firstReason = (drafts: readonly SessionEventDraft[], options: ExplainOptions = {}): Reason | undefined =>
  explain(stateAfter(...drafts), START_MS, options).reasons[0];
const commands = (reason: Reason | undefined): readonly string[] =>
  reason?.movers.map(({ command }) => command?.join(' ') ?? '') ?? [];

const refused = (hint: string): SessionEventDraft => ({
  type: 'wake.ended',
  data: {
    wakeId: 'wake_1',
    outcome: 'failed',
    summary: 'no',
    modelSteps: 0,
    completedWakeIds: [],
    error: { code: 'RUN_FAILED', category: 'provider', message: 'the model step failed (auth): no such key.', hint },
    retryAt: new Date(START_MS + 60_000).toISOString(),
  },
});
const RESET = 'Check the key, then forget what is held against it (wakechart auth reset --all) and wake it again.';

describe('a session that is stuck', () => {
  it('says first what its last wake failed of, and by which command it is asked again', () => {
    const reason = firstReason([...awake, refused(RESET), resting, parked]);
    expect(reason?.text).toBe(
      'It is parked and does not wake by itself: the model step failed (auth): no such key. too many',
    );
    expect(commands(reason)[0]).toBe('auth reset --all');
    expect(commands(firstReason([...awake, refused(RESET), resting]))[0]).toBe('auth reset --all');
  });

  it('is not led there by an error that no reset helps', () => {
    expect(commands(firstReason([...awake, refused('Wait a little.'), resting, parked]))).not.toContain(
      'auth reset --all',
    );
  });

  it('says first that a budget has to be raised, where that has parked it', () => {
    const reason = firstReason([...awake, wakeEnded('wake_1', 'budget_reached'), resting, parked], {
      budget: { name: 'maxTokensPerSession', value: 5 },
    });
    expect(reason?.movers[0]?.does).toBe("raises budget.maxTokensPerSession in the agent's file");
  });

  it('says that no model can be asked yet, and why', () => {
    const skipped = [
      { candidate: { provider: 'lab', model: 'm' }, because: 'lab/m cools down until noon (auth: no such key)' },
    ];
    const reason = firstReason([...awake, spanStarted('s')], { modelWait: { skipped } });
    expect(reason?.text).toMatch(/by test: no model can be asked yet: lab\/m cools down until noon \(auth: no such key\);/);
    expect(commands(reason)[0]).toBe('auth reset --all');
    expect(firstReason(awake, { modelWait: { skipped } })?.text).not.toContain('no model');
  });

  it('says that the wake before was lost', () => {
    expect(firstReason([...awake, wakeEnded('wake_1', 'lost'), wakeStarted(2), running])?.text).toMatch(
      /The wake before it was lost: its process died, or was suspended for longer than its lease\.$/,
    );
  });
});
