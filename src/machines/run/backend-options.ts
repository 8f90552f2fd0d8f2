/** What a backend of a program is made with, and what it says of its own accord. */
import * as z from 'zod';
import { parseOrThrow } from '../validate.ts';
import { directive } from '../wake/directive.ts';
import type { DirectiveInput } from '../wake/directive.ts';

const work = z.custom<unknown>((value) => typeof value === 'function', 'expected a function');

const backendOptions = z.strictObject({
  id: z.string().min(1),
  answer: work,
  clock: z.looseObject({}).optional(),
  onListenerError: work.optional(),
});

/** @throws RuntimeError AGENT_RUNTIME_INVALID */
export function checkBackendOptions(options: unknown): void {
  parseOrThrow(backendOptions, options, {
    what: 'a backend',
    code: 'AGENT_RUNTIME_INVALID',
    hint: 'Give createAgentRuntime an id and an answer: async (params, voice) => { voice.say(…); }.',
  });
}

/** @throws RuntimeError DIRECTIVE_INVALID */
export function checkDirective(given: DirectiveInput): void {
  parseOrThrow(directive, given, {
    what: 'the directive',
    code: 'DIRECTIVE_INVALID',
    hint: 'It needs outcome and summary. Pass what a model said to voice.relay instead: what is wrong with that is recorded.',
  });
}
