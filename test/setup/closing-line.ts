/** Ends a run with one line that people and scripts can read: `412 passed, 0 failed`. */
import type { Reporter, TestModule } from 'vitest/node';

export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    console.log(closingLine(modules, unhandledErrors.length));
  }
}

/**
 * Hooks that failed, files that could not be collected and errors outside every test count too: a run with them did not
 * pass.
 */
export function closingLine(modules: readonly TestModule[], unhandledErrors: number): string {
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const outside = unhandledErrors + suites.reduce((sum, suite) => sum + suite.errors().length, 0);
  const count = (state: string): number => states.filter((each) => each === state).length;
  const skipped = count('skipped');
  return `${count('passed')} passed, ${count('failed') + outside} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}
