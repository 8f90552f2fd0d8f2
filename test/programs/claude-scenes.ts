/** Conversations of Claude Code that are recorded: the same code plays them with the program and with the recording. */
import { says, use, uses } from '../support/http-models/conversation.ts';
import type { ClaudeStageOptions } from './claude-stage.ts';
import { openClaude } from './claude-stage.ts';
import type { Stage } from './stage.ts';
import { storyOf } from './story.ts';

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
];

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
