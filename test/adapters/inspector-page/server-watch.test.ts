/** What time it is for the page. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { timeNow } from '../../../src/adapters/inspector-page/model/server-watch.ts';
import { about, recording } from '../../../src/adapters/inspector-page/model/view.ts';

const shown = (kind: 'log' | 'runtime', hasEnded: boolean): void => {
  const range = { first: 1, last: 1 };
  about.value = { kind, hasEnded, title: 'a run', notes: [], range } as unknown as typeof about.value;
};

describe('the time of the page', () => {
  beforeEach(() => {
    vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'hidden' }));
  });
  afterEach(() => {
    recording.value.leave();
    about.value = undefined;
    vi.unstubAllGlobals();
  });

  it('is that of the last record in a recording, whether more may be added to it or not', () => {
    recording.value.timeline.append([{ k: 'actor', s: 1, t: 5_000, a: 'x', id: 'x', status: 'active', value: 'on' }]);
    for (const hasEnded of [false, true]) {
      shown('log', hasEnded);
      expect(timeNow()).toBe(5_000);
    }
    shown('runtime', false);
    expect(timeNow()).toBeGreaterThan(1_000_000);
  });
});
