/** What is told of each event in a transcript. A new type of event does not compile until it has an entry. */
import { environmentText } from '../env/text.ts';
import { restoredText } from '../../machines/workspace-copy/copy-notes.ts';
import type { SessionEventOf, SessionEventType } from '../../machines/session/session-event.ts';
import { handoverLines, surroundings, toolCallText, toolEnding, toolOutputText } from './event-text.ts';
import { exactLine } from '../../machines/exact-text.ts';
import { inputLines, permissionLines } from '../permission/text.ts';
import type { SessionTranscript } from './transcript.ts';
import { candidateText } from '../../machines/run/candidate.ts';
import { detourText, failedAttemptText, lessToReadText } from '../model-text.ts';
import { durationText, localTime, oneLine } from '../terminal/text.ts';

export type TranscriptLines<Type extends SessionEventType> = (
  session: SessionTranscript,
  event: SessionEventOf<Type>,
) => readonly string[];

/** Of what is asked for, the first and the last. The person who answers is shown all of it. */
const REQUEST_LINES = 20;

const WAY_TO_ALL = '`session status` shows them';

const SCOPES = {
  once: '',
  session: ', and what is like it in this session',
  always: ', and what is like it from now on',
} as const;

export const TRANSCRIPT_LINES: { readonly [Type in SessionEventType]: TranscriptLines<Type> } = {
  'user.message': (session, { data: { text, attachments = [] } }) => [
    ...session.says('you', text),
    ...attachments.flatMap(({ name, mediaType, bytes }) =>
      session.notes('you', '+', `${name} (${mediaType}, ${bytes} bytes)`),
    ),
  ],
  'user.tool_confirmation': (session, { data: { toolName, allowed, note, scope = 'once' } }) =>
    session.says(
      'you',
      `${allowed ? 'Allowed' : 'Denied'}: ${toolName}${SCOPES[scope]}.${note === undefined ? '' : ` ${note}`}`,
    ),
  'user.answer': (session, { data }) => session.says('you', data.response),
  'user.custom_tool_result': (session, { data }) =>
    session.says('you', `The result of ${data.toolName}: ${oneLine(toolOutputText(data.output), 200)}`),
  'user.define_outcome': (session, { data: { title, detail, criteria = [] } }) =>
    session.says(
      'you',
      [
        `The outcome is to be: ${title}`,
        ...(detail === undefined ? [] : [detail]),
        ...criteria.map((each) => `- ${each}`),
      ].join('\n'),
    ),
  'user.interrupt': (session, { data }) =>
    session.says('you', `Interrupted${data.reason === undefined ? '' : `: ${data.reason}`}.`, 'yellow'),
  'session.child_idle': (session, { data }) =>
    session.waitsForChild(data.childSessionId)
      ? []
      : session.notes('wakechart', '↳', `child ${data.childSessionId} rests: ${data.summary}`),
  'subagent.started': (session, { data }) => [
    ...session.notes(
      'wakechart',
      '↳',
      `${data.jobId} begins: the agent ${data.agentId}${surroundings({ isolation: data.isolation })}${data.prompt === undefined ? '' : `: ${data.prompt}`}`,
    ),
    ...session.details([`in session ${data.childSessionId}`]),
  ],
  'subagent.ended': (session, { data }) => [
    ...session.notes(
      'wakechart',
      '↳',
      `${data.jobId} of ${data.agentId} ${data.status}: ${data.error?.message ?? data.summary}`,
    ),
    ...session.below(() => handoverLines(data)),
  ],
  'session.parked': (session, { data }) => session.says('wakechart', `Parked: ${data.reason}`, 'yellow'),
  'session.status_changed': (session, { data: { to, reason } }) =>
    to === 'terminated'
      ? session.says('wakechart', `Terminated${reason === undefined ? '' : `: ${reason}`}.`, 'yellow')
      : [],
  'run.attempt_failed': (session, { data }) =>
    session.remarks('wakechart', session.options.styles.yellow('✗'), failedAttemptText(data)),
  'run.candidate_selected': (session, { data }) =>
    session.remarks('wakechart', '→', `${candidateText(data.candidate)}: ${data.because}`),
  'run.waiting': (session, { data }) =>
    session.remarks('wakechart', '⏲', `waits ${durationText(data.waitMs)}: ${data.because}`),
  'run.context_reduced': (session, { data }) =>
    session.remarks('wakechart', '✂', `the model could not read as much at once: ${lessToReadText(data)}`),
  'backend.session_bound': (session, { data }) =>
    data.reseeded === undefined ? [] : session.remarks('wakechart', '↻', data.reseeded),
  'agent.thinking': (session, { data }) => session.says('agent', data.text, 'dim'),
  'agent.message': (session, { data }) => session.says('agent', data.partial === true ? `${data.text} …` : data.text),
  'agent.tool_use': (session, { data: { callId, name, input }, at }) => session.calls(callId, { name, input, at }),
  'agent.tool_result': (session, { data: { callId, name, outcome, output, kept }, at }) => {
    const { text, isGood } = toolEnding({ outcome, output });
    const shown =
      kept === undefined
        ? toolOutputText(output)
        : `${toolOutputText(output)}\nall ${kept.characters} characters: ${kept.path}`;
    return [
      ...session.ends(callId, { name, ending: text, isGood, output: shown, at }),
      ...session.below(() => handoverLines(output)),
    ];
  },
  'agent.tool_requeued': (session, { data }) =>
    session.notes('wakechart', '↻', `a call that a crash had cut off runs again, attempt ${data.attempt}`),
  'agent.subflow_started': (session, { data: { callId, childSessionId, agentId, run, isolation } }) => {
    session.delegates(callId, childSessionId);
    return session.details([
      `the agent ${agentId} works on it${surroundings({ run, isolation })}, in session ${childSessionId}`,
    ]);
  },
  'agent.question_asked': (session, { data: { requestId, question, choices = [] } }) => [
    ...session.says('agent', question, 'bold'),
    ...choices.flatMap((choice, index) => session.details([`${index + 1}. ${oneLine(choice)}`])),
    ...session.command(
      'session',
      'answer',
      '--session',
      session.options.sessionId,
      '--request',
      requestId,
      '--text',
      'TEXT',
    ),
  ],
  'agent.custom_tool_use': (session, { data: { requestId, name, input } }) => [
    ...session.notes('agent', session.options.styles.yellow('?'), `a client is to run ${exactLine(name)}:`),
    ...session.below((width, styles) =>
      inputLines(input, { styles, width, maxLines: REQUEST_LINES, wayToAll: WAY_TO_ALL }),
    ),
    ...session.command(
      'session',
      'custom-tool-result',
      '--session',
      session.options.sessionId,
      '--request',
      requestId,
      '--output',
      'JSON',
    ),
  ],
  'permission.requested': (session, { data }) => {
    session.waits(data.callId);
    return askingLines(session, data);
  },
  'permission.resolved': (session, { data: { decision } }) =>
    decision === 'expired' ? session.notes('wakechart', '✗', 'the call was not allowed in time') : [],
  'wake.queued': (session, { data }) =>
    session.notes('agent', '⏲', `wakes again at ${localTime(data.dueAt)}: ${data.reason}`),
  'wake.refused': (session, { data }) =>
    session.notes('wakechart', '✗', `a wake was not queued (${data.because}): ${data.reason}`),
  'wake.cancelled': (session, { data }) =>
    session.notes('wakechart', '✗', `a queued wake was cancelled: ${data.because}`),
  'learning.captured': (session, { data }) => session.notes('agent', '★', `learned: ${data.title}`),
  'context.compacted': (session, { data }) =>
    session.notes(
      'wakechart',
      '≡',
      `what came before is summed up: ${data.tokensBefore} tokens are ${data.tokensAfter} now`,
    ),
  'learning.kept': () => [],
  'environment.entered': (session, { data }) => session.notes('wakechart', '·', `works in ${environmentText(data)}`),
  'workspace.restored': (session, { data }) =>
    session.notes('wakechart', data.mayHaveLost ? session.options.styles.yellow('!') : '·', restoredText(data)),
  'log.loss_accepted': (session, { data }) =>
    session.notes('wakechart', session.options.styles.yellow('!'), `a part of the log is gone: ${data.what}`),
  'workspace.not_copied': (session, { data }) =>
    session.notes('wakechart', session.options.styles.yellow('!'), data.reason),
  'outcome.defined': (session, { data }) => session.notes('agent', '◎', `is to achieve: ${data.title}`),
  'outcome.graded': (session, { data }) => session.notes('wakechart', '◎', `${data.grade}: ${data.because}`),
  'outcome.evaluated': (session, { data }) =>
    session.notes('wakechart', '◎', `the outcome: ${data.verdict}: ${data.because}`),
  'memory.promoted': (session, { data }) =>
    session.notes(
      'wakechart',
      '★',
      `version ${data.version} of the memory holds ${data.learningIds.length} more learnings`,
    ),
  'files.promoted': (session, { data }) =>
    session.notes('wakechart', '★', `version ${data.version} of the agent's files: ${data.paths.join(', ')}`),
  'promotion.refused': (session, { data }) =>
    session.notes('wakechart', session.options.styles.yellow('!'), `not promoted: ${data.because}`),
  'tool.skipped': (session, { data }) =>
    session.notes('wakechart', session.options.styles.yellow('!'), `does without ${data.name}: ${data.reason}`),
  'directive.rejected': (session, { data }) =>
    session.notes(
      'wakechart',
      session.options.styles.yellow('!'),
      `what the agent said about what comes next is not understood: ${data.reason}`,
    ),
  'wake.started': (session, { at }) => {
    session.wakes(at);
    return [];
  },
  'span.started': (session, { data }) => session.detour(detourText(data)),
  'span.completed': (session, { data: { usage, outcome, error } }) => {
    session.steps(usage);
    return outcome === 'failed'
      ? session.says('wakechart', `The model step failed${error === undefined ? '' : `: ${error.message}`}`, 'yellow')
      : [];
  },
  'wake.ended': (session, { at, data: { outcome, summary } }) => [
    ...(outcome === 'budget_reached' || outcome === 'lost' ? session.says('wakechart', summary, 'yellow') : []),
    ...session.rests(at),
  ],
  // Bookkeeping: it shows in what comes of it.
  'session.created': () => [],
  'session.status_idle': () => [],
  'session.unparked': () => [],
  'session.child_created': () => [],
  'session.parent_told': () => [],
  'message.consumed': () => [],
  'agent.tool_started': () => [],
  'request.cancelled': () => [],
  'directive.accepted': () => [],
  'event.unrecognized': () => [],
};

function askingLines(session: SessionTranscript, data: SessionEventOf<'permission.requested'>['data']): string[] {
  const { styles, sessionId, agentId, commandFor } = session.options;
  const { requestId, toolName, input } = data;
  // A person who is asked at once is shown all of it then.
  if (commandFor === undefined)
    return session.notes('agent', styles.yellow('?'), `asks for permission to run ${toolCallText(toolName, input)}`);
  const answer = ['session', 'confirm-tool', '--session', sessionId, '--request', requestId] as const;
  return [
    ...session.notes('agent', styles.yellow('?'), `asks for permission to run ${exactLine(toolName)}:`),
    ...session.below((width) =>
      permissionLines(data, { styles, agentId, width, maxLines: REQUEST_LINES, wayToAll: WAY_TO_ALL }),
    ),
    ...session.command(...answer, '--allow'),
    ...session.command(...answer, '--deny'),
  ];
}
