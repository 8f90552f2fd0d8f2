/** The port to a look at the disk: whether commands whose words are known to be safe are so where they run. */
import type { CommandLook } from '../../machines/permission/command-look.ts';

export interface CommandPlaces {
  /**
   * Why the commands are not safe after all, for people: a place that they name, or their folder, leads out of the
   * workspace or to a secret, or the repository names programs that git would run. Undefined when nothing speaks
   * against them. Never rejects: what cannot be looked at is not safe. It is true for the moment of the look; the
   * commands must run at once.
   */
  problem(look: CommandLook): Promise<string | undefined>;
}
