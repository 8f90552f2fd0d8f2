/**
 * `ask_human`: puts a question to a person. The call stays open, and the session at rest, until the answer comes.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { askHumanDefinition } from '../../machines/turn/ask-human.ts';
import type { AskHumanInput } from '../../machines/turn/ask-human.ts';
import type { Tool } from './tool.ts';

export function createAskHumanTool(): Tool<AskHumanInput> {
  return {
    definition: askHumanDefinition,
    question: (input) => input,
    run() {
      throw new RuntimeError('TOOL_NOT_RUNNABLE', 'a question is answered by a person, it does not run', {
        category: 'crash',
      });
    },
  };
}
