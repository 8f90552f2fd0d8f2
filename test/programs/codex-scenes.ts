/** Conversations of Codex that are recorded: the same code plays them with the program and with the recording. */
import { says, use } from '../support/http-models/conversation.ts';
import type { Scene } from './claude-scenes.ts';
import { openCodex, patches } from './codex-stage.ts';
import { storyOf } from './story.ts';

export const CODEX_SCENES: readonly Pick<Scene, 'name' | 'play'>[] = [
  {
    name: 'allowed',
    async play(stage) {
      stage.conversation().script(use('exec_command', { cmd: 'echo made > made.txt' }), says('Made.'), says('Again.'));
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
      stage.conversation().script(patches('*** Add File: made.txt\n+made'), says('It may not be made.'));
      const id = await stage.session('Make it.');
      const waking = stage.wake(id);
      await stage.confirm(id, { allowed: false, note: 'Not today.' }, 'file_change');
      await waking;
      return id;
    },
  },
];

export async function playCodexScene(
  { name, play }: Pick<Scene, 'name' | 'play'>,
  { isReplayed }: { readonly isReplayed: boolean },
): Promise<void> {
  await using stage = await openCodex({ recording: { name, isReplayed, trim } });
  const id = await play(stage);
  await stage.concludes(storyOf(await stage.log(id)));
}

/** What it tells of a thread is long, and only its id is read; what it tells of the machine is not read. */
function trim(message: Readonly<Record<string, unknown>>): unknown {
  const { method, result } = message;
  if (method === 'remoteControl/status/changed') return { method, params: {} };
  if (typeof result !== 'object' || result === null) return message;
  if ('userAgent' in result) return { ...message, result: {} };
  if (!('thread' in result)) return message;
  const { id } = result.thread as { readonly id: string };
  return { ...message, result: { thread: { id } } };
}
