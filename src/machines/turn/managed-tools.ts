/**
 * Every managed tool, in one table: what the runtime, the command line, the pages and the files for agents tell of them
 * comes from here.
 */
import {
  learningCaptureDefinition,
  learningGetDefinition,
  learningListDefinition,
  memoryPromoteDefinition,
  memoryReadDefinition,
  memoryRestoreDefinition,
  memoryVersionsDefinition,
} from '../memory/memory-tool-definitions.ts';
import {
  resourcesCompareDefinition,
  resourcesListDefinition,
  resourcesPromoteDefinition,
  resourcesReadDefinition,
  resourcesRestoreDefinition,
  resourcesStageDefinition,
  resourcesVersionsDefinition,
} from '../memory/resource-tool-definitions.ts';
import {
  outcomeDefineDefinition,
  outcomeEvaluateDefinition,
  outcomeGradeDefinition,
  outcomeHistoryDefinition,
} from '../outcome/outcome-definitions.ts';
import { permissionDescribeDefinition } from '../permission/permission-report.ts';
import { retrievalSearchDefinition } from '../retrieval/retrieval-tool.ts';
import {
  sessionDelegateDefinition,
  sessionDescribeContextDefinition,
  sessionDescribeDefinition,
  sessionGetEventsDefinition,
  sessionGetSnapshotDefinition,
  sessionGetTraceDefinition,
  sessionListDefinition,
  sessionRunChildDefinition,
  sessionSearchContextDefinition,
} from '../session-tools/session-tool-definitions.ts';
import { skillsListDefinition, skillsReadDefinition, skillsSearchDefinition } from '../skill/skill-definitions.ts';
import { askHumanDefinition } from './ask-human.ts';
import { editDefinition } from './files/edit-file.ts';
import { globDefinition } from './files/glob-files.ts';
import { grepDefinition } from './files/grep-files.ts';
import { readDefinition } from './files/read-file.ts';
import { writeDefinition } from './files/write-file.ts';
import { httpRequestDefinition } from './http-request.ts';
import { shellRunDefinition } from './shell-run.ts';
import {
  shellCloseDefinition,
  shellExecDefinition,
  shellHistoryDefinition,
  shellOpenDefinition,
  shellReadLastOutputDefinition,
  shellSetCwdDefinition,
  shellSetEnvDefinition,
  shellWaitDefinition,
} from './shell/shell-definitions.ts';
import { vaultListDefinition } from '../vault/vault-list.ts';
import type { ToolDefinition } from './tool-definition.ts';

const MANAGED_TOOLS = [
  editDefinition,
  globDefinition,
  grepDefinition,
  readDefinition,
  writeDefinition,
  shellRunDefinition,
  shellOpenDefinition,
  shellExecDefinition,
  shellWaitDefinition,
  shellCloseDefinition,
  shellHistoryDefinition,
  shellReadLastOutputDefinition,
  shellSetCwdDefinition,
  shellSetEnvDefinition,
  askHumanDefinition,
  sessionListDefinition,
  sessionGetSnapshotDefinition,
  sessionGetEventsDefinition,
  sessionGetTraceDefinition,
  sessionSearchContextDefinition,
  sessionDescribeContextDefinition,
  sessionDescribeDefinition,
  sessionDelegateDefinition,
  sessionRunChildDefinition,
  memoryReadDefinition,
  memoryVersionsDefinition,
  memoryPromoteDefinition,
  memoryRestoreDefinition,
  learningListDefinition,
  learningGetDefinition,
  learningCaptureDefinition,
  retrievalSearchDefinition,
  outcomeDefineDefinition,
  outcomeGradeDefinition,
  outcomeEvaluateDefinition,
  outcomeHistoryDefinition,
  resourcesListDefinition,
  resourcesReadDefinition,
  resourcesVersionsDefinition,
  resourcesStageDefinition,
  resourcesCompareDefinition,
  resourcesPromoteDefinition,
  resourcesRestoreDefinition,
  skillsListDefinition,
  skillsSearchDefinition,
  skillsReadDefinition,
  vaultListDefinition,
  permissionDescribeDefinition,
  httpRequestDefinition,
] as const satisfies readonly ToolDefinition[];

/** Of every runtime of a home. */
export const MANAGED_TOOL_NAMES: readonly string[] = MANAGED_TOOLS.map(({ name }) => name);
