/**
 * What a caller reads of a log: what was said and done, whole. Where the server runs it, and what went wrong there, is
 * for those who run the service: others read that something failed, and its code. The one place that decides it.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { WAKE_FAILED } from '../../machines/wake/wake-commit.ts';
import type { Access } from './access.ts';

export type Viewer = Pick<Access, 'seesAll'>;
export type Place = Pick<SessionState, 'sessionId' | 'workspace'>;

/** Texts about what went wrong name files, variables and commands of the server. */
export const COULD_NOT_GO_ON = 'The agent could not go on. Those who run this server can see why.';

type ShownEvent = Omit<SessionEvent, 'data'> & { readonly data: object };

export function eventFor(event: SessionEvent, place: Place, viewer: Viewer): ShownEvent {
  if (viewer.seesAll) return event;
  const { omit = [], hide = [] } = UNTOLD[event.type] ?? {};
  const data = Object.entries(event.data)
    .filter(([key]) => !omit.includes(key))
    .map(([key, value]) => [key, hide.includes(key) ? hidden(value) : mapped(value, place, key)]);
  return { ...event, data: Object.fromEntries(data) as object };
}

/** With the folder of the session as `.`: where it lies is for those who run the service. */
export function told<Value>(said: Value, place: Place, { seesAll }: Viewer): Value {
  return seesAll ? said : (mapped(said, place) as Value);
}

interface Untold {
  /** Places: folders, processes, machines. */
  readonly omit?: readonly string[];
  /** Why something failed. */
  readonly hide?: readonly string[];
}

/** By type, the fields of its data that are not what the agent said or did. */
const UNTOLD: { readonly [Type in SessionEvent['type']]?: Untold } = {
  'session.created': { omit: ['workspace'] },
  'session.parked': { hide: ['reason'] },
  'subagent.ended': { omit: ['outputPath', 'worktree'], hide: ['error'] },
  'wake.started': { omit: ['owner', 'host'] },
  'wake.ended': { hide: ['error'] },
  'span.started': { omit: ['profile'], hide: ['because', 'skipped'] },
  'run.attempt_failed': { hide: ['error', 'because'] },
  'run.candidate_selected': { hide: ['because', 'skipped'] },
  'run.waiting': { hide: ['because', 'skipped'] },
  'backend.session_bound': { omit: ['profile'], hide: ['reseeded'] },
  'span.completed': { hide: ['error'] },
  'agent.subflow_started': { omit: ['workspace'] },
  'permission.requested': { omit: ['cwd'] },
  'tool.skipped': { hide: ['reason'] },
  'workspace.restored': { omit: ['from', 'host', 'setAside'] },
  'workspace.not_copied': { hide: ['reason'] },
  'log.loss_accepted': { hide: ['what'] },
};

/** Names of kinds and candidates stay; sentences do not. */
const SENTENCES: ReadonlySet<string> = new Set(['message', 'because']);
const ADVICE: ReadonlySet<string> = new Set(['hint', 'profile']);

function hidden(value: unknown): unknown {
  if (typeof value === 'string') return COULD_NOT_GO_ON;
  if (Array.isArray(value)) return value.map(hidden);
  if (typeof value !== 'object' || value === null) return value;
  const shown = Object.entries(value).filter(([key]) => !ADVICE.has(key));
  return Object.fromEntries(
    shown.map(([key, part]) => [
      key,
      SENTENCES.has(key) ? COULD_NOT_GO_ON : typeof part === 'object' ? hidden(part) : (part as unknown),
    ]),
  );
}

/** Under these keys stands how something ended, which is why it failed where it did; what is said stands under others. */
const ENDINGS: ReadonlySet<string> = new Set(['summary', 'reason', 'output']);

/** The same with other texts in it. */
function mapped(value: unknown, place: Place, key = ''): unknown {
  if (typeof value === 'string')
    return ENDINGS.has(key) && value.startsWith(WAKE_FAILED) ? COULD_NOT_GO_ON : withoutFolder(value, place);
  if (Array.isArray(value)) return value.map((each) => mapped(each, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapped(part, place, name)]));
}

/** What ends a path in a text. */
const EDGE = /[\s"'`]/;
const PATH_BEFORE = /(?:[A-Za-z]:)?[/\\].*$/;
const PATH_BEHIND = /^(?:[/\\]workspace)?(?![\w-])/;
/** Of a path before the id; one step for each character, whatever the text is. */
const MAX_PATH_CHARACTERS = 4_096;

function withoutFolder(text: string, { sessionId, workspace }: Place): string {
  let shown = '';
  let taken = 0;
  for (let at = text.indexOf(sessionId); at !== -1; at = text.indexOf(sessionId, at + sessionId.length)) {
    const behind = PATH_BEHIND.exec(text.slice(at + sessionId.length, at + sessionId.length + 12));
    let begin = at;
    const first = Math.max(taken, at - MAX_PATH_CHARACTERS);
    while (begin > first && !EDGE.test(text.charAt(begin - 1))) begin -= 1;
    const path = PATH_BEFORE.exec(text.slice(begin, at))?.[0];
    if (behind === null || path === undefined || !/[/\\]$/.test(path)) continue;
    shown += `${text.slice(taken, at - path.length)}.`;
    taken = at + sessionId.length + behind[0].length;
  }
  shown += text.slice(taken);
  return workspace === undefined ? shown : shown.replaceAll(workspace, '.');
}
