/**
 * The processes of a session as the program that wakes it sees them, on whatever machine: it is asked through the store,
 * and ends one as if it had been ended there.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { readToldProcesses } from '../../machines/inspection-log/told-processes.ts';
import type { ToldProcesses } from '../../machines/inspection-log/told-processes.ts';
import type { FleetQuestion, FleetQuestions } from './fleet.ts';
import type { InspectedText } from './inspected-text.ts';
import type { FarProcesses, InspectedProcess, InspectionSource } from './inspection-source.ts';

/** Of a session on another machine, with what each puts out. */
const MAX_TOLD = 200;
const MAX_TEXT_CHARACTERS = 3_000;
const MAX_OWNER_CHARACTERS = 300;

const written = (told: ToldProcesses): string => JSON.stringify(told);

/** What a program says that is asked. */
export async function farAnswer(
  source: Pick<InspectionSource, 'processes' | 'endProcess'>,
  { sessionId, pid }: FleetQuestion,
): Promise<string> {
  try {
    if (pid !== undefined) await source.endProcess?.(sessionId, pid);
    const processes = (await source.processes(sessionId)).slice(0, MAX_TOLD);
    return written({ processes: processes.map(({ output, ...each }) => ({ ...each, output: output?.slice() })) });
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    const { code, category, message, hint = '' } = error;
    return written({ refused: { code, category, message, hint } });
  }
}

/** Undefined: no program wakes it. @throws what the store throws */
export async function farProcesses(
  sessionId: string,
  questions: FleetQuestions,
  shown: InspectedText,
): Promise<FarProcesses | undefined> {
  const answer = await questions.ask({ sessionId });
  if (answer === undefined) return undefined;
  const owner = shown.cut(answer.owner, MAX_OWNER_CHARACTERS);
  if (answer.is !== 'told') return { owner, is: answer.is, processes: [] };
  const told = readToldProcesses(answer.answer);
  if (told === undefined || 'refused' in told) return { owner, is: 'silent', processes: [] };
  return { owner, is: 'told', processes: told.processes.map((process) => redacted(process, shown)) };
}

/** @throws RuntimeError where it was not ended, or that is unknown */
export async function endFarProcess(question: Required<FleetQuestion>, questions: FleetQuestions): Promise<void> {
  const answer = await questions.ask(question);
  const told = answer?.is === 'told' ? readToldProcesses(answer.answer) : undefined;
  if (told !== undefined && !('refused' in told)) return;
  if (told !== undefined) {
    const { code, message, ...rest } = told.refused;
    throw new RuntimeError(code, message, rest);
  }
  if (answer === undefined || answer.is === 'dead')
    throw new RuntimeError(
      'INSPECTION_PROCESS_GONE',
      `no program that lives wakes this session on the machine of process ${question.pid} any more`,
      { category: 'not_found', hint: 'What it left there is ended when a worker starts there again over its home.' },
    );
  throw new RuntimeError('INSPECTION_WORKER_SILENT', `${answer.owner} has not said whether it ended ${question.pid}`, {
    category: 'conflict',
    hint: 'See whether it still runs. A worker behind a pooler of transactions hears no questions: use the commands there.',
  });
}

/** Its program took out the secrets that it knows; others may be known here. */
function redacted(process: InspectedProcess, shown: InspectedText): InspectedProcess {
  const { title, output, taskId, commandLine } = process;
  return {
    ...process,
    title: shown.cut(title, MAX_TEXT_CHARACTERS),
    ...(output === undefined ? {} : { output: shown.cut(output.join('\n'), MAX_TEXT_CHARACTERS).split('\n') }),
    ...(taskId === undefined ? {} : { taskId: shown.cut(taskId, MAX_TEXT_CHARACTERS) }),
    ...(commandLine === undefined ? {} : { commandLine: shown.cut(commandLine, MAX_TEXT_CHARACTERS) }),
  };
}
