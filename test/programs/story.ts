/** What the log of a session says, in short, one line each: the same for every run of the same conversation. */
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { toolStory } from '../support/backend-setup.ts';

const MAX_OUTPUT = 60;

export function storyOf(log: readonly SessionEvent[]): string[] {
  return log.flatMap((event) => {
    const { type, data } = event;
    if (type === 'user.message') return [`told: ${data.text}`];
    if (type === 'user.interrupt') return ['interrupted'];
    if (type === 'agent.tool_result') return [`${data.name} ${data.outcome}: ${beginning(textOf(data.output))}`];
    if (type === 'run.attempt_failed') return [`failed: ${data.error.kind}, so ${data.next}`];
    if (type === 'span.completed') return data.error === undefined ? [] : [`step failed: ${data.error.kind}`];
    if (type === 'backend.session_bound') return [`session ${data.generation}`];
    return type === 'wake.ended' ? [`wake: ${data.outcome}`] : toolStory([event]);
  });
}

/** The calls alone: each with its permission and its result. */
export function callsOf(log: readonly SessionEvent[]): string[] {
  return toolStory(log).filter((line) => !line.startsWith('says '));
}

const textOf = (output: unknown): string => (typeof output === 'string' ? output : JSON.stringify(output));

function beginning(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > MAX_OUTPUT ? `${line.slice(0, MAX_OUTPUT)}…` : line;
}
