/**
 * Files that decide what a test run does, besides the code that it is about: tests, their data, and what says how they
 * are run.
 */

const TEST_FOLDERS =
  /(?:^|[._-])(?:tests?|testing|specs?|__tests__|__mocks__|__snapshots__|e2e|fixtures?|mocks?|stubs?|snapshots?|cypress|playwright)(?:[._-]|$)/i;

const MANIFESTS =
  /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|pnpm-.*|yarn\.lock|bun\.lockb?|bunfig\.toml|deno\.jsonc?|tsconfig.*\.json|(?:gnu)?makefile|.*\.mk|justfile|pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|pytest\.ini|conftest\.py|sitecustomize\.py|usercustomize\.py|.*\.pth|noxfile\.py|requirements.*\.txt|cargo\.(?:toml|lock)|build\.rs|go\.(?:mod|sum|work)|pom\.xml|build\.gradle.*|settings\.gradle.*|gradle\.properties|.*\.(?:cs|fs|vb)proj|.*\.sln|.*\.props|.*\.targets|mix\.exs|rakefile|gemfile(?:\.lock)?|composer\.(?:json|lock)|phpunit.*\.xml.*|cmakelists\.txt|.*\.cmake|package\.swift|jest.*|vitest.*|mocha.*|karma.*|babel.*|.*\.config\.[a-z]+|.*setup\.[a-z]+)$/i;

const TOOL_FOLDERS: ReadonlySet<string> = new Set(['node_modules', 'vendor', 'venv', 'site-packages', 'bin']);

/** @param path from the workspace, with slashes */
export function isTestMaterial(path: string): boolean {
  const parts = path.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  const name = parts.at(-1) ?? '';
  // What begins with a dot is settings, and settings decide what programs do.
  return (
    MANIFESTS.test(name) ||
    parts.some(
      (part) =>
        part.startsWith('.') ||
        TOOL_FOLDERS.has(part.toLowerCase()) ||
        TEST_FOLDERS.test(part) ||
        /(?:Test|Tests|Spec)\.[a-z]+$/.test(part),
    )
  );
}
