/**
 * A home whose agent works towards an outcome that a check decides, and learns on the way; and what must hold of it,
 * whoever was killed.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionEvent, SessionEventOf, SessionEventType } from '../../../src/machines/session/session-event.ts';
import type { NodeRuntime } from '../../../src/node.ts';

export const LEARNER = 'learner';

/**
 * What people have written around the section that Wakechart keeps: with line ends of two kinds, a byte that is no
 * UTF-8, and no end of its last line.
 */
const [BEFORE, AFTER] = ['# Mine\r\n\r\nKeep  this: \xff\t\r\n<!-- ours -->\r\n', '\r\n\r\nAnd this, \xe9 \r\n- too'];
const SECTION = /<!-- wakechart:memory begin -->[^]*<!-- wakechart:memory end -->/;
const EMPTY_SECTION = '<!-- wakechart:memory begin -->\r\n<!-- wakechart:memory end -->';

/** How sessions that begin with these words learn: each something of its own, and all of them one thing. */
const wordsOf = (session: number): string => `Session number ${session}.`;
export const lessonOf = (session: number): string => `Lesson of session ${session}`;
export const SHARED_LESSON = 'What all of them learn';

/** Does the work, and says what it has learned. */
function stepsOf(session: number): object[] {
  const learning = (title: string): object => ({
    kind: 'lesson',
    title,
    detail: `Detail of "${title}".`,
    promoteToMemory: true,
  });
  return [
    { toolCalls: [{ name: 'shell_run', input: { command: 'echo done > result.txt' } }] },
    {
      text: 'Done.',
      directive: {
        outcome: 'sleep',
        summary: 'Did it.',
        learnings: [learning(lessonOf(session)), learning(SHARED_LESSON)],
      },
    },
  ];
}

/** Writes the agent. */
export async function writeLearner(
  home: string,
  { sessions = 1 }: { readonly sessions?: number | undefined } = {},
): Promise<void> {
  const folder = join(home, 'agents', LEARNER);
  await mkdir(join(folder, 'substrate'), { recursive: true, mode: 0o700 });
  const conversations = Array.from({ length: sessions }, (_, index) => ({
    firstUserMessageIncludes: wordsOf(index),
    steps: stepsOf(index),
  }));
  await writeFile(
    join(folder, 'play.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps: [], conversations }),
  );
  await writeFile(
    join(folder, 'agent.md'),
    `---\nname: Learner\nprovider: script\nmodel: play.json\npermission: preapproved\n---\n\nWork.\n`,
  );
  await writeFile(join(folder, 'substrate', 'MEMORY.md'), `${BEFORE}${EMPTY_SECTION}${AFTER}`, {
    encoding: 'latin1',
    mode: 0o600,
  });
}

/** A session that is to work. */
export async function startSession(runtime: NodeRuntime, session: number): Promise<string> {
  const { sessionId } = await runtime.sessions.create({ agentId: LEARNER });
  await runtime.sessions.send(sessionId, {
    type: 'user.define_outcome',
    title: 'The result is there.',
    check: { command: 'test -s result.txt' },
  });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: wordsOf(session) });
  return sessionId;
}

export async function logOf(
  runtime: Pick<NodeRuntime, 'sessions'>,
  sessionId: string,
): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  return events;
}

export function ofType<Type extends SessionEventType>(
  events: readonly SessionEvent[],
  type: Type,
): readonly SessionEventOf<Type>[] {
  // The compiler does not see through the union that the filter leaves exactly these.
  return events.filter((event) => event.type === type) as unknown as readonly SessionEventOf<Type>[];
}

