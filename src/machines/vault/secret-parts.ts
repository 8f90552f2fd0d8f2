/**
 * What of a secret is one by itself: its lines, the values in it where it is JSON, settings or a URL. What could be a
 * word, a name or an address stays out of it: that stands in other texts too.
 */

/** What is shorter cannot be told from ordinary text. */
const MIN_CHARACTERS = 8;
/** From this length on whatever looks like a key is one. */
const MIN_KEY_CHARACTERS = 32;
const KEY = /^[A-Za-z0-9+/=_-]+$/;
const MAX_PARTS = 2_000;
/** JSON that is nested more deeply is checked as text. */
const MAX_DEPTH = 20;

/** One by one, each once, without the secret itself. */
export function secretParts(text: string): readonly string[] {
  const texts = [text, ...textsIn(text)];
  const lines = texts.flatMap((each) => each.split(/\r?\n/)).map((line) => line.trim());
  const values = lines.flatMap((line) => [...settingIn(line), ...settingsIn(line), ...partsOfAddress(line)]);
  const logins = lines.flatMap((line) => loginIn(line));
  const parts = new Set([
    ...[...texts, ...lines, ...values].filter((part) => part !== text && isSecret(part)),
    ...logins,
  ]);
  return [...parts].slice(0, MAX_PARTS);
}

/** The value of `name=value`, `name: value` and `"name": "value",`. */
function settingIn(line: string): string[] {
  const value = /^[\s"'-]*[\w.$](?:[\w.$ -]{0,98}[\w.$])?["']?\s*[=:]\s*(?<value>\S.*)$/.exec(line)?.groups?.['value'];
  if (value === undefined || value.startsWith('//')) return [];
  const plain = value.replace(/[,;]$/, '').replaceAll(/^["']|["']$/g, '');
  return [plain, ...partsOfAddress(plain)];
}

/** Several settings in a line: `Server=db;Password=…;`, `host=db password=…`, `//registry/:_authToken=…`. */
const SETTING = /(?<name>[\w./$:-]{1,100})\s?=\s?(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\s;,&"']+))/g;
/** JSON that is not the whole text, or has a comma too many. */
const JSON_SETTING = /"(?<name>[^"\\]{1,100})"\s*:\s*"(?<double>(?:[^"\\]|\\.)*)"/g;
/** `machine HOST login NAME password …`, as in `.netrc`. */
const NAMED_WORD = /\b(?:password|passwd|token|secret|key)\s+(?:"(?<double>[^"]*)"|(?<bare>[^\s"';,]+))/gi;
/** What is known by such a name stands in other texts too: a host, a user, a place. */
const PUBLIC_NAME =
  /(?:host|server|user|user ?id|uid|login|database|db|db_?name|catalog|account_?name|endpoint|endpoint_?suffix|port|path|file|folder|dir|directory|home|name|region)$/i;
const PLACE = /^(?:\.{0,2}|~)\//;

/** The values of every setting of a line, but for those that are no secret by their name or are a path. */
function settingsIn(line: string): string[] {
  return [SETTING, JSON_SETTING, NAMED_WORD].flatMap((each) =>
    [...line.matchAll(each)].flatMap(({ groups = {} }) => {
      const { name, double, single, bare } = groups as Readonly<Record<string, string | undefined>>;
      const value = double ?? single ?? bare ?? '';
      const isPublic = (name !== undefined && PUBLIC_NAME.test(name)) || PLACE.test(value);
      return isPublic && !(value.length >= MIN_KEY_CHARACTERS && KEY.test(value) && !PLACE.test(value)) ? [] : [value];
    }),
  );
}

/** Name and password together are no words, whatever each of them is. */
function loginIn(line: string): string[] {
  const login = /[a-z][a-z0-9+.-]{0,30}:\/\/(?<login>[^@/\s:]*:[^@/\s]+)@/i.exec(line)?.groups?.['login'];
  return login === undefined || login.length < MIN_CHARACTERS ? [] : [login, decoded(login)];
}

/** What stands in a URL: who logs in, with what, and each piece of path and query. */
function partsOfAddress(text: string): string[] {
  const url = /^[a-z][a-z0-9+.-]{0,30}:\/\/(?:(?<login>[^@/\s]*)@)?[^/?#\s]*(?<rest>[/?#]\S*)?/i.exec(
    /[a-z][a-z0-9+.-]{0,30}:\/\/\S+/i.exec(text)?.[0] ?? '',
  )?.groups;
  if (url === undefined) return [];
  const login = url['login'] ?? '';
  const pieces = [
    login,
    login.slice(login.indexOf(':') + 1),
    ...(url['rest'] ?? '').split(/[/?#&]/).flatMap((piece) => [piece, piece.slice(piece.indexOf('=') + 1)]),
  ];
  return [...pieces, ...pieces.map(decoded)];
}

/** Of a part of an address: as it is meant, or as it is written where that is nothing. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function textsIn(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return [];
  try {
    return textsOf(JSON.parse(text) as unknown, 0);
  } catch {
    return [];
  }
}

function textsOf(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return [];
  return Object.values(value).flatMap((item) => textsOf(item, depth + 1));
}

/** In one case, or with a capital at its beginning; or a small number, as in `us-east-1`. */
const WORD = /^(?:[A-Z]?[a-z]*|[A-Z]*|\d{1,2})$/;
const NUMBER_OR_DATE = /^[\d\s.,:/TZ+-]+$/;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]{0,30}:\/\/)?(?:[\w.+-]+@)?(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:\/[\w./-]*)?$/i;
const NAMES_PART = /^(?:-----|\[[^\]]*\]$|#|\/\/)/;

/** Whether it says something that no word, name or address says. */
export function isSecret(part: string): boolean {
  if (part.length < MIN_CHARACTERS || part.replaceAll(/\s/g, '').length < MIN_CHARACTERS || NAMES_PART.test(part))
    return false;
  if (part.length >= MIN_KEY_CHARACTERS && KEY.test(part)) return true;
  return !part.split(/[\W_]+/).every((word) => WORD.test(word)) && !NUMBER_OR_DATE.test(part) && !ADDRESS.test(part);
}
