/**
 * Names on users' disks that are older than the word "shared files": renaming them would lose what agents share, or
 * what a model has staged, when two versions of the runtime work on one home. So they say `substrate` for good.
 */

/** In the folder of an agent: the files that all its sessions share. People edit them there too. */
export const SHARED_FILES_FOLDER = 'substrate';

/** Beside it: every version that those files had. */
export const VERSIONS_FOLDER = 'substrate-versions';

/** In the workspace of a session: copies of shared files, for editing. */
export const STAGE_FOLDER = 'substrate-stage';

/** In each manifest of a version. */
export const MANIFEST_FORMAT = 'wakechart-substrate/1';
