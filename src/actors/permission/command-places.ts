/** The port to a check the disk: whether commands whose words are known to be safe are so where they run. */
import type { CommandCheck } from '../../machines/permission/command-check.ts';

export interface CommandPlaces {
  /**
   * Why the commands are not safe after all, for people: a place that they name, or their folder, leads out of the
   * workspace or to a secret, or the repository names programs that git would run. Undefined when nothing speaks
   * against them. Never rejects: what cannot be checked is not safe. It is true for the moment of the check; the
   * commands must run at once.
   */
  problem(check: CommandCheck): Promise<string | undefined>;
}
