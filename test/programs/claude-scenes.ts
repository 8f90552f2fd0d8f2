/** Conversations of Claude Code that are recorded: the same code plays them with the program and with the recording. */
import { expect } from 'vitest';
import { failsWithError, says as answersRaw } from '../support/http-models/behaviors.ts';
import { says, use, uses } from '../support/http-models/conversation.ts';
import type { Behavior } from '../support/http-models/model-server.ts';
import type { ClaudeStageOptions } from './claude-stage.ts';
import { openClaude } from './claude-stage.ts';
import type { Stage } from './stage.ts';
import { storyOf } from './story.ts';

const TOO_LONG = 'prompt is too long: 250000 tokens > 200000 maximum';

export interface Scene {
  readonly name: string;
  readonly options?: ClaudeStageOptions;
  /** @returns the session whose log tells how it went */
  readonly play: (stage: Stage) => Promise<string>;
}

export const CLAUDE_SCENES: readonly Scene[] = [
  {
    name: 'allowed',
    async play(stage) {
      stage
        .conversation()
        .script(
          use('Bash', { command: 'echo made > made.txt', description: 'makes it' }),
          says('Made.'),
          says('Again.'),
        );
      const id = await stage.session('Make it.');
      const waking = stage.wake(id);
      await stage.confirm(id, { allowed: true });
      await waking;
      await stage.send(id, 'And again?');
      await stage.wake(id);
      return id;
    },
  },
  {
    name: 'denied',
    async play(stage) {
      stage.conversation().script(
        uses(
          [
            ['Write', { file_path: `${stage.workspace}/made.txt`, content: 'made\n' }],
            ['Bash', { command: 'touch made.txt', description: 'makes it' }],
          ],
          { text: 'I make it.' },
        ),
        says('It may not be made.'),
      );
      const id = await stage.session('Make it.');
      const waking = stage.wake(id);
      await stage.confirm(id, { allowed: false, note: 'Not today.' }, 'Write');
      await stage.confirm(id, { allowed: false }, 'Bash');
      await waking;
      return id;
    },
  },
  {
    name: 'steered',
    async play(stage) {
      const { id, waking } = await waiting(stage);
      stage.conversation().script(says('Both done.'));
      await stage.send(id, 'And this as well.', 'steer');
      await stage.put('go', '');
      await waking;
      return id;
    },
  },
  {
    name: 'interrupted',
    async play(stage) {
      const { id, waking } = await waiting(stage);
      stage.conversation().script(says('I stopped.'));
      await stage.send(id, 'Stop that.', 'interrupt');
      await waking;
      await stage.wake(id);
      return id;
    },
  },
  {
    name: 'subagent',
    async play(stage) {
      stage
        .conversation()
        .script(
          use('Agent', { description: 'makes it', prompt: 'Make the inner one.', subagent_type: 'general-purpose' }),
          use('Bash', { command: 'echo inner > inner.txt', description: 'makes' }),
          says('Inner made it.'),
          says('It is made.'),
        );
      const id = await stage.session('Make it.');
      await stage.wakeAllowing(id);
      return id;
    },
  },
  {
    name: 'spent',
    options: {
      agent: { budget: { maxCostPerWake: 1 } },
      runtime: { prices: { 'program/*': { input: 3, output: 15 } } },
    },
    async play(stage) {
      const usage = { input: 400_000, output: 1_000 };
      stage.conversation().script(use('Bash', { command: 'ls', description: 'lists' }, { usage }));
      return woken(stage);
    },
  },
  failing('refused', failsWithError(401, { type: 'authentication_error', message: 'invalid x-api-key' })),
  failing('limited', failsWithError(429, { type: 'rate_limit_error', message: 'Slow down.' }, { 'retry-after': '1' })),
  failing('full', failsWithError(400, { type: 'invalid_request_error', message: TOO_LONG })),
  failing(
    'malformed',
    answersRaw([], () => 'event: message_delta\ndata: {"type": nonsense\n\n'),
  ),
];

/** A model that always fails so, and a program that does not try again. */
function failing(name: string, behavior: Behavior): Scene {
  return {
    name,
    options: { set: { CLAUDE_CODE_MAX_RETRIES: '0' }, runtime: { runLimits: { maxBackOffs: 0 } } },
    play(stage) {
      stage.conversation().always(behavior);
      return woken(stage);
    },
  };
}

async function woken(stage: Stage): Promise<string> {
  const id = await stage.session('Go.');
  await stage.wake(id);
  return id;
}

/** A wake whose command waits for the file `go`. */
async function waiting(stage: Stage): Promise<{ readonly id: string; readonly waking: ReturnType<Stage['wake']> }> {
  stage
    .conversation()
    .script(use('Bash', { command: 'echo begun > begun; until [ -e go ]; do sleep 0.1; done', description: 'waits' }));
  const id = await stage.session('Wait.');
  const waking = stage.wake(id);
  await stage.confirm(id, { allowed: true });
  await expect.poll(async () => storyOf(await stage.log(id))).toContain('started, allowed by person');
  return { id, waking };
}

export async function playScene(
  { name, options, play }: Scene,
  { isReplayed }: { readonly isReplayed: boolean },
): Promise<void> {
  await using stage = await openClaude({ ...options, recording: { name, isReplayed, trim } });
  const id = await play(stage);
  await stage.concludes(storyOf(await stage.log(id)));
}

/** What the program tells of itself when it begins is long, and read by nobody. */
function trim(message: Readonly<Record<string, unknown>>): unknown {
  const { type, subtype } = message;
  if (type === 'control_response') {
    const { response, ...rest } = message['response'] as Record<string, unknown>;
    return { ...message, response: { ...rest, response: typeof response === 'object' ? {} : response } };
  }
  if (type !== 'system' || subtype !== 'init') return message;
  const { session_id, claude_code_version, model, permissionMode, tools } = message;
  return { type, subtype, session_id, claude_code_version, model, permissionMode, tools };
}
