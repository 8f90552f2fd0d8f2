/** What a conversation is made of, whatever protocol shows it. */
import type { Waiting } from './waiting.ts';

export type SpeechKind = 'text' | 'reasoning';

export type TurnPart =
  | { readonly type: 'speech-started' | 'speech-ended'; readonly kind: SpeechKind; readonly id: string }
  | { readonly type: 'speech'; readonly kind: SpeechKind; readonly id: string; readonly text: string }
  /** All that was told of this step does not count; what does is told again. */
  | { readonly type: 'step-taken-back' }
  /** Messages of people are read by the agent: what follows answers the last of them. */
  | { readonly type: 'read'; readonly eventIds: readonly string[] }
  | { readonly type: 'step-started' | 'step-ended' }
  /** `runs`: who does. A call that turns out to be the client's is told again. */
  | {
      readonly type: 'call';
      readonly callId: string;
      readonly name: string;
      readonly input: unknown;
      readonly runs: 'agent' | 'client';
    }
  | {
      readonly type: 'permission-asked';
      readonly requestId: string;
      readonly callId: string;
      readonly toolName: string;
      readonly because: string;
    }
  | {
      readonly type: 'permission-given';
      readonly requestId: string;
      readonly callId: string;
      readonly allowed: boolean;
      readonly note?: string | undefined;
    }
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly outcome: 'completed' | 'failed' | 'denied' | 'cancelled' | 'unknown';
      readonly output: unknown;
    }
  /** It failed, and is tried again. */
  | { readonly type: 'retrying'; readonly because: string; readonly retryAt: string }
  /** No worker takes it. */
  | ({ readonly type: 'waiting' } & Waiting)
  | { readonly type: 'progress'; readonly callId: string; readonly message: string };
