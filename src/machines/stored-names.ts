/**
 * Names that homes, workspaces and databases hold from before a word was changed. They stay: two versions of the
 * runtime may work on one home, and what is under an old name would be lost to the other.
 */

/** In the folder of an agent: the files that all its sessions share. People edit them there too. */
export const SHARED_FILES_FOLDER = 'substrate';

/** Beside it: every version that those files had. */
export const VERSIONS_FOLDER = 'substrate-versions';

/** In the workspace of a session: copies of shared files, for editing. */
export const STAGE_FOLDER = 'substrate-stage';

/** In each manifest of a version. */
export const MANIFEST_FORMAT = 'wakechart-substrate/1';

/** The health of candidates, in the folder of accounts: the file, what it says it is, and its one key. */
export const CANDIDATE_HEALTH_FILE = 'standings.json';
export const CANDIDATE_HEALTH_FORMAT = 'wakechart-standings/1';
export const CANDIDATE_HEALTH_KEY = 'standings';

/** The states of schedules, in the folder of schedules. */
export const SCHEDULE_STATES_FOLDER = 'standings';

/** The states of workspace copies, in a folder that machines share. */
export const COPY_STATES_FOLDER = 'standings';

/** Tables of PostgreSQL. */
export const CANDIDATE_HEALTH_TABLE = 'candidate_standing';
export const SCHEDULE_STATE_TABLE = 'schedule_standing';
