/** Conversations of agents that speak ACP that are recorded: the same code plays them with the program and without it. */
import { says, uses } from '../support/http-models/conversation.ts';
import { ACP_KINDS, openAcp, played, told } from './acp-stage.ts';
import type { AcpProgram } from './acp-stage.ts';
import type { Stage } from './stage.ts';

interface AcpScene {
  readonly name: string;
  /** @returns the session whose log tells how it went */
  readonly play: (stage: Stage, program: AcpProgram) => Promise<string>;
}

export const ACP_SCENES: readonly AcpScene[] = [
  {
    name: 'allowed',
    async play(stage, program) {
      const { command, edit } = ACP_KINDS[program];
      await stage.put('old.txt', 'alpha\nbeta\n');
      played(stage, program).script(
        uses([command('echo made > made.txt; cat made.txt')], { text: 'I work.' }),
        uses([ACP_KINDS[program].read(`${stage.workspace}/old.txt`)]),
        uses([edit(`${stage.workspace}/old.txt`, 'beta', 'gamma')]),
        says('All is done.'),
      );
      const id = await stage.session('Work.');
      const waking = stage.wake(id);
      await stage.confirm(id, { allowed: true });
      await stage.confirm(id, { allowed: true });
      await waking;
      return id;
    },
  },
  {
    name: 'denied',
    async play(stage, program) {
      played(stage, program)
        .script(uses([ACP_KINDS[program].command('touch made.txt')]))
        .always(says('So be it.'));
      const id = await stage.session('Make it.');
      const waking = stage.wake(id);
      await stage.confirm(id, { allowed: false, note: 'Not today.' });
      await waking;
      return id;
    },
  },
];

export async function playAcpScene(
  program: AcpProgram,
  { name, play }: AcpScene,
  { isReplayed }: { readonly isReplayed: boolean },
): Promise<void> {
  await using stage = await openAcp(program, { recording: { name, isReplayed, trim } });
  const id = await play(stage, program);
  await stage.concludes(await told(stage, id));
}

/** What the commands of a program are is long, and nothing that we read. */
function trim(message: Readonly<Record<string, unknown>>): unknown {
  const { params } = message;
  const update = isObject(params) ? params['update'] : undefined;
  if (!isObject(update) || !('availableCommands' in update)) return message;
  return { ...message, params: { ...(params as object), update: { ...update, availableCommands: [] } } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
