/**
 * The five folders of src and the one direction between them: cli -> node -> adapters -> actors -> machines.
 *
 * Every import counts, type-only ones too: a type that points up is a dependency that points up.
 */
import { isBuiltin } from 'node:module';
import { circlesIn } from './import-circles.ts';
import type { Rule } from './rules.ts';
import { isCode } from './source-tree.ts';
import type { ImportEdge, ProjectFile, SourceTree } from './source-tree.ts';

type Complaint = string | undefined;

const ROOMS: ReadonlySet<string> = new Set(['machines', 'actors', 'adapters', 'node', 'cli']);

/**
 * A folder beside the rooms: what ships for tests of code that is built on this one. Its one door is the entry point of
 * the same name.
 */
const TESTING = 'src/testing';
const TESTING_ENTRY_POINT = `${TESTING}.ts`;

/** The one part of Node that tests of any framework can use. */
const ASSERTIONS = 'node:assert/strict';

/** What charts are made of, and what makes random runs of them; the second is an optional peer. */
const CHART_TESTS = ['xstate', 'fast-check'];

/**
 * Entry points that choose among adapters, and the two folders above the adapters: the runtime of a machine, and the
 * command line over that.
 */
const CHOOSING_ENTRY_POINTS: ReadonlySet<string> = new Set([
  'src/http.ts',
  'src/machines.ts',
  'src/node.ts',
  'src/postgres.ts',
  'src/subagent-worker.ts',
]);
const NODE_RUNTIME = 'src/node';
const COMMAND_LINE = 'src/cli';

/** Files that load what a user names, and so import a path computed at run time. */
const LOADERS_OF_USER_CODE: ReadonlySet<string> = new Set([
  'src/node/config-module.ts',
  'src/cli/audit/chart-module.ts',
]);

/** What the published entry points without adapters are made of. */
const PURE_ENTRY_POINTS: Readonly<Record<string, readonly string[]>> = {
  'src/index.ts': ['machines', 'actors', 'root'],
  'src/runtime.ts': ['machines', 'actors', 'root'],
  'src/ports.ts': ['machines', 'actors', 'root'],
  'src/machines.ts': ['machines'],
  [TESTING_ENTRY_POINT]: ['machines', 'actors', 'testing'],
};

/**
 * Where a path under src lies: one of the rooms, `root` for a file beside them, `outside` for anything that is not in
 * src.
 */
function roomOf(path: string): string {
  const [top, room, rest] = path.split('/');
  if (top !== 'src' || room === undefined) return 'outside';
  return rest === undefined ? 'root' : room;
}

/** The adapter a path belongs to, `src/adapters/<technology>`; undefined outside the adapters. */
function adapterOf(path: string): string | undefined {
  return /^src\/adapters\/[^/]+(?=\/)/.exec(path)?.[0];
}

