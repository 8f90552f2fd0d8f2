/** The managed tool `ask_human` as data. */
import * as z from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

const MAX_QUESTION_CHARACTERS = 4_000;
const MAX_CHOICES = 20;

const askHumanInput = z.strictObject({
  question: z
    .string()
    .min(1)
    .max(MAX_QUESTION_CHARACTERS)
    .describe('One question, with all that is needed to answer it.'),
  choices: z
    .array(z.string().min(1).max(500))
    .max(MAX_CHOICES)
    .optional()
    .describe('Answers to choose from; any other answer may come too.'),
});

export type AskHumanInput = z.output<typeof askHumanInput>;

const ASK_HUMAN = 'ask_human';

export const askHumanDefinition: ToolDefinition<AskHumanInput> = {
  name: ASK_HUMAN,
  description:
    'Asks the person you work for. The session sleeps until the answer comes, which may take days: ask only what you cannot find out.',
  inputSchema: askHumanInput,
  outputSchema: z.string().describe('The answer, in the words of the person.'),
  ownership: 'managed',
  family: 'people',
  permissionPolicy: 'always_allow',
  effects: ['asks_people'],
  readOnly: true,
  destructive: false,
  interruptBehavior: 'cancel',
};
