/** What comes along when a module is imported, by really importing it in a process of its own. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface ModuleGraph {
  /** Files of the package itself, from its root, with forward slashes. */
  readonly own: readonly string[];
  /** Sources of which the bundler put a part into one of those files, from the root of the package. */
  readonly sources: readonly string[];
  /** Names of the packages that were loaded. */
  readonly packages: readonly string[];
  /** Parts of Node that were loaded, `node:` first. */
  readonly builtins: readonly string[];
}

const probe = fileURLToPath(new URL('module-graph-probe.mjs', import.meta.url));

/** Imports `packageRoot`/`entry` and tells what was loaded. Rejects when the import does. */
export async function readModuleGraph(packageRoot: string, entry: string): Promise<ModuleGraph> {
  const root = realpathSync(packageRoot);
  const { stdout } = await promisify(execFile)(process.execPath, [probe, join(root, entry)], { maxBuffer: 2 ** 24 });
  const { files, builtins } = JSON.parse(stdout) as {
    readonly files: readonly string[];
    readonly builtins: readonly string[];
  };
  const packages = files.flatMap(
    (file) => /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1] ?? [],
  );
  const own = files.filter((file) => file.startsWith(root + sep) && !file.includes(`${sep}node_modules${sep}`));
  const paths = own.map((file) =>
    file
      .slice(root.length + 1)
      .split(sep)
      .join('/'),
  );
  const bundled = bundledSources(root);
  return {
    own: paths,
    sources: [...new Set(paths.flatMap((path) => bundled[path.replace(/^dist\//, '')] ?? []))].toSorted(),
    packages: [...new Set(packages)].toSorted(),
    builtins,
  };
}

/** The sources in each file that the last build bundled, by its path below dist; none where nothing was built. */
function bundledSources(root: string): Readonly<Record<string, readonly string[]>> {
  const notes = join(root, '.build', 'dist.stamp.json');
  if (!existsSync(notes)) return {};
  return (JSON.parse(readFileSync(notes, 'utf8')) as { readonly bundled: Readonly<Record<string, readonly string[]>> })
    .bundled;
}

/** What an entry point without adapters may bring along. */
const LIGHT_PACKAGES: ReadonlySet<string> = new Set(['rxjs', 'xstate', 'zod']);

/** Everything in `graph` that makes an import heavy: adapters, their technology, parts of Node. */
export function burdensOf(graph: ModuleGraph): string[] {
  return [
    ...graph.own.filter((file) => file.startsWith('dist/adapters/')),
    ...graph.sources.filter((file) => file.startsWith('src/adapters/')),
    ...graph.packages.filter((name) => !LIGHT_PACKAGES.has(name)),
    ...graph.builtins,
  ];
}