/** The package a bare specifier names: `rxjs/operators` is `rxjs`, `@xstate/graph/x` is `@xstate/graph`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Whether a specifier is a place on a machine or a network, or an alias, instead of a package or a relative path. */
function isLocation(specifier: string): boolean {
  return /^(?:\/|[a-z]:|file:|data:|https?:|#)/i.test(specifier);
}

/** A rule that checks each import of the guarded files on its own. */
function importRule(
  name: string,
  guards: readonly string[],
  complain: (edge: ImportEdge, file: ProjectFile) => Complaint,
): Rule {
  return {
    name,
    guards,
    check: (tree) =>
      guards
        .flatMap((guard) => tree.under(guard))
        .filter(isCode)
        .flatMap((file) =>
          file.imports.flatMap((edge) => {
            const message = complain(edge, file);
            return message === undefined ? [] : [{ file: file.path, line: edge.line, message }];
          }),
        ),
  };
}

/** Says why `edge` may not be imported by code that may use only `rooms` and `packages`. */
function beyond(edge: ImportEdge, rooms: readonly string[], packages: readonly string[]): Complaint {
  if (edge.specifier === undefined) return undefined;
  if (edge.target !== undefined) {
    return rooms.includes(roomOf(edge.target))
      ? undefined
      : `imports ${edge.target}; it may use only ${rooms.join(', ')}`;
  }
  return packages.includes(packageOf(edge.specifier))
    ? undefined
    : `imports ${edge.specifier}; it may use only ${packages.join(', ')}`;
}

const machinesArePure = importRule('machines-are-pure', ['src/machines'], (edge) =>
  beyond(edge, ['machines'], ['xstate', 'zod']),
);

const actorsKnowNoAdapter = importRule('actors-know-no-adapter', ['src/actors'], (edge) =>
  beyond(edge, ['machines', 'actors'], ['xstate', 'rxjs']),
);

/** Primitives of the operating system that every adapter needs. */
const SYSTEM_ADAPTER = 'src/adapters/system';

const adaptersStandAlone = importRule('adapters-stand-alone', ['src/adapters'], (edge, file) => {
  if (edge.target === undefined) return undefined;
  const room = roomOf(edge.target);
  if ((room === 'root' || room === 'node' || room === 'cli') && edge.target !== TESTING_ENTRY_POINT)
    return `imports ${edge.target}; an adapter knows ports and data, not who composes it`;
  if (
    room !== 'adapters' ||
    adapterOf(edge.target) === adapterOf(file.path) ||
    adapterOf(edge.target) === SYSTEM_ADAPTER
  )
    return undefined;
  return `imports ${edge.target}; an adapter never imports another but system, only ${NODE_RUNTIME} and ${COMMAND_LINE} choose among them`;
});

const nodeKnowsNoCommandLine = importRule('node-knows-no-command-line', [NODE_RUNTIME], ({ target }) =>
  target !== undefined && roomOf(target) === 'cli'
    ? `imports ${target}; the command line is made of the runtime`
    : undefined,
);

/** Whether a file chooses among adapters, or is made of one that does. */
function isChoosing(path: string): boolean {
  return CHOOSING_ENTRY_POINTS.has(path) || ['adapters', 'node', 'cli'].includes(roomOf(path));
}

const adaptersAreChosenInTwoPlaces: Rule = {
  name: 'adapters-are-chosen-in-two-places',
  guards: [...CHOOSING_ENTRY_POINTS, NODE_RUNTIME, COMMAND_LINE],
  check: (tree) =>
    tree
      .under('src')
      .filter((file) => isCode(file) && roomOf(file.path) === 'root' && !CHOOSING_ENTRY_POINTS.has(file.path))
      .flatMap((file) =>
        file.imports
          .filter(({ target }) => target !== undefined && isChoosing(target))
          .map(({ target, line }) => {
            const message = `reaches adapters through ${target}; only ${[...CHOOSING_ENTRY_POINTS].join(', ')}, ${NODE_RUNTIME} and ${COMMAND_LINE} choose them`;
            return { file: file.path, line, message };
          }),
      ),
};

const entryPointsStayAbove = importRule(
  'entry-points-are-made-of-their-rooms',
  Object.keys(PURE_ENTRY_POINTS),
  (edge, file) => {
    const rooms = PURE_ENTRY_POINTS[file.path] ?? [];
    // The rule above speaks about adapters and what chooses them, in better words.
    if (edge.target !== undefined && isChoosing(edge.target)) return undefined;
    return beyond(edge, rooms, ['xstate', 'zod', 'rxjs']);
  },
);

const testingNeedsNoFramework = importRule('testing-needs-no-framework', [TESTING], (edge) =>
  edge.specifier === ASSERTIONS
    ? undefined
    : beyond(edge, ['machines', 'actors', 'testing'], [ASSERTIONS, ...CHART_TESTS]),
);

const testingIsForTests: Rule = {
  name: 'testing-is-for-tests',
  guards: [TESTING_ENTRY_POINT],
  check: (tree) =>
    tree
      .under('src')
      // What the other rooms and entry points may use is a list already.
      .filter(
        (file) =>
          isCode(file) &&
          (['adapters', 'node', 'cli'].includes(roomOf(file.path)) ||
            (roomOf(file.path) === 'root' && !Object.hasOwn(PURE_ENTRY_POINTS, file.path))),
      )
      .flatMap((file) =>
        file.imports
          .filter(({ target = '' }) => roomOf(target) === 'testing' || target === TESTING_ENTRY_POINT)
          .map(({ target, line }) => ({
            file: file.path,
            line,
            message: `imports ${String(target)}, which ships for tests`,
          })),
      ),
};

const everyFileHasItsFolder: Rule = {
  name: 'every-file-has-its-folder',
  guards: ['src'],
  check: (tree) =>
    tree.under('src').flatMap((file) => {
      const room = roomOf(file.path);
      if (room !== 'root' && room !== 'testing' && !ROOMS.has(room)) {
        return [{ file: file.path, message: `lies in src/${room}; the folders are ${[...ROOMS].join(', ')}` }];
      }
      if (room === 'adapters' && adapterOf(file.path) === undefined) {
        return [{ file: file.path, message: 'lies beside the adapters; each technology has a folder of its own' }];
      }
      return [];
    }),
};

const importsCanBeRead = importRule('imports-can-be-read', ['src', ...LOADERS_OF_USER_CODE], (edge, file) => {
  if (edge.specifier === undefined && LOADERS_OF_USER_CODE.has(file.path)) return undefined;
  if (edge.specifier === undefined)
    return 'imports a computed name; write it out, so that the direction can be checked';
  if (isLocation(edge.specifier)) return `imports ${edge.specifier}; name a package or a relative path`;
  return edge.target !== undefined && roomOf(edge.target) === 'outside'
    ? `imports ${edge.target}, which lies outside src`
    : undefined;
});

/** Types and what is loaded later count: a reader of one file of a circle has to read all of them. */
const importsMakeNoCircle: Rule = {
  name: 'imports-make-no-circle',
  guards: ['src'],
  check: (tree) => {
    const files = new Map(
      tree
        .under('src')
        .filter(isCode)
        .map((file) => [file.path, file]),
    );
    const targetsOf = ({ imports }: ProjectFile): ReadonlySet<string> =>
      new Set(imports.flatMap(({ target }) => (target !== undefined && files.has(target) ? [target] : [])));
    const graph = new Map([...files].map(([path, file]) => [path, targetsOf(file)]));
    return circlesIn(graph).map((circle) => {
      const [file, next = file] = circle;
      return {
        file,
        line: files.get(file)?.imports.find(({ target }) => target === next)?.line,
        message: `imports in a circle: ${[...circle, file].join(' -> ')}; move what both sides need to the file that owns it, below both`,
      };
    });
  },
};

/** What a user gets with `npm install wakechart`, or is told to install. */
function declaredPackages(tree: SourceTree): { readonly name: string; readonly installed: readonly string[] } {
  const manifest = tree.files.find((file) => file.path === 'package.json');
  const { name, dependencies, peerDependencies } = JSON.parse(manifest?.text ?? '{}') as {
    readonly name?: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly peerDependencies?: Readonly<Record<string, string>>;
  };
  return { name: name ?? '', installed: [...Object.keys(dependencies ?? {}), ...Object.keys(peerDependencies ?? {})] };
}

const packagesAreDeclared: Rule = {
  name: 'packages-are-declared',
  guards: ['src', 'package.json'],
  check: (tree) => {
    const { name, installed } = declaredPackages(tree);
    return importRule('packages-are-declared', ['src'], ({ specifier, target }, file) => {
      if (specifier === undefined || target !== undefined || isLocation(specifier) || isOfPage(file.path))
        return undefined;
      const imported = packageOf(specifier);
      if (imported === name) return `imports ${specifier}; inside src, import the file itself`;
      if (specifier.startsWith('node:')) return undefined;
      if (isBuiltin(specifier)) return `imports ${specifier}; write node:${specifier}`;
      return installed.includes(imported)
        ? undefined
        : `imports ${specifier}, which is neither a dependency nor a peer dependency`;
    }).check(tree);
  },
};

/** What runs in a browser: it is built apart, with everything that it needs in it. */
const PAGE = 'src/adapters/inspector-page';
const PAGE_PACKAGES = ['preact', '@preact/signals'];
/** Style sheets, and what its build makes. */
const STYLES = /(?:^virtual:[a-z.-]+|\.css)$/;

function isOfPage(path: string): boolean {
  return path.startsWith(`${PAGE}/`);
}

/** A browser has neither Node nor what the runtime is made of; what those say is typed for it all the same. */
const pageRunsInBrowsers = importRule('page-runs-in-browsers', [PAGE], ({ specifier, target, line }, file) => {
  if (specifier === undefined || STYLES.test(specifier)) return undefined;
  if (target !== undefined) {
    const isTypeOnly = file.text.split('\n')[line - 1]?.startsWith('import type ') === true;
    const isOpen = isOfPage(target) || roomOf(target) === 'machines' || (roomOf(target) === 'actors' && isTypeOnly);
    return isOpen ? undefined : `imports ${target}; the page may use data, the types of ports, and itself`;
  }
  return PAGE_PACKAGES.includes(packageOf(specifier))
    ? undefined
    : `imports ${specifier}; the page may use only ${PAGE_PACKAGES.join(', ')}`;
});

export const importRules: readonly Rule[] = [
  machinesArePure,
  actorsKnowNoAdapter,
  adaptersStandAlone,
  nodeKnowsNoCommandLine,
  adaptersAreChosenInTwoPlaces,
  entryPointsStayAbove,
  testingNeedsNoFramework,
  testingIsForTests,
  everyFileHasItsFolder,
  importsCanBeRead,
  importsMakeNoCircle,
  packagesAreDeclared,
  pageRunsInBrowsers,
];
