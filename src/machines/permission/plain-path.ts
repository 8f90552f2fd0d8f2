/**
 * Which paths mean the same to every program that is given them. What else a path may mean, the program alone knows.
 */

/** As long as systems take them. */
const MAX_PATH_CHARACTERS = 4_096;

/**
 * Whether the path names one file or folder by its names alone. With `..` in it only the file system knows where it
 * leads; `~`, an address, a drive and spaces at its ends are taken by some programs for what they look like.
 */
export function isPlainPath(path: string): boolean {
  if (path.length > MAX_PATH_CHARACTERS || path !== path.trim() || /\p{Cc}/u.test(path) || path.includes('\\'))
    return false;
  return !/^~|^[A-Za-z][A-Za-z0-9+.-]*:/.test(path) && !path.split('/').includes('..');
}

/** Beginnings of a path from elsewhere, and of alternatives that are such paths; and a way up, wherever it stands. */
const LEADS_ELSEWHERE = /^\s*[/~]|^[A-Za-z]:|^file:|[{,(|!][/~]|(?:^|[/{,(|!])\.\.(?:$|[/},)|])/;

/** Whether a pattern of paths may find something outside the folder in which it begins, as it is written. */
export function mayFindOutside(pattern: string): boolean {
  return LEADS_ELSEWHERE.test(pattern.replaceAll('\\', '')) || pattern.includes('\0');
}
