/** Who can move a session on, by which event, and with which command. */
import type { SessionEventType } from './session-event.ts';
import type { Lack } from './lack.ts';
import type { PendingAction } from './session-state.ts';

export interface Mover {
  /**
   * `person`: the user of the command line or the library. `runtime`: the process of the wake that runs. `time`: it
   * moves on by itself.
   */
  readonly who: 'person' | 'worker' | 'child' | 'time' | 'runtime';
  /** The events that move the session on. None where it is something outside of its log. */
  readonly events: readonly SessionEventType[];
  /** What it does, as the end of a sentence that begins with who does it. */
  readonly does: string;
  /** The words after `wakechart`; capitals stand for what has to be filled in. */
  readonly command?: readonly string[] | undefined;
  /** The words of a command of another program, on the machine where the session works. */
  readonly program?: readonly string[] | undefined;
}

interface MovingMessage {
  readonly delivery?: 'steer';
  /** Default: it stands for what has to be filled in. */
  readonly text?: string;
}

export function messageMover(sessionId: string, { delivery, text = 'TEXT' }: MovingMessage = {}): Mover {
  const how = delivery === undefined ? [] : ['--delivery', delivery];
  return {
    who: 'person',
    events: ['user.message'],
    does: 'sends a message',
    command: ['session', 'send', '--session', sessionId, '--message', text, ...how],
  };
}

export function wakeMover(sessionId: string): Mover {
  return { who: 'person', events: ['wake.started'], does: 'wakes it', command: ['wake', '--session', sessionId] };
}

export function workerMover(): Mover {
  return { who: 'worker', events: ['wake.started'], does: 'wakes it as soon as one runs', command: ['worker'] };
}

/** Who wakes a session: no help where they lack what it needs. */
export function isWaker({ command }: Mover): boolean {
  return command?.[0] === 'worker' || command?.[0] === 'wake';
}

/** Of a session that needs what is in no home and in no code that is known. */
export function lackMovers({ what, id }: Lack): readonly Mover[] {
  const place = what === 'agent' ? `its folder agents/${id}` : `its file environments/${id}.yaml`;
  return [
    { who: 'person', events: [], does: `gives the ${what} back: ${place}, into the home` },
    {
      who: 'person',
      events: ['wake.started'],
      does: `starts a worker that is given the code in which the ${what} is defined`,
      command: ['worker', '--config', 'FILE'],
    },
  ];
}

/** As errors name it too. */
export const RESET_COMMAND = ['auth', 'reset', '--all'] as const;

/** Of models that rest: what failed before is asked again at once. */
export function resetMover(): Mover {
  return {
    who: 'person',
    events: [],
    does: 'puts right what the model or its provider refuses, then lets it be asked again',
    command: RESET_COMMAND,
  };
}

/** @param at ISO-8601 */
export function timeMover(at: string, does: string, event: SessionEventType): Mover {
  return { who: 'time', events: [event], does: `${does} at ${at}` };
}

/** What lets a session go on that holds everything else back. */
export function restMovers(sessionId: string): readonly Mover[] {
  return [
    {
      who: 'person',
      events: ['user.interrupt'],
      does: 'takes back what it waits for',
      command: ['session', 'interrupt', '--session', sessionId],
    },
  ];
}

export interface AskedOfPerson {
  readonly sessionId: string;
  readonly requestId: string;
  readonly kind: PendingAction['kind'];
  readonly hasRules: boolean;
}

export function givenMovers({ sessionId, requestId, kind, hasRules }: AskedOfPerson): readonly Mover[] {
  const about = (command: string, ...words: readonly string[]): readonly string[] => [
    'session',
    command,
    '--session',
    sessionId,
    '--request',
    requestId,
    ...words,
  ];
  switch (kind) {
    case 'permission': {
      const confirms = (does: string, ...words: readonly string[]): Mover => ({
        who: 'person',
        events: ['user.tool_confirmation'],
        does,
        command: about('confirm-tool', ...words),
      });
      const lasting = hasRules
        ? [
            confirms('allows it, and whatever its rules allow, in this session', '--allow', '--scope', 'session'),
            confirms(
              'allows it, and whatever its rules allow, in every session of its agent',
              '--allow',
              '--scope',
              'always',
            ),
          ]
        : [];
      return [confirms('allows it this once', '--allow'), ...lasting, confirms('denies it', '--deny')];
    }
    case 'answer':
      return [{ who: 'person', events: ['user.answer'], does: 'answers', command: about('answer', '--text', 'TEXT') }];
    case 'custom_tool':
      return [
        {
          who: 'person',
          events: ['user.custom_tool_result'],
          does: 'gives the result',
          command: about('custom-tool-result', '--output', 'JSON'),
        },
      ];
  }
}
