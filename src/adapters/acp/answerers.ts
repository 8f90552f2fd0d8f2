/** What an agent may ask us while a turn is under way, and who answers it. */
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import { RequestRefused } from './agent-link.ts';
import type { Answerers } from './agent-link.ts';
import { readTextFile, writeTextFile } from './file-requests.ts';
import type { PermissionGate } from './permission-gate.ts';
import { answerQuestion } from './permission-questions.ts';
import type { ServedCalls } from './served-calls.ts';
import { toolCallShape } from './session-updates.ts';
import type { Terminals } from './terminals.ts';
import type { ToolCalls } from './tool-calls.ts';

export interface AnswerersOptions {
  readonly gate: PermissionGate;
  readonly calls: ToolCalls;
  readonly ledger: ToolLedger;
  readonly served: ServedCalls;
  readonly terminals: Terminals;
  /** Absolute. */
  readonly workspaceDir: string;
  /** Whether it is that of the turn that is under way. */
  readonly isOurs: (sessionId: string) => boolean;
  readonly onRequest: () => void;
  readonly onNews: (message: string) => void;
}

export function answerers(options: AnswerersOptions): Answerers {
  const { terminals, isOurs } = options;
  const ours =
    <Params extends { readonly sessionId: string }, Answer>(answer: (params: Params) => Answer) =>
    async (params: Params): Promise<Awaited<Answer>> => {
      if (!isOurs(params.sessionId))
        throw new RequestRefused(
          'invalid',
          `There is no turn under way in the session ${JSON.stringify(params.sessionId.slice(0, 200))}.`,
        );
      return await answer(params);
    };
  return {
    'session/request_permission': ours(({ toolCall, options: choices }) => {
      const reading = toolCallShape.safeParse(toolCall);
      if (!reading.success) throw new RequestRefused('invalid', 'expected a tool call with an id');
      options.onRequest();
      return answerQuestion({ toolCall: reading.data, options: choices }, options);
    }),
    'fs/read_text_file': ours((params) => readTextFile(params, options)),
    'fs/write_text_file': ours((params) => writeTextFile(params, options)),
    'terminal/create': ours((params) => terminals.create(params)),
    'terminal/output': ours(({ terminalId }) => terminals.output(terminalId)),
    'terminal/wait_for_exit': ours(({ terminalId }) => terminals.waitForExit(terminalId)),
    'terminal/kill': ours(({ terminalId }) => terminals.kill(terminalId)),
    'terminal/release': ours(({ terminalId }) => terminals.release(terminalId)),
  };
}
