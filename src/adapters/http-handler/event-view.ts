/**
 * What a caller reads of a log: what was said and done, whole. Where the server runs it, and what went wrong there, is
 * for those who run the service: others read that something failed, and its code. The one place that decides it.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { jobEndingWithoutError } from '../../machines/subagent/job-ending.ts';
import { WAKE_FAILED } from '../../machines/wake/wake-commit.ts';
import type { OutcomeEvidence } from '../../machines/session/improvement-events.ts';
import type { Access } from './access.ts';
import { tellingOf } from './told-fields.ts';
import type { Telling } from './told-fields.ts';

export type Viewer = Pick<Access, 'seesAll' | 'homes'>;
export type Place = Pick<SessionState, 'sessionId' | 'workspace'>;

/** Texts about what went wrong name files, variables and commands of the server. */
export const COULD_NOT_GO_ON = 'The agent could not go on. Those who run this server can see why.';

type ShownEvent = Omit<SessionEvent, 'data'> & { readonly data: object };

export function eventFor(event: SessionEvent, place: Place, viewer: Viewer): ShownEvent {
  if (viewer.seesAll) return event;
  const data = Object.entries(event.data).flatMap(([key, value]: [string, unknown]) => {
    const telling = tellingOf(event.type, key, event.data);
    return telling === 'untold' ? [] : [[key, mapped(SHOWN[telling](value), { place, viewer }, key)]];
  });
  return { ...event, data: Object.fromEntries(data) as object };
}

const SHOWN: Readonly<Record<Exclude<Telling, 'untold'>, (value: unknown) => unknown>> = {
  told: (value) => value,
  failure: (value) => hidden(value),
  choice: (value) => without(value, ['profile', 'because']),
  evidence: (value) =>
    (value as readonly OutcomeEvidence[]).map((each) =>
      each.speaks === 'neither' || each.kind === 'status' ? without(each, ['text']) : each,
    ),
};

/** With the folders of sessions as `.` and the home as `<home>`: where they lie is for those who run the service. */
export function told<Value>(said: Value, place: Place, viewer: Viewer): Value {
  return viewer.seesAll ? said : (mapped(said, { place, viewer }) as Value);
}

/** Names of kinds and candidates stay; sentences do not. */
const SENTENCES: ReadonlySet<string> = new Set(['message', 'because']);
const ADVICE: ReadonlySet<string> = new Set(['hint', 'profile']);

/** However deep they stand. */
function without(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, names));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, part]) => [name, without(part, names)]));
}

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

function withoutFailure(text: string): string {
  if (text.startsWith(WAKE_FAILED)) return COULD_NOT_GO_ON;
  const ending = jobEndingWithoutError(text);
  return ending === undefined ? text : `${ending}: ${COULD_NOT_GO_ON}`;
}

interface Folders {
  readonly place: Place;
  readonly viewer: Viewer;
}

/** The same with other texts in it. */
function mapped(value: unknown, folders: Folders, key = ''): unknown {
  if (typeof value === 'string') {
    const text = withoutFolders(ENDINGS.has(key) ? withoutFailure(value) : value, folders.place);
    return folders.viewer.homes.reduce(withoutHome, text);
  }
  if (Array.isArray(value)) return value.map((each) => mapped(each, folders));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, mapped(part, folders, name)]));
}

/** What goes on behind it is a longer name. Before it may stand the `n` of a line break that JSON in a text has. */
const NAME_BEFORE = /(?<!\\)[\w.~-]$/;
const NAME_BEHIND = /^[\w-]/;

/** Worktrees, outputs and memory lie in it, beside the folders of sessions. */
function withoutHome(text: string, home: string): string {
  return text.replaceAll(home, (path, at: number) =>
    NAME_BEFORE.test(text.slice(Math.max(0, at - 2), at)) || NAME_BEHIND.test(text.charAt(at + path.length))
      ? path
      : '<home>',
  );
}

/** What ends a path in a text. */
const EDGE = /[\s"'`]/;
const PATH_BEFORE = /(?:[A-Za-z]:)?[/\\].*$/;
const PATH_BEHIND = /^(?:[/\\]workspace)?(?![\w-])/;
/** Of a path before the id; one step for each character, whatever the text is. */
const MAX_PATH_CHARACTERS = 4_096;
const SESSION_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
/** As every store lays the folders of sessions out. */
const IN_SESSIONS = /[/\\]sessions[/\\]$/;
const WEB_ADDRESS = /^[(<[]?https?:[/\\]/i;

/** Also folders of other sessions: a fork tells what its source saw, and a parent what its child did. */
function withoutFolders(text: string, { sessionId, workspace }: Place): string {
  let shown = '';
  let taken = 0;
  for (const { 0: id, index: at } of text.matchAll(SESSION_ID)) {
    const isFolder = id === sessionId ? /[/\\]/.test(text.charAt(at - 1)) : IN_SESSIONS.test(text.slice(at - 10, at));
    const behind = PATH_BEHIND.exec(text.slice(at + id.length, at + id.length + 12));
    if (!isFolder || behind === null) continue;
    let begin = at;
    const first = Math.max(taken, at - MAX_PATH_CHARACTERS);
    while (begin > first && !EDGE.test(text.charAt(begin - 1))) begin -= 1;
    const before = text.slice(begin, at);
    const path = PATH_BEFORE.exec(before)?.[0];
    if (path === undefined || WEB_ADDRESS.test(before)) continue;
    shown += `${text.slice(taken, at - path.length)}.`;
    taken = at + id.length + behind[0].length;
  }
  shown += text.slice(taken);
  return workspace === undefined ? shown : shown.replaceAll(workspace, '.');
}