/** Of one session that has come to rest. @returns what is wrong, in words */
export async function complaintsAbout(runtime: NodeRuntime, home: string, sessionId: string): Promise<string[]> {
  const events = await logOf(runtime, sessionId);
  const [captured, kept, promoted, refused, evaluated] = [
    ofType(events, 'learning.captured'),
    ofType(events, 'learning.kept'),
    ofType(events, 'memory.promoted'),
    ofType(events, 'promotion.refused'),
    ofType(events, 'outcome.evaluated'),
  ];
  const learnings = await runtime.learnings.list(LEARNER);
  const { entries } = await runtime.memory.read(LEARNER);
  const wrong: string[] = [];
  for (const {
    data: { learningId, title },
  } of captured) {
    const keptAs = kept.filter(({ data }) => data.learningId === learningId);
    if (keptAs.length !== 1) wrong.push(`"${title}" is kept ${keptAs.length} times in the log`);
    const known = learnings.filter((learning) => learning.title === title);
    if (known.length !== 1) wrong.push(`"${title}" is among the learnings ${known.length} times`);
    const inMemory = entries.filter((entry) => entry.title === title);
    const passed = promoted.filter(({ data }) =>
      known.some((learning) => data.learningIds.includes(learning.learningId)),
    );
    if (passed.length > 1) wrong.push(`"${title}" was promoted ${passed.length} times`);
    if (passed.length === 1 && inMemory.length !== 1)
      wrong.push(`"${title}" was promoted, and the memory has it ${inMemory.length} times`);
    // What another session has learned before is that one's to promote.
    const isOwn = keptAs.some(({ data }) => data.as === 'new');
    if (isOwn && passed.length === 0 && !refused.some(({ data }) => data.because !== ''))
      wrong.push(`"${title}" was neither promoted nor refused with a reason`);
  }
  for (const { seq } of promoted) {
    const last = evaluated.findLast((event) => event.seq < seq);
    if (last?.data.verdict !== 'pass')
      wrong.push(`something was promoted at ${seq} though the last evaluation says ${last?.data.verdict ?? 'nothing'}`);
  }
  return [...wrong, ...(await sharedComplaints(runtime, home))];
}

/** Of what all sessions have. */
async function sharedComplaints(runtime: NodeRuntime, home: string): Promise<string[]> {
  const { sharedFiles } = runtime;
  const wrong: string[] = [];
  const { entries, problem } = await runtime.memory.read(LEARNER);
  if (problem !== undefined) wrong.push(problem);
  if (new Set(entries.map(({ learningId }) => learningId)).size !== entries.length)
    wrong.push('the memory has an entry twice');
  const file = await readFile(join(home, 'agents', LEARNER, 'substrate', 'MEMORY.md'), 'latin1');
  if (file.replace(SECTION, '') !== BEFORE + AFTER)
    wrong.push(`what people have written has changed: ${JSON.stringify(file)}`);
  const kept = await sharedFiles.read(LEARNER, 'MEMORY.md');
  if (kept === undefined || Buffer.from(kept).toString('latin1') !== file)
    wrong.push('the newest version of MEMORY.md is not what lies in the folder');
  const versions = (await sharedFiles.versions(LEARNER, { limit: 200 })).map(({ version }) => version);
  const head = (await sharedFiles.head(LEARNER)).version;
  if (versions.join() !== Array.from({ length: head }, (_, index) => head - index).join())
    wrong.push(`the versions are ${versions.join()} of ${head}`);
  for (const { version, by } of await sharedFiles.versions(LEARNER, { limit: 200 })) {
    if (by.kind !== 'session') continue;
    const evaluation = (await logOf(runtime, by.sessionId)).find(({ seq }) => seq === by.evaluationSeq);
    if (evaluation?.type !== 'outcome.evaluated' || evaluation.data.verdict !== 'pass')
      wrong.push(`version ${version} was made without an evaluation that passed`);
  }
  const { damagedLines } = await runtime.learnings.examine(LEARNER);
  // A line that a dying process has torn stays, alone; what it held was kept anew.
  if (damagedLines > 1) wrong.push(`${damagedLines} lines of learnings are damaged`);
  return wrong;
}
