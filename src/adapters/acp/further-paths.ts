/** Whether what a tool of an agent is given says more about places than the one path that it seems to be about. */
import { isPlainPath, mayFindOutside } from '../../machines/permission/plain-path.ts';
import { hasSecretName } from '../../machines/permission/sensitive-path.ts';

/** Hold what is written or looked for, or say how much of it. */
const CONTENT_FIELD =
  /^(?:command|content|contents|text|(?:new|old)_?(?:string|str|text|content)|file_?text|insert_?(?:text|line)|line|lines|limit|offset|start_?line|end_?line|view_?range|description|explanation|instructions?|edits|replace_?all)$/i;

/** May name other files, whatever is in them. */
const PLACE_FIELD =
  /path|file|uri|url|dir(?:$|ectory)|folder|source|target|^src$|^dst$|dest|^to$|^from$|cwd|root|location|patch|diff|rename|name$/i;

const MAX_DEPTH = 20;

/** For a file that is read or changed. @param path the one that it seems to be about */
export function namesOtherPlaces(rawInput: unknown, path: string): boolean {
  return someField(
    rawInput,
    (field, value) =>
      value !== path &&
      !CONTENT_FIELD.test(field) &&
      (PLACE_FIELD.test(field) || /[/\\]/.test(value) || !isPlainPath(value)),
  );
}

/** For a search: whatever it is given besides its folder may be a pattern of paths. */
export function searchesElsewhere(rawInput: unknown, folder: string | undefined): boolean {
  return someField(rawInput, (_field, value) => value !== folder && (mayFindOutside(value) || hasSecretName(value)));
}

/**
 * All places that the input of a tool may name, for a tool of which it is not known to what it does something. @param
 * isTold whether places were told besides
 */
export function furtherPlaces(rawInput: unknown, { isTold }: { readonly isTold: boolean }): readonly string[] {
  const places: string[] = [];
  someField(rawInput, (field, value) => {
    const isPlace =
      !CONTENT_FIELD.test(field) && (PLACE_FIELD.test(field) || /[/\\]/.test(value) || !isPlainPath(value));
    // A patch is no path; where the agent has told the files of it, those are judged.
    if (isPlace && !(isTold && value.includes('\n'))) places.push(value);
    return false;
  });
  return places;
}

/**
 * Whether some text in it is so; what is nested too deeply is not searched. Words that stand by themselves have no
 * field.
 */
function someField(given: unknown, isSo: (field: string, value: string) => boolean, field = '', depth = 0): boolean {
  if (typeof given === 'string') return given !== '' && isSo(field, given);
  if (typeof given !== 'object' || given === null) return false;
  if (depth >= MAX_DEPTH) return true;
  // What stands in a list belongs to the field that holds the list.
  return Object.entries(given).some(([name, value]) =>
    someField(value, isSo, Array.isArray(given) ? field : name, depth + 1),
  );
}
