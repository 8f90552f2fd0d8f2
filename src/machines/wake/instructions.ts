/** What every model is told about the runtime, after the instructions of its agent. */
import type { SessionState } from '../session/session-state.ts';
import { MAX_LEARNINGS_PER_DIRECTIVE, MAX_QUEUED_WAKES_PER_DIRECTIVE, MAX_WAKE_DELAY_SECONDS } from './directive.ts';

const ABOUT_DIRECTIVES = `You run inside a durable session. When your turn is over the session sleeps until a message comes or a wake is due.
To say what comes next, end your last message with one block like this:

\`\`\`wakechart-directive
{ "outcome": "sleep", "summary": "What was done, in one sentence.",
  "queuedWakes": [{ "reason": "check the build", "delaySeconds": 600 }] }
\`\`\`

"outcome" is "sleep", or "continue" to go on at once. At most ${MAX_QUEUED_WAKES_PER_DIRECTIVE} queuedWakes of up to ${MAX_WAKE_DELAY_SECONDS} seconds each, and at most
${MAX_LEARNINGS_PER_DIRECTIVE} "learnings" { "kind": "lesson" | "correction" | "error", "title", "detail" }. Without a block the session simply sleeps.`;

interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/**
 * The system text of a run. @param memory what the agent has learned before: the same throughout a wake, so that
 * providers can keep what they have read
 */
export function instructionsFor(
  agentInstructions: string,
  outcome?: SessionState['outcome'],
  memory = '',
  leftOutTools: readonly LeftOut[] = [],
): string {
  return [agentInstructions.trim(), memory.trim(), aboutLeftOut(leftOutTools), aboutOutcome(outcome), ABOUT_DIRECTIVES]
    .filter((part) => part !== '')
    .join('\n\n');
}

function aboutLeftOut(tools: readonly LeftOut[]): string {
  return tools.length === 0
    ? ''
    : ['You do not have all your tools:', ...tools.map(({ name, reason }) => `- ${name}: ${reason}`)].join('\n');
}

function aboutOutcome(outcome: SessionState['outcome']): string {
  if (outcome === undefined) return '';
  const criteria = (outcome.criteria ?? []).map((criterion) => `- ${criterion}`);
  return [
    `The session is to achieve: ${outcome.title}`,
    ...(outcome.detail === undefined ? [] : [outcome.detail]),
    ...criteria,
  ].join('\n');
}
