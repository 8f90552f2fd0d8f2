/**
 * What no file of the project may say: where the checkout of a person lies, which registry it talks to, on what kind of
 * machine it lies.
 */
import type { Rule } from './rules.ts';

/** Folders that exist on one person's machine. */
const PERSONAL_PATH = /(?<![\w.~-])(?:\/(?:home|Users)\/[\w.-]+|\/(?:root|work)\/[\w.-]+|[A-Z]:\\+Users\\)/;

/** A package registry by address, or a setting that names one. */
const REGISTRY =
  /https?:\/\/[\w.@:-]*(?:registry|artifactory|nexus|verdaccio|npm-proxy)[\w.:-]*|^\s*(?:@[\w-]+:)?registry\s*=/i;

/** A package of the lock file that comes from anywhere but the public registry. */
const FETCHED_ELSEWHERE = /"resolved": "(?!https:\/\/registry\.npmjs\.org\/)[^"]*"/;

const LOCK_FILE = 'package-lock.json';

/** Names that stores hold, types of events that logs hold, statements that databases have run, texts of providers. */
const KEEPS_OLD_NAMES =
  /^src\/(?:machines\/(?:stored-names|session\/former-events|run\/failure-patterns)\.ts|adapters\/postgres\/migrations\/)/;

/** What is delivered, without the suites and fixtures for tests. */
function isSource(path: string): boolean {
  return /^src\/(?!testing\/).*\.ts$/.test(path);
}

interface TextRule {
  readonly name: string;
  readonly guards: readonly string[];
  readonly appliesTo: (path: string) => boolean;
  readonly pattern: RegExp;
  readonly advice: string;
}

function textRule({ name, guards, appliesTo, pattern, advice }: TextRule): Rule {
  return {
    name,
    guards,
    check: (tree) =>
      tree.files
        .filter(({ path }) => appliesTo(path))
        .flatMap(({ path, text }) =>
          text.split('\n').flatMap((line, index) => {
            const found = pattern.exec(line)?.[0];
            return found === undefined
              ? []
              : [{ file: path, line: index + 1, message: `says ${found.trim()}; ${advice}` }];
          }),
        ),
  };
}

