/**
 * Harmless lines as coding agents write them. Each is granted what its question suggests, and where nothing is suggested the rules that
 * a person would write for it, which stand beside it.
 */

export type HarmlessLine = string | readonly [line: string, ...rules: string[]];

/** A message as Claude Code writes it. */
const message = (text: string): string => `git commit -m "$(cat <<'EOF'\n${text}\nEOF\n)"`;

export const harmlessLines: Readonly<Record<string, readonly HarmlessLine[]>> = {
  'builds and tests': [
    'npm test', 'npm run build', 'npm run lint', 'npm run typecheck', 'npm ci', 'pnpm test', 'pnpm install', 'yarn test', 'yarn build', 'make', 'make test', 'make -j4 all', 'cargo test', 'cargo build --release',
    'cargo clippy --all-targets', 'go test ./...', 'go build ./cmd/server', 'go vet ./...', 'pytest', 'pytest tests/test_api.py', 'python -m pytest -x tests', 'python scripts/seed.py', 'python3 setup.py build', './gradlew test',
    'node scripts/release-notes.mjs', 'npm test -- --run src/a.test.ts', 'npm run test -- --coverage', 'npm test -- src/auth/login.test.ts', 'docker compose ps', 'tsc --noEmit', 'eslint src --max-warnings 0', 'prettier --check src',
  ],
  'rules with options at their end': [
    ['npm test --silent', 'npm test --silent'], ['npm run build --silent', 'npm run build --silent'], ['git status --short', 'git status --short'], ['cargo build --release', 'cargo build --release'],
    ['make all -k', 'make all -k'], ['pytest tests -x', 'pytest tests -x'], ['go test ./pkg -v', 'go test ./pkg -v'], ['vitest run --coverage', 'vitest run --coverage'], ['tsc --noEmit', 'tsc --noEmit'],
    ['eslint --fix', 'eslint --fix'], ['eslint src --fix', 'eslint src --fix'], ['npm install --ignore-scripts', 'npm install --ignore-scripts'], ['docker compose up -d', 'docker compose up -d'], ['git fetch --all --prune', 'git fetch --all --prune'], ['prettier src --check', 'prettier src --check'],
    ['npm ls --depth=0', 'npm ls --depth=0'], ['npm audit --omit=dev', 'npm audit --omit=dev'],
  ],
  'comments': [
    'npm test # run all of them', '# look around first\nls -la', 'git status # what is left?', '# build\nnpm run build\n# and test\nnpm test', 'ls src # sources\nls test # tests', 'npm run lint    # should be clean now', '# 1. types\nnpx tsc --noEmit',
    "git diff --stat # don't forget the docs", 'npm test && \\\n  npm run lint # both', '# nothing but $words `here`; rm -rf /\ngit log --oneline -5', 'cat package.json # name & version',
  ],
  'escapes in double quotes': [
    'git commit -m "Say \\"no\\" to globals"', 'git commit -m "Read \\$HOME late"', 'git commit -m "Take \\`config\\` out of the loader\n\nIt was \\"global\\" before."', 'echo "a \\"quoted\\" word"', 'grep -n "\\"version\\"" package.json', 'grep -rn "foo\\\\.bar" src/a.ts', 'grep "price: \\$5" README.md', 'rg "import .* from \\"zod\\"" src',
    'git commit -m "Fix the reader: it took \\\\n for a line end"', 'npm test -- -t "says \\"hello\\""', 'rg "foo\\(" src', 'grep -E "^(a|b)\\s+" a.txt', "git log --grep=\"fix\\(ui\\)\" --oneline", 'grep -n "end$" a.txt', 'echo "done: \\\\o/"', 'git commit -m "Cost is \\$5; see docs" -m "Second \\"part\\""',
  ],
  'messages in here-documents': [
    message('Fix the login form\n\nThe button was disabled after a failed attempt.'), message('feat(api): add paging (cursor based)\n\n- limit and after\n- tests'), message('Rename the module'), message('Two things:\n\n1. faster start\n2. "quoted" words are kept'), message('docs: say what `npm test` needs\n\nIt costs $0.'),
    message("Don't lose the last line; it's read twice"), message('chore: release 1.2.0\n\nCo-Authored-By: Someone <someone@example.com>'), `git add -A && ${message('Add the parser\n\nWith tests.')}`, `${message('Fix #12')} && git status`, message('Remove dead code'),
  ],
  'globs and braces over what is only read': [
    'ls *.ts', 'ls src/*.ts', 'cat src/*.md', 'wc -l src/*.ts', 'wc -l src/**/*.ts', 'head -5 src/*.ts', 'grep -n TODO src/*.ts', 'grep -l import src/*/*.ts', 'cat src/{a,b}.ts', 'ls {src,test}', 'wc -l {src,test}/*.ts', 'ls -la *.json', 'grep -c function src/[ab].ts', 'tail -n 3 *.md', 'cat a?.txt', 'sort *.csv', 'du -sh *', 'diff src/{a,b}.ts', 'ls test/*.test.ts | wc -l', 'cat package*.json', 'git diff -- src/*.ts', 'git log --oneline -- src/*.ts', 'rg foo src/*.ts', 'file *.bin', 'stat -c %s *.md',
  ],
  'line continuations': [
    'npm test \\\n  -- --run', 'git log \\\n  --oneline \\\n  -5', 'npm run build && \\\n  npm test', 'cargo test \\\n  --release', 'grep -n foo \\\n  src/a.ts \\\n  src/b.ts', 'docker build \\\n  -t app:dev \\\n  .', 'ls \\\n  src', "go test \\\n  -run TestA \\\n  ./...", 'find src \\\n  -type f \\\n  -name "*.ts"', 'python -m pytest \\\n  -q \\\n  tests',
  ],
  'timeout, nice and time': [
    'timeout 60 npm test', 'timeout 5m npm run build', 'timeout 120s cargo test', 'timeout -k 5 60 npm test', 'timeout --kill-after=10 300 make test', 'timeout -s INT 30 npm test', 'time npm test', 'time npm run build', 'time -p make', 'nice npm run build', 'nice -n 10 make all', 'nice -n 19 cargo build', 'timeout 10 git status', 'timeout 30 npx vitest run', 'time (npm run build && npm test)', 'timeout 60 npm test 2>&1 | tail -20', 'nice -19 npm test', 'time timeout 60 npm test',
  ],
  'subshells and groups': [
    '(npm test)', '(npm run lint && npm test)', '(npm test; npm run lint) 2>&1 | tail -40', '{ npm test; }', '{ git status; git diff --stat; }', '(git status)', '(cat a.txt; cat b.txt) | sort | uniq', '(npm test || true)', '( npm run build )', '(npm test) && (npm run lint)', '(cargo build && cargo test) 2>&1',
  ],
  'programs that run programs, word for word': [
    'npx eslint src', 'npx tsc --noEmit', 'npx vitest run', 'npx vitest run src/auth/token.test.ts', 'npx prettier --check .', 'npx --yes cowsay hello', 'npx -y playwright test', 'bunx eslint src', 'bash scripts/build.sh', 'sh scripts/test.sh --fast', 'bash -x scripts/build.sh', './scripts/build.sh', 'bash ./scripts/check.sh src', 'npm exec eslint src', 'pnpm exec vitest run', 'pnpm dlx create-vite', 'yarn exec tsc', 'uv run pytest', 'poetry run pytest -q', 'uvx ruff check', 'node --test', 'node --test test/a.test.mjs', 'node --version', 'python3 --version', 'bash -n scripts/build.sh', 'pipx run black --check .',
  ],
  'pipes and chains': [
    'npm test 2>&1 | tail -50', 'npm test 2>&1 | grep -E "FAIL|PASS"', 'git log --oneline | head -20', 'npm run lint && npm test', 'npm run build; npm test', 'npm ls 2>/dev/null | grep zod', 'cargo test 2>&1 | grep -A 5 failed', 'cat a.txt | sort | uniq -c | sort -rn | head', 'git status --short | wc -l', 'npm test >/dev/null 2>&1 && echo ok || echo failed', 'git branch -a | grep feature', 'ls -1 src | wc -l', 'npm test 2>&1 | tee /dev/null', 'git add . && git commit -m "Fix it"', 'git fetch origin && git rebase origin/main', 'npm test; echo "exit: $?"', 'npm run build; echo $?', 'sort < a.txt', 'wc -l < README.md', 'npm test | cat',
  ],
  'variables that change nothing': [
    'CI=1 npm test', 'CI=true npm run build', 'FORCE_COLOR=0 npm test', 'NO_COLOR=1 npm run lint', 'NODE_ENV=test npm test', 'LC_ALL=C sort a.txt', 'LANG=C npm test', 'TZ=UTC npm test', 'RUST_BACKTRACE=1 cargo test', 'GIT_PAGER=cat git log --oneline -3', 'PAGER=cat git diff', 'PYTHONDONTWRITEBYTECODE=1 pytest', 'CI=1 NO_COLOR=1 npm test 2>&1 | tail', 'TERM=dumb make', 'env CI=1 npm test', 'RUST_LOG=debug cargo test', 'COLUMNS=120 npm test',
  ],
  'another folder first': [
    'cd web && npm test', 'cd packages/api && npm run build', '(cd web && npm run lint)', 'cd web && ls', 'cd web && npm test && npm run build', 'cd web && git status', 'cd web && npm test 2>&1 | tail -20', '(cd web && npm test) && (cd api && npm test)', 'cd web && cat package.json | head -5', 'cd web/ && npx tsc --noEmit',
  ],
  'looking': [
    "sed -n '1,80p' src/a.ts", "sed -n '/function/,/^}/p' src/a.ts", "sed 's/foo/bar/g' a.txt", "awk '{print $1}' a.txt", "awk -F, '{ print $2 }' a.csv | sort -u", 'find . -name "*.ts" -not -path "./node_modules/*"', "find src \\( -name '*.ts' -o -name '*.tsx' \\)", 'find . -type f | wc -l', 'grep -rn "createRuntime" src', 'grep -rl --include=*.ts foo src', 'rg -n "createRuntime" -g "*.ts"', 'which node', 'command -v docker', "printf '%s\\n' done", 'sleep 2', 'sleep 1 && curl -s http://localhost:3000/health', 'ls -la ~/.cache', 'git stash list', 'git describe --tags', 'git merge-base main HEAD', 'git grep -n foo', 'git show HEAD~1 --stat', 'jq .version package.json', "jq -r '.scripts | keys[]' package.json", 'tree -L 2 src', 'md5sum a.txt', 'ps aux', 'df -h .', 'uname -a',
  ],
  'small changes': [
    'git add src/a.ts', 'git add -A', 'git commit -m "Fix the reader"', 'git commit -am "Fix the reader"', 'git checkout -b feature/x', 'git switch main', 'git push -u origin feature/x', 'git pull --rebase', 'git stash', 'git stash pop', 'mkdir -p src/new', 'touch src/new/a.ts', 'cp a.txt b.txt', "sed -i 's/foo/bar/' a.txt", 'npm install zod', 'git restore a.txt', 'git cherry-pick abc1234',
  ],
};
