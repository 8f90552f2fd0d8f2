/**
 * What is told of each event in a chat: as in a transcript, but tool calls and thoughts are folded to a line, messages
 * go on where their words stopped, and what is asked is left to the prompt.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { toolEnding } from '../session/event-text.ts';
import type { SessionTranscript } from '../session/transcript.ts';
import { TRANSCRIPT_LINES } from '../session/transcript-lines.ts';
import type { TranscriptTable } from '../session/transcript-view.ts';
import type { Folds } from './folds.ts';
import { Markdown } from './markdown.ts';
import type { Speech } from './speech.ts';

export interface ChatLinesOptions {
  readonly sessionId: string;
  readonly folds: Folds;
  readonly speech: Speech;
}

export interface ChatLines {
  readonly table: TranscriptTable;
  /** Lines of the message that is being said. */
  readonly words: (session: SessionTranscript, text: string) => readonly string[];
}

export function chatLines({ sessionId, folds, speech }: ChatLinesOptions): ChatLines {
  let markdown = new Markdown();
  /** Of this session; children are told of when they have said it all. */
  const isOurs = (event: SessionEvent): boolean => event.sessionId === sessionId;
  return {
    words: (session, text) => session.tells('agent', (width, styles) => markdown.lines(text, width, styles)),
    table: {
      ...TRANSCRIPT_LINES,
      'agent.message': (session, event) => {
        const text = event.data.partial === true ? `${event.data.text} …` : event.data.text;
        const { rest, isOther } = isOurs(event) ? speech.told(text) : { rest: text.trim(), isOther: false };
        const goesOn = isOurs(event) ? markdown : new Markdown();
        if (isOurs(event)) markdown = new Markdown();
        if (rest === '') return [];
        return [
          ...(isOther ? session.remarks('wakechart', '↻', 'what stands above was said otherwise in the end:') : []),
          ...session.tells('agent', (width, styles) => (isOther ? new Markdown() : goesOn).lines(rest, width, styles)),
        ];
      },
      'agent.thinking': (session, event) => {
        if (isOurs(event)) speech.thought();
        const { styles } = session.options;
        const number = folds.add({ sessionId: event.sessionId, seqs: [event.seq] });
        return session.notes('agent', styles.dim('∴'), `thought: ${event.data.text}`, `[${number}]`);
      },
      'agent.tool_use': (session, { seq, sessionId: at, data: { callId, name, input }, at: begunAt }) => {
        folds.begins(callId, { sessionId: at, seq });
        session.begins(callId, { name, input, at: begunAt });
        return [];
      },
      'agent.tool_result': (session, { seq, sessionId: inSession, at, data }) => {
        const { text: ending, isGood } = toolEnding(data);
        const number = folds.ends(data.callId, { sessionId: inSession, seq });
        return session.folds(data.callId, { name: data.name, ending, isGood, at }, `[${number}]`);
      },
      'agent.subflow_started': (session, { data: { callId, childSessionId, agentId } }) => {
        session.delegates(callId, childSessionId);
        return session.notes('agent', '↳', `the agent ${agentId} works on it`);
      },
      'agent.question_asked': () => [],
      'permission.requested': (session, { data }) => {
        session.waits(data.callId);
        return [];
      },
      'wake.ended': (session, event) => {
        if (isOurs(event)) {
          speech.end();
          markdown = new Markdown();
        }
        // What it asks stands there, and goes on when it is answered.
        return event.data.outcome === 'requires_action' ? [] : TRANSCRIPT_LINES['wake.ended'](session, event);
      },
      // It is the same at each wake; `/status` says it.
      'environment.entered': () => [],
    },
  };
}