interface LockedPackage {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * npm leaves out of the lock file what its registry did not have, and `npm ci` then refuses the whole file wherever it
 * has more.
 */
const lockFileIsComplete: Rule = {
  name: 'lock-file-is-complete',
  guards: [LOCK_FILE],
  check: (tree) =>
    tree.under(LOCK_FILE).flatMap(({ path, text }) => {
      const { packages = {} } = JSON.parse(text) as { readonly packages?: Readonly<Record<string, LockedPackage>> };
      return Object.entries(packages).flatMap(([at, { optionalDependencies = {} }]) =>
        Object.entries(optionalDependencies)
          .filter(
            ([name]) =>
              !Object.hasOwn(packages, `${at}/node_modules/${name}`) &&
              !Object.hasOwn(packages, `node_modules/${name}`),
          )
          .map(([name, version]) => {
            const message = `lacks ${name}@${version}, which ${at} may need on another machine; choose a version that is there for all`;
            return { file: path, message };
          }),
      );
    }),
};

export const textRules: readonly Rule[] = [
  textRule({
    name: 'no-personal-paths',
    guards: [],
    appliesTo: () => true,
    pattern: PERSONAL_PATH,
    advice: 'a path of one machine means nothing on another',
  }),
  textRule({
    name: 'no-registry-addresses',
    guards: [],
    appliesTo: (path) => path !== LOCK_FILE,
    pattern: REGISTRY,
    advice: 'which registry to use is a matter of each machine',
  }),
  textRule({
    name: 'lock-file-is-portable',
    guards: [LOCK_FILE],
    appliesTo: (path) => path === LOCK_FILE,
    pattern: FETCHED_ELSEWHERE,
    advice: 'the lock file must install everywhere; npm leaves the address out with --omit-lockfile-registry-resolved',
  }),
  textRule({
    name: 'sessions-are-made-in-one-place',
    guards: [],
    appliesTo: (path) => isSource(path) && !/^src\/actors\/session\/(?:new-session|session-copies)\.ts$/.test(path),
    pattern: /\bstore\.create\(/,
    advice: 'beginSession makes sessions, and a child only within the bounds of its parent',
  }),
  textRule({
    name: 'bounds-are-handed-down-in-one-place',
    guards: [],
    appliesTo: (path) =>
      isSource(path) && !/^src\/(?:machines\/permission\/handed-down|actors\/session\/parent-bounds)\.ts$/.test(path),
    pattern: /\bas (?:HandedDown|ChildBounds)\b|\bhand(?:ed)?Down\(/,
    advice: 'ParentBounds says what binds a child, with nothing left out',
  }),
  textRule({
    name: 'the-floor-is-laid-once',
    guards: [],
    // The page runs in browsers, and a lease has a port to the disk of its own.
    appliesTo: (path) => /^src\/(?!adapters\/(?:system|inspector-page|workspace-copy-files)\/).*\.ts$/.test(path),
    pattern:
      /function sync(?:Folder|Directory)\b|random\/boot_id|as NodeJS\.ErrnoException|process\.kill\([^,()]+, 0\)|\bO_DIRECTORY\b|\/proc\/self\/fd\/\$|(?:access|exists\w*|stat\w*)\('\/proc\/self\/fd/,
    advice: 'src/adapters/system has it, the strictest of its kind',
  }),
  textRule({
    name: 'texts-are-cut-between-characters',
    guards: [],
    appliesTo: (path) => path.startsWith('src/'),
    pattern: /\.slice\(0, MAX_\w*CHARACTERS\b/,
    advice: 'beginningOf leaves no half of a surrogate pair, which no store takes',
  }),
  textRule({
    name: 'words-of-the-field',
    guards: [],
    appliesTo: (path) => path.startsWith('src/'),
    pattern: /\b\w*house\b|\blanes?\b|\bdoorbell\w*|\w*companion\w*|\w*posture\w*|\w*sighting\w*/i,
    advice: 'say context, ports or runtime; mutex; notification; hook; isolation; hit',
  }),
  textRule({
    name: 'words-that-only-stores-keep',
    guards: [],
    // What is stored keeps its name, and a provider writes of accounts in good standing.
    appliesTo: (path) => path.startsWith('src/') && !KEEPS_OLD_NAMES.test(path),
    pattern: /(?<!under|out|notwith|long-?)standings?|substrates?/i,
    advice: 'say health, state, status or liveness; shared files',
  }),
  textRule({
    name: 'a-workspace-copy-is-called-so',
    guards: [],
    // What disks and databases hold under the earlier word is named there, once each.
    appliesTo: (path) =>
      path.startsWith('src/') &&
      !/^src\/(?:adapters\/postgres\/(?:workspace-copy-tables|migrations\/0003-workspace-copies)|adapters\/workspace-copy-files\/copy-places|machines\/session\/(?:event-schemas|former-events))\.ts$/.test(
        path,
      ),
    // By case, since things lie at hand, are in hand and are handed on: types, names, quoted words, and the noun.
    pattern:
      /(?<!(?:[Ii]n|[Bb]y))Hands?[A-Z]\w*|\bhands?(?!Down)[A-Z]\w*|(?<=[a-z])(?<!(?:[Ii]n|[Bb]y))Hands?\b|\bHAND_\w+|\bhand_\w+|(?<=['"`#.])hands?\b(?! )|\bhand\.[a-z]|\b(?:[Tt]he|[Aa]|its|old|whole|same|that) hand\b|\bcop(?:y|ies) of hands?\b|\w*(?:letGo|LetGo|LET_GO|let-go)\w*/,
    advice: 'say workspace copy or workspace; release',
  }),
  textRule({
    name: 'to-check-is-called-so',
    guards: [],
    appliesTo: (path) => path.startsWith('src/'),
    // A chart has an outlook, an address is looked up, and a text may look like a key.
    pattern:
      /\b[Ll]ook(?:s|ed|ing)? (?:at|for|through|into|after)\b|\blook(?:s|ed|ing)?(?!s?Like|s?Up)[A-Z]\w*|(?<=[a-z])Look(?:s|ed|ing)?\b/,
    advice: 'say check, read, search or watch',
  }),
  textRule({
    name: 'what-acts-is-named',
    guards: [],
    // The stop words of the search, and the value of a field that logs hold.
    appliesTo: (path) => path.startsWith('src/') && path !== 'src/machines/retrieval/terms.ts',
    pattern:
      /(?<!')\b(?:(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body|[Ww]hoever)\b|\b(?:(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body|[Ww]hoever)\b(?!')/,
    advice: 'name what acts: caller, user, process, worker, client, person',
  }),
  lockFileIsComplete,
];
