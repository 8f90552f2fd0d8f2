/** `wakechart task cancel`: stops a task of whichever process, and waits until nothing of it runs. */
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { toldWhile } from '../terminal/progress.ts';
import { endedText } from './logs.ts';
import { hasEnded, processesText, taskNamed, withTasks } from './tasks.ts';

export function cancelTask(
  context: CommandContext,
  {
    id: typed,
    reason = 'a person cancelled it: wakechart task cancel',
  }: {
    readonly id: string;
    readonly reason?: string | undefined;
  },
): Promise<number> {
  const { out, json } = context;
  return withTasks(context, async (tasks) => {
    const before = await taskNamed(context, tasks, typed);
    const { id, survivors: left = 0, process: host } = before;
    const isOver = hasEnded(before) && left === 0;
    const task = isOver ? before : await toldWhile(context, `stops task ${id}`, () => tasks.cancel(id, reason));
    if (json) await out.document({ task });
    else if (host.reach === 'lost' && left > 0)
      await out.line(`${out.styles.green('Ended')} ${processesText(left)} that task ${id} had left running`);
    // It may have died over the question.
    else if (host.reach !== 'lost' && task.process.reach === 'lost' && !isOver)
      await out.line(`${out.styles.green('Ended')} task ${id}: its process died, and nothing of it runs`);
    else if (task.status === 'cancelled' && !isOver) await out.line(`${out.styles.green('Cancelled')} task ${id}`);
    else await out.line(`Task ${id} had ended already: ${endedText(task)}`);
    return EXIT_SUCCESS;
  });
}
