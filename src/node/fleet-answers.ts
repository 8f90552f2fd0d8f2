/** What a runtime answers to inspectors of other programs about the sessions that it wakes. */
import { join } from 'node:path';
import { farAnswer } from '../actors/inspection/far-processes.ts';
import type { FleetQuestion } from '../actors/inspection/fleet.ts';
import { learnedSecrets } from '../actors/inspection/learned-secrets.ts';
import { createRuntimeSource } from '../actors/inspection/runtime-source.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import { createTaskOutputs } from '../adapters/shell/log-tail.ts';
import type { Runtime } from '../runtime.ts';
import { TASK_LOGS_FOLDER } from './tasks.ts';

export type FleetAnswerer = (question: FleetQuestion) => Promise<string>;

/** As an inspector of its own would show them, without the secrets of its vaults. */
export async function fleetAnswers({
  sessions,
  inspection,
  onProblem: report,
}: Pick<Runtime, 'sessions' | 'inspection'> & { readonly onProblem: OnListenerError }): Promise<FleetAnswerer> {
  const { systems, clock, redact, processTree, home, owner, hasEnded } = inspection;
  const onProblem = (error: unknown): void => report(error, 'listener');
  await learnedSecrets(inspection, onProblem);
  const source = createRuntimeSource({
    ...{ title: 'answers', sessions, clock, redact, processTree, owner, hasEnded, onProblem },
    tasks: systems.map(({ tasks }) => tasks),
    outputs: home === undefined ? undefined : createTaskOutputs(join(home, TASK_LOGS_FOLDER)),
  });
  return (question) => farAnswer(source, question);
}
