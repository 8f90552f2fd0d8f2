/** What the operating system, or Node, says went wrong: by its code, such as `ENOENT` or `ERR_IPC_CHANNEL_CLOSED`. */

/** Undefined for what has none. Told by its shape: errors of another realm are no `Error` here. */
export function systemCodeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = systemCodeOf(error);
  return code !== undefined && codes.includes(code);
}

/** Nothing is there, nor could be: a part of the path is a file. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR');
}

/** For `catch`: what has one of these codes is undefined, any other trouble is passed on. */
export function unlessCode(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!hasCode(error, ...codes)) throw error;
  };
}
