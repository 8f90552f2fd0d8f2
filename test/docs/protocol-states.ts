/** The table of docs/protocols.md: what runs decides what it says, and a state without a row does not compile. */
import { A2A_STATE } from '../../src/adapters/a2a/a2a-states.ts';
import { ACP_STOP } from '../../src/adapters/acp-agent/acp-states.ts';
import { MCP_STATUS } from '../../src/adapters/mcp-server/mcp-states.ts';
import { PHASE_AFTER, PHASE_IN } from '../../src/machines/protocol/turn-phase.ts';
import type { SessionPlace, TurnPhase, WakeEnding } from '../../src/machines/protocol/turn-phase.ts';
import { sessionLifecycle } from '../../src/machines/session/session-machine.ts';

const [BEGIN, END] = ['<!-- states -->', '<!-- /states -->'];

/** In what each differs from the words of the protocols. */
const IN_STATE: Readonly<Record<SessionPlace, string>> = {
  'idle.resting': 'The turn has not begun. MCP and ACP have no word for that.',
  'idle.requires_action':
    'ACP asks during the prompt and has no state for it; a question ends the prompt. While only a child is waited for, the turn works.',
  running: 'None.',
  rescheduling:
    'The wake has ended, and another one that is queued goes on: nothing runs in between. None has a word for it.',
  terminated: 'Over for ever, by a client. Theirs end single tasks and no session.',
};

const AFTER_WAKE: Readonly<Record<WakeEnding, string>> = {
  sleep: 'Queued wakes may follow: what the session does by itself later belongs to no task.',
  requires_action: 'Only where what it asked was taken back at once; else it asks.',
  rescheduled: 'Only where the wake that was to go on was refused.',
  budget_reached:
    'MCP and A2A have no word for a bound; a message goes on. In ACP a bound of tokens is `max_tokens`, any other `max_turn_requests`.',
  failed:
    'It is tried again by itself, up to four times; then the session is parked, and the turn is `failed`, in ACP an error. ACP tells each failure as text.',
  interrupted:
    'A message that was not read survives an interruption: a cancelled turn is interrupted until it has ended.',
  aborted: 'The process stopped it, and another wake goes on. None has a word for it.',
  terminated: 'As for `terminated`.',
  lost: 'The process died, and another wake goes on. None has a word for it.',
};

export function withProtocolStates(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return `${before}${BEGIN}\n${table()}\n${END}${after}`;
}

function table(): string {
  const places = sessionLifecycle.snapshots.map(({ value }) =>
    typeof value === 'string' ? value : Object.entries(value).flat().join('.'),
  );
  // The keys of a table of all of them, by construction of its type.
  const endings = Object.keys(PHASE_AFTER) as WakeEnding[];
  return [
    '| our session | the turn is | MCP task | ACP prompt | A2A task | what differs |',
    '|---|---|---|---|---|---|',
    ...places.map((place) => row(`\`${place}\``, PHASE_IN[place as SessionPlace], IN_STATE[place as SessionPlace])),
    ...endings.map((ending) => row(`rests after \`${ending}\``, PHASE_AFTER[ending], AFTER_WAKE[ending])),
    row('parked', 'failed', 'A client has to do something: a message goes on, as a new task.'),
  ].join('\n');
}

function row(name: string, phase: TurnPhase, differs: string): string {
  const acp = ACP_STOP[phase] === 'running' ? '(runs)' : `\`${ACP_STOP[phase]}\``;
  const cells = [name, `\`${phase}\``, `\`${MCP_STATUS[phase]}\``, acp, `\`${A2A_STATE[phase]}\``, differs];
  return `| ${cells.join(' | ')} |`;
}
