/** The words of the sessions of one process: what is kept of them, for how long, and who hears them. */
import { describe, expect, it } from 'vitest';
import { LiveWords } from '../../../src/actors/words/live-words.ts';
import type { LiveStep } from '../../../src/actors/words/live-words.ts';
import type { SessionWord } from '../../../src/machines/words/session-word.ts';
import type { OnWord } from '../../../src/actors/words/word-channel.ts';

const event = { runId: 'r', seq: 1, ts: '' };

function say(step: LiveStep, text: string): void {
  step.hear({ ...event, stream: 'assistant', data: { kind: 'text', text } });
}

function fail(step: LiveStep): void {
  const data = { phase: 'started', attempt: 2, candidate: { provider: 'p', model: 'm' }, because: '' } as const;
  step.hear({ ...event, stream: 'attempt', data });
}

function follower(live: LiveWords, of: 'here' | 'everywhere' = 'everywhere') {
  const words: SessionWord[] = [];
  return { words, leave: live.follow('s', (word) => words.push(word), of) };
}

describe('the words of a step', () => {
  it('are kept while it goes on, for those who join in the middle of it', () => {
    const live = new LiveWords();
    const step = live.step('s', () => 7);
    say(step, 'Once ');
    say(step, 'upon');
    expect(live.of('s')).toMatchObject({ parts: [{ kind: 'text', text: 'Once upon' }], isTorn: false });
    step.end();
    expect(live.of('s')).toBeUndefined();
  });

  it('are kept when it is over as long as the session is followed, and say from where the log tells them', () => {
    const live = new LiveWords();
    const { words, leave } = follower(live);
    const step = live.step('s', () => 7);
    say(step, 'whole');
    step.end();
    expect(live.of('s')).toMatchObject({ parts: [{ text: 'whole' }], loggedAfter: 7 });
    expect(words).toEqual([
      { type: 'said', kind: 'text', text: 'whole' },
      { type: 'logged', after: 7 },
    ]);
    leave();
    leave();
    expect(live.of('s')).toBeUndefined();
  });

  it('count for nothing when the attempt has failed that said them', () => {
    const live = new LiveWords();
    const { words } = follower(live);
    const step = live.step('s', () => 7);
    fail(step);
    say(step, 'half');
    fail(step);
    expect(live.of('s')?.parts).toEqual([]);
    say(step, 'whole');
    expect(words.map(({ type }) => type)).toEqual(['said', 'taken_back', 'said']);
    expect(live.of('s')?.parts).toEqual([{ kind: 'text', text: 'whole' }]);
  });

  it('are bounded, also of a thousand steps at once, of which none is forgotten in the middle', () => {
    const live = new LiveWords();
    for (let count = 0; count < 1_000; count += 1) {
      const step = live.step(`s${count}`, () => 0);
      say(step, 'begun');
    }
    const { words } = follower(live);
    const step = live.step('s', () => 0);
    for (let count = 0; count < 200; count += 1) say(step, 'x'.repeat(1_000));
    expect(words).toHaveLength(200);
    expect(live.of('s')?.isTorn).toBe(true);
    expect(live.of('s')?.parts[0]?.text.length).toBeLessThanOrEqual(64_000);
    expect(live.of('s0')?.parts).toEqual([{ kind: 'text', text: 'begun' }]);
  });
});

describe('how far a call has come', () => {
  it('is told and kept while the session is followed, until the next step', () => {
    const live = new LiveWords();
    const call = { callId: 'c', name: 'tool' };
    live.progress('s', call, { done: 1, total: 3 });
    expect(live.of('s')).toBeUndefined();
    const { words } = follower(live);
    live.progress('s', call, { done: 2, total: 3 });
    expect(live.of('s')).toMatchObject({ calls: [{ callId: 'c', progress: { done: 2 } }] });
    expect(words).toMatchObject([{ type: 'progress', name: 'tool', progress: { done: 2, total: 3 } }]);
    say(
      live.step('s', () => 0),
      'x',
    );
    expect(live.of('s')?.calls).toEqual([]);
  });
});

describe('words of other processes', () => {
  function linked() {
    const speakers: OnWord[] = [];
    let left = 0;
    const live = new LiveWords({
      follow: (_sessionId, onWord) => {
        speakers.push(onWord);
        return () => (left += 1);
      },
    });
    return { live, speakers, left: () => left };
  }

  it('are asked for once, while the session is followed, and heard as our own are', () => {
    const { live, speakers, left } = linked();
    const first = follower(live);
    const second = follower(live);
    expect(speakers).toHaveLength(1);
    speakers[0]?.({ type: 'said', kind: 'text', text: 'from afar' });
    expect(first.words).toEqual([{ type: 'said', kind: 'text', text: 'from afar' }]);
    expect(second.words).toEqual(first.words);
    first.leave();
    expect(left()).toBe(0);
    second.leave();
    expect(left()).toBe(1);
    expect(live.of('s')).toBeUndefined();
  });

  it('are not handed on to those who follow what is said here', () => {
    const { live, speakers } = linked();
    const { words } = follower(live, 'here');
    expect(speakers).toHaveLength(0);
    follower(live);
    speakers[0]?.({ type: 'said', kind: 'text', text: 'from afar' });
    expect(words).toEqual([]);
    expect(live.of('s', 'here')).toBeUndefined();
    expect(live.of('s')?.parts).toHaveLength(1);
  });

  it('are forgotten where some are lost', () => {
    const { live, speakers } = linked();
    const { words } = follower(live);
    speakers[0]?.({ type: 'said', kind: 'text', text: 'half' });
    speakers[0]?.({ type: 'lost' });
    expect(live.of('s')).toMatchObject({ parts: [], isTorn: true });
    expect(words.at(-1)).toEqual({ type: 'lost' });
  });
});
