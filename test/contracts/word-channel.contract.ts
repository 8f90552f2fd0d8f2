/** What carries words between processes, whatever it is made of: each adapter runs these cases against itself. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventStore, WakeRight } from '../../src/actors/session/event-store.ts';
import { LiveWords } from '../../src/actors/words/live-words.ts';
import type { LiveStep } from '../../src/actors/words/live-words.ts';
import { tellWords } from '../../src/actors/words/told-words.ts';
import type { Speak, WordChannel, WordLink } from '../../src/actors/words/word-channel.ts';
import { IDENTITY, SESSION_ID, creation, idOf } from '../../src/testing/session-fixtures.ts';
import type { SessionWord } from '../../src/machines/words/session-word.ts';
import { newEvent, wakeStarted } from '../support/session-events.ts';

/** What a process has of the store. */
export interface WordProcess {
  readonly store: Pick<EventStore, 'create' | 'append' | 'acquireWakeRight'>;
  readonly words: WordChannel;
}

export interface WordChannelsUnderTest {
  readonly one: WordProcess;
  readonly other: WordProcess;
  dispose(): Promise<void>;
}

const OTHER_SESSION = idOf(900);
/** A process whose wakes say what a test says. */
class Speaker {
  readonly live = new LiveWords();
  readonly link: WordLink;
  following = 0;

  constructor(words: WordChannel) {
    const speak: Speak = (sessionId, onWord) => {
      this.following += 1;
      const leave = tellWords({ live: this.live, sessionId, redact: undefined, of: 'here' }, onWord);
      return () => {
        this.following -= 1;
        leave();
      };
    };
    this.link = words.join(speak);
  }

  step(sessionId = SESSION_ID): LiveStep & { say(text: string): void } {
    const step = this.live.step(sessionId, () => 7);
    const say = (text: string): void =>
      step.hear({ stream: 'assistant', data: { kind: 'text', text }, runId: 'r', seq: 1, ts: '' });
    return { ...step, say };
  }
}

function textOf(words: readonly SessionWord[]): string {
  return words.map((word) => (word.type === 'said' ? word.text : `<${word.type}>`)).join('');
}

export function describeWordChannel(name: string, open: () => Promise<WordChannelsUnderTest>): void {
  describe(`${name}, as what carries words between processes`, () => {
    let under: WordChannelsUnderTest;
    let speaker: Speaker;
    let follower: Speaker;
    let rights: WakeRight[];

    beforeEach(async () => {
      under = await open();
      rights = [];
      for (const sessionId of [SESSION_ID, OTHER_SESSION])
        await under.one.store.create({ ...IDENTITY, sessionId }, creation(sessionId === SESSION_ID ? 1 : 11));
      speaker = new Speaker(under.one.words);
      follower = new Speaker(under.other.words);
    });
    afterEach(async () => {
      for (const right of rights) await right.release();
      await speaker.link.close();
      await follower.link.close();
      await under.dispose();
    });

    async function wake(epoch = 1, sessionId = SESSION_ID): Promise<WakeRight> {
      const right = await under.one.store.acquireWakeRight(sessionId, { epoch: epoch - 1, isOpen: false });
      rights.push(right);
      await under.one.store.append(sessionId, [newEvent(100 + epoch, wakeStarted(right.epoch), right.epoch)]);
      return right;
    }

    function follow(from = follower, sessionId = SESSION_ID) {
      const words: SessionWord[] = [];
      const leave = from.link.follow(sessionId, (word) => words.push(word));
      return { words, leave };
    }

    it('brings what is said to one who follows already, in order, with all that is told beside it', async () => {
      const { words } = follow();
      await wake();
      const step = speaker.step();
      await expect.poll(() => speaker.following).toBe(1);
      for (let count = 0; count < 100; count += 1) step.say(`${count} `);
      step.end();
      const progress = { message: 'half “of” it', done: 1, total: 2 };
      speaker.live.progress(SESSION_ID, { callId: 'c', name: 'tool' }, progress);
      await expect.poll(() => words.at(-1)?.type).toBe('progress');
      expect(words.slice(-2)).toEqual([
        { type: 'logged', after: 7 },
        { type: 'progress', callId: 'c', name: 'tool', progress },
      ]);
      expect(textOf(words.slice(0, -2))).toBe(Array.from({ length: 100 }, (_, count) => `${count} `).join(''));
    });

    it('brings what was said of the step so far to one who joins in the middle of it', async () => {
      await wake();
      const step = speaker.step();
      step.say('Once ');
      const { words } = follow();
      await expect.poll(() => textOf(words)).toBe('Once ');
      step.say('upon');
      step.hear({
        stream: 'attempt',
        data: { phase: 'started', attempt: 2, candidate: { provider: 'p', model: 'm' }, because: '' },
        runId: 'r',
        seq: 1,
        ts: '',
      });
      step.say('Twice');
      await expect.poll(() => textOf(words)).toBe('Once upon<taken_back>Twice');
    });

    it('brings long pieces and any character whole', async () => {
      await wake();
      const { words } = follow();
      const step = speaker.step();
      await expect.poll(() => speaker.following).toBe(1);
      const text = `“ä” 🎉 \n\u0000 ${'字'.repeat(20_000)}`.replaceAll('\u0000', '\u0001');
      step.say(text);
      await expect.poll(() => textOf(words).length).toBe(text.length);
      expect(textOf(words)).toBe(text);
    });

    it('brings to each follower the session that it follows', async () => {
      await wake();
      await wake(1, OTHER_SESSION);
      const [here, there] = [follow(), follow(follower, OTHER_SESSION)];
      await expect.poll(() => speaker.following).toBe(2);
      speaker.step().say('here');
      speaker.step(OTHER_SESSION).say('there');
      await expect.poll(() => [here, there].map(({ words }) => textOf(words))).toEqual(['here', 'there']);
    });

    it('brings no process its own words', async () => {
      await wake();
      const own = follow(speaker);
      const { words } = follow();
      speaker.step().say('mine');
      await expect.poll(() => textOf(words)).toBe('mine');
      expect(own.words).toEqual([]);
    });

    it('tells no one who has left, and lets the speaker know', async () => {
      await wake();
      const { words, leave } = follow();
      const step = speaker.step();
      step.say('one');
      await expect.poll(() => textOf(words)).toBe('one');
      leave();
      leave();
      await expect.poll(() => speaker.following, { timeout: 5_000 }).toBe(0);
      step.say('two');
      const again = follow();
      await expect.poll(() => textOf(again.words)).toBe('onetwo');
      expect(textOf(words)).toBe('one');
    });

    it('takes words back where the speaker ends in the middle of them, and brings those of the next wake', async () => {
      const right = await wake();
      const { words } = follow();
      const step = speaker.step();
      step.say('half');
      await expect.poll(() => textOf(words)).toBe('half');
      await speaker.link.close();
      await right.release();
      await expect.poll(() => textOf(words)).toBe('half<taken_back>');
      speaker = new Speaker(under.one.words);
      await wake(2);
      speaker.step().say('whole');
      await expect.poll(() => textOf(words)).toBe('half<taken_back>whole');
    });
  });
}
