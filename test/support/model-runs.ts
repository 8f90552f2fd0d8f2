/**
 * How often properties run, and how one that failed runs again. fast-check prints the seed and the path of what fails:
 *
 *   FAST_CHECK_SEED=-1819918769 FAST_CHECK_PATH=4:1:0 npx vitest run FILE -t 'agrees with its chart'
 *
 * MODEL_RUNS is the number of runs of each; longer ones stop at their own limit.
 */
export interface ModelRuns {
  readonly numRuns: number;
  readonly seed?: number;
  readonly path?: string;
}

/** @param few in a usual run @param atMost when many are asked for */
export function modelRuns(
  few: number,
  {
    atMost = Infinity,
    environment = process.env,
  }: { readonly atMost?: number; readonly environment?: NodeJS.ProcessEnv } = {},
): ModelRuns {
  const asked = numberOf('MODEL_RUNS', environment);
  const seed = numberOf('FAST_CHECK_SEED', environment);
  const path = environment['FAST_CHECK_PATH'];
  if (path !== undefined && seed === undefined)
    throw new Error('expected FAST_CHECK_SEED beside FAST_CHECK_PATH: a path is one within the runs of a seed');
  return {
    numRuns: Math.min(asked ?? few, atMost),
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  };
}

function numberOf(name: string, environment: NodeJS.ProcessEnv): number | undefined {
  const given = environment[name];
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!Number.isSafeInteger(value) || given.trim() === '')
    throw new Error(`expected a whole number in ${name}, received ${given}`);
  return value;
}
