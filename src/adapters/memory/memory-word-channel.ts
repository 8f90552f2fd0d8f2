/** Words between runtimes of one process, for tests. */
import type { OnWord, Speak, WordChannel, WordLink } from '../../actors/words/word-channel.ts';

interface Following {
  readonly sessionId: string;
  readonly onWord: OnWord;
  /** Those who tell it something, and what ends that: they do, or the follower does. */
  readonly told: Map<Member, (by: 'speaker' | 'follower') => void>;
}

interface Member {
  readonly speak: Speak;
  readonly followed: Set<Following>;
}

export class MemoryWordChannel implements WordChannel {
  readonly #members = new Set<Member>();

  join(speak: Speak): WordLink {
    const member: Member = { speak, followed: new Set() };
    for (const other of this.#members) for (const following of other.followed) tell(member, following);
    this.#members.add(member);
    return {
      follow: (sessionId, onWord) => {
        const following: Following = { sessionId, onWord, told: new Map() };
        member.followed.add(following);
        for (const other of this.#members) if (other !== member) tell(other, following);
        return () => {
          member.followed.delete(following);
          for (const end of following.told.values()) end('follower');
          following.told.clear();
        };
      },
      close: async () => this.#leave(member),
    };
  }

  #leave(member: Member): void {
    this.#members.delete(member);
    for (const { told } of member.followed) for (const end of told.values()) end('follower');
    for (const { followed } of this.#members)
      for (const { told } of followed) {
        told.get(member)?.('speaker');
        told.delete(member);
      }
  }
}

function tell(member: Member, { sessionId, onWord, told }: Following): void {
  let isOpen = false;
  const leave = member.speak(sessionId, (word) => {
    isOpen = word.type === 'progress' ? isOpen : word.type === 'said';
    onWord(word);
  });
  told.set(member, (by) => {
    leave();
    if (isOpen && by === 'speaker') onWord({ type: 'taken_back' });
  });
}
