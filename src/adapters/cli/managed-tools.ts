/** The names of the tools that every runtime of the command line has, whatever an agent file says. */
import { askHumanDefinition } from '../../machines/turn/ask-human.ts';
import { editDefinition } from '../../machines/turn/files/edit-file.ts';
import { globDefinition } from '../../machines/turn/files/glob-files.ts';
import { grepDefinition } from '../../machines/turn/files/grep-files.ts';
import { readDefinition } from '../../machines/turn/files/read-file.ts';
import { writeDefinition } from '../../machines/turn/files/write-file.ts';
import {
  shellCloseDefinition,
  shellExecDefinition,
  shellHistoryDefinition,
  shellOpenDefinition,
  shellReadLastOutputDefinition,
  shellSetCwdDefinition,
  shellSetEnvDefinition,
  shellWaitDefinition,
} from '../../machines/turn/shell/shell-definitions.ts';
import { shellRunDefinition } from '../../machines/turn/shell-run.ts';

export const MANAGED_TOOLS: readonly string[] = [
  askHumanDefinition,
  readDefinition,
  writeDefinition,
  editDefinition,
  globDefinition,
  grepDefinition,
  shellRunDefinition,
  shellOpenDefinition,
  shellExecDefinition,
  shellWaitDefinition,
  shellCloseDefinition,
  shellHistoryDefinition,
  shellReadLastOutputDefinition,
  shellSetCwdDefinition,
  shellSetEnvDefinition,
].map(({ name }) => name);
