/**
 * The port that knows which folders are the runtime's own: what lies in them decides what agents may do, so none
 * changes it unasked.
 */
export interface PlaceGuard {
  /**
   * Whether a path lies in such a folder once every link is followed. What belongs to the session does not.
   * @param path absolute, or from the workspace @param workspaceDirectory absolute: where the session works
   */
  protects(path: string, workspaceDirectory: string): Promise<boolean>;
  /** Whether an absolute path leads to a folder. */
  isFolder(path: string): Promise<boolean>;
}
